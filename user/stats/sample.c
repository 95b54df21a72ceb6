/* SPDX-License-Identifier: MIT */
#include "stats/sample.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void sample_sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
}

double sample_quantile(const double *sorted, size_t n, double q)
{
	double pos;
	size_t rank;

	if (!n)
		return 0;
	if (!(q > 0))
		return sorted[0];
	pos = q * (double)(n - 1);
	rank = (size_t)pos;
	if (rank + 1 >= n)
		return sorted[n - 1];
	return sorted[rank] + (pos - (double)rank) * (sorted[rank + 1] - sorted[rank]);
}

double sample_median(const double *sorted, size_t n)
{
	return sample_quantile(sorted, n, 0.5);
}

double sample_mad(const double *sorted, size_t n)
{
	double median = sample_median(sorted, n), last = 0, before = 0;
	size_t left = n / 2, right = n / 2, i;

	if (n < 2)
		return 0;
	/* Distances grow to both sides of the middle: the smallest are merged from there. */
	for (i = 0; i <= n / 2; i++) {
		before = last;
		if (right >= n || (left > 0 && median - sorted[left - 1] < sorted[right] - median))
			last = median - sorted[--left];
		else
			last = sorted[right++] - median;
	}
	return n % 2 ? last : (before + last) / 2;
}

double sample_mean(const double *values, size_t n)
{
	double mean = 0;
	size_t i;

	/* Running, so that a constant is its own mean exactly and nothing overflows. */
	for (i = 0; i < n; i++)
		mean += (values[i] - mean) / (double)(i + 1);
	return mean;
}

double sample_variance(const double *values, size_t n)
{
	double mean = sample_mean(values, n), sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return n < 2 ? 0 : sum / (double)(n - 1);
}

struct sample_fences sample_fences(const double *sorted, size_t n, double least)
{
	double low = sample_quantile(sorted, n, 0.25), high = sample_quantile(sorted, n, 0.75);
	double far = fmax(3 * (high - low), least);

	if (n < 5)
		return (struct sample_fences){ -INFINITY, INFINITY };
	return (struct sample_fences){ low - far, high + far };
}

size_t sample_outside(const double *values, size_t n, struct sample_fences f)
{
	size_t i, outside = 0;

	for (i = 0; i < n; i++)
		outside += values[i] < f.low || values[i] > f.high;
	return outside;
}

double sample_spread(const double *values, size_t n, struct sample_fences f)
{
	double mean = 0, squares = 0;
	size_t i;

	/* Welford 1962: mean and squares in one pass. */
	for (i = 0; i < n; i++) {
		double x = fmin(fmax(values[i], f.low), f.high), off = x - mean;

		mean += off / (double)(i + 1);
		squares += off * (x - mean);
	}
	return n < 2 ? 0 : sqrt(squares / (double)(n - 1));
}
