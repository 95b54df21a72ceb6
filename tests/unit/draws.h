/* SPDX-License-Identifier: MIT */
#ifndef DRAWS_H
#define DRAWS_H

/* Random numbers of some distributions, for simulations. */
#include <math.h>
#include <stddef.h>

#include "stats/rng.h"

static inline double draw_between(struct rng *r, double low, double high)
{
	return low + (high - low) * rng_unit(r);
}

/* Log-uniform: each power of ten as often as the next. */
static inline double draw_scale(struct rng *r, double low, double high)
{
	return low * pow(high / low, rng_unit(r));
}

/* Standard normal (Box & Muller 1958). */
static inline double draw_normal(struct rng *r)
{
	double radius = sqrt(-2 * log(1 - rng_unit(r)));

	return radius * cos(2 * M_PI * rng_unit(r));
}

/* Median 1; for small @sd its standard deviation is about that. */
static inline double draw_lognormal(struct rng *r, double sd)
{
	return exp(sd * draw_normal(r));
}

/* Student's t with 3 degrees of freedom: one value in 70 lies beyond 5. */
static inline double draw_heavy(struct rng *r)
{
	double a = draw_normal(r), b = draw_normal(r), c = draw_normal(r);

	return draw_normal(r) / sqrt((a * a + b * b + c * c) / 3);
}

/* By products of uniforms; beyond a mean of 50 a rounded normal, which is as good. */
static inline double draw_poisson(struct rng *r, double mean)
{
	double product = 1, limit = exp(-mean), n;

	if (mean > 50)
		return fmax(rint(mean + sqrt(mean) * draw_normal(r)), 0);
	for (n = -1; product > limit; n++)
		product *= 1 - rng_unit(r);
	return n;
}

#endif
