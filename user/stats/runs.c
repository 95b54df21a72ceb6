/* SPDX-License-Identifier: MIT */
#include "stats/runs.h"

#include <math.h>

#include "stats/dist.h"
#include "stats/rank.h"

static uint64_t whole_runs(double n)
{
	if (!(n < (double)RUNS_MOST))	/* also a NaN */
		return RUNS_MOST;
	return n > 2 ? (uint64_t)ceil(n) : 2;
}

uint64_t runs_to_find(double sd, double effect, double alpha, double power)
{
	double z = dist_normal_quantile(1 - alpha / 2) + dist_normal_quantile(power);
	double x = z * sd / effect;

	return whole_runs(2 * x * x * M_PI / 3);
}

uint64_t runs_to_bound(double sd, double margin, double level, double power)
{
	/* Either end may stick out. */
	double z = dist_normal_quantile((1 + level) / 2) + dist_normal_quantile((1 + power) / 2);
	double x = z * sd / margin;

	return whole_runs(M_PI * x * x);
}

uint64_t runs_to_separate(double alpha)
{
	uint64_t n = 2;

	while (n < 500 && rank_least_p(n, n) > alpha)
		n++;
	return n;
}

double runs_upper_sd(double sd, double df)
{
	double least = dist_chi2_quantile(0.2, df);

	return least > 0 ? sd * sqrt(df / least) : INFINITY;
}

double runs_sd_of_interval(double width, double level, size_t na, size_t nb)
{
	double error = width / 2 / dist_normal_quantile((1 + level) / 2);

	return error / sqrt(M_PI / 2 * (1 / (double)na + 1 / (double)nb));
}
