/* SPDX-License-Identifier: MIT */
#ifndef STATS_SAMPLE_H
#define STATS_SAMPLE_H

#include <stddef.h>

/*
 * What a few measurements say by themselves. Values are finite; "sorted" means
 * ascending, as sample_sort leaves them. Nothing allocates.
 */

void sample_sort(double *values, size_t n);
/* The @q quantile (0..1) of @n sorted values: Hyndman & Fan 1996, type 7. 0 for n = 0. */
double sample_quantile(const double *sorted, size_t n, double q);
double sample_median(const double *sorted, size_t n);
/* Median of the distances to the median, not scaled; 0 for n < 2. */
double sample_mad(const double *sorted, size_t n);
double sample_mean(const double *values, size_t n);
/* With the divisor n - 1; 0 for n < 2. */
double sample_variance(const double *values, size_t n);

/*
 * Tukey's outer fences, three interquartile ranges from the quartiles (Tukey 1977,
 * "far out"), and at least @least from these. Normal values pass them once in
 * 400,000; below five values there are none, and the fences are infinite.
 */
struct sample_fences { double low, high; };
struct sample_fences sample_fences(const double *sorted, size_t n, double least);
/* How many of @n values, in any order, lie outside. */
size_t sample_outside(const double *values, size_t n, struct sample_fences f);
/*
 * The standard deviation with what lies outside the fences moved to them, so that
 * one run in which the machine did something else does not decide it.
 */
double sample_spread(const double *values, size_t n, struct sample_fences f);

#endif
