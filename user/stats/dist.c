/* SPDX-License-Identifier: MIT */
#include "stats/dist.h"

#include <math.h>

double dist_normal_upper(double z)
{
	return erfc(z / M_SQRT2) / 2;
}

double dist_normal_quantile(double p)
{
	double low = 0, high = 40, tail = p < 0.5 ? p : 1 - p;
	int i;

	if (!(p > 0))
		return -INFINITY;
	if (p >= 1)
		return INFINITY;
	for (i = 0; i < 100 && high - low > 1e-15; i++) {
		double mid = (low + high) / 2;

		if (dist_normal_upper(mid) > tail)
			low = mid;
		else
			high = mid;
	}
	return p < 0.5 ? -high : high;
}

/*
 * The continued fraction of the incomplete beta function (Abramowitz & Stegun
 * 26.5.8) by Lentz' method as Thompson & Barnett 1986 have it. Converges in some
 * sqrt(max(a, b)) steps where x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f, step;
	int m;

	if (fabs(d) < tiny)
		d = tiny;
	f = d = 1 / d;
	for (m = 1; m < 100000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		f *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return f;
}

/* log of the gamma function of x > 0; lgamma itself writes to a global. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double dist_beta(double a, double b, double x)
{
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double dist_t_upper(double t, double df)
{
	double tail;

	if (isinf(t))
		return t > 0 ? 0 : 1;
	tail = dist_beta(df / 2, 0.5, df / (df + t * t)) / 2;
	return t > 0 ? tail : 1 - tail;
}

double dist_chi2_quantile(double p, double df)
{
	double part = 2 / (9 * df), root = 1 - part + dist_normal_quantile(p) * sqrt(part);

	return root > 0 ? df * root * root * root : 0;
}

double dist_log_choose(double n, double k)
{
	return log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1);
}
