/* SPDX-License-Identifier: MIT */
#include "stats/welch.h"

#include <math.h>

#include "stats/dist.h"
#include "stats/sample.h"

static double two_sided(double off, double variance, double df)
{
	return fmin(2 * dist_t_upper(fabs(off) / sqrt(variance), df), 1);
}

struct welch welch_test(const double *a, size_t na, const double *b, size_t nb, double floor_sd)
{
	struct welch w = { .p = 1 };
	double off, va, vb, of_both, least = floor_sd * floor_sd, fa, fb;

	if (na < 2 || nb < 2)
		return w;
	fa = (double)(na - 1);
	fb = (double)(nb - 1);
	w.df = fa + fb;
	off = sample_mean(b, nb) - sample_mean(a, na);
	if (off == 0)
		return w;
	va = fmax(sample_variance(a, na), least);
	vb = fmax(sample_variance(b, nb), least);
	of_both = (va * fa + vb * fb) / (fa + fb) * (1 / (double)na + 1 / (double)nb);
	va /= (double)na;
	vb /= (double)nb;
	if (va + vb > 0)
		w.df = (va + vb) * (va + vb) / (va * va / fa + vb * vb / fb);
	w.t = off / sqrt(va + vb);
	w.p = fmax(two_sided(off, va + vb, w.df), two_sided(off, of_both, fa + fb));
	return w;
}
