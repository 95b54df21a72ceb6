/* SPDX-License-Identifier: MIT */
#include "stats/trend.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/dist.h"

#define EXACT_VALUES 60

/* Merges two sorted halves; returns how many of the left exceed one of the right. */
static double merge_halves(double *x, double *room, size_t middle, size_t n)
{
	size_t left = 0, right = middle, i;
	double falls = 0;

	for (i = 0; i < n; i++) {
		if (right == n || (left < middle && x[left] <= x[right])) {
			room[i] = x[left++];
		} else {
			falls += (double)(middle - left);
			room[i] = x[right++];
		}
	}
	memcpy(x, room, n * sizeof(*x));
	return falls;
}

/* Sorts @x and returns how many pairs fall (Knight 1966). */
static double sort_counting(double *x, double *room, size_t n)
{
	double falls;

	if (n < 2)
		return 0;
	falls = sort_counting(x, room, n / 2);
	falls += sort_counting(x + n / 2, room, n - n / 2);
	return falls + merge_halves(x, room, n / 2, n);
}

/*
 * P(|S| >= s) of a random order of n different values: the number of falling pairs
 * is a sum of independent ones, the i-th uniform over 0 to i - 1.
 */
static double exact_p(size_t n, double s)
{
	double chance[EXACT_VALUES * (EXACT_VALUES - 1) / 2 + 1] = { 1 };
	size_t most = 0, pairs = n * (n - 1) / 2, i, k;
	double p = 0;

	for (i = 2; i <= n; i++) {
		double next[EXACT_VALUES * (EXACT_VALUES - 1) / 2 + 1] = { 0 }, window = 0;

		for (k = 0; k <= most + i - 1; k++) {
			window += k <= most ? chance[k] : 0;
			window -= k >= i ? chance[k - i] : 0;
			next[k] = window / (double)i;
		}
		most += i - 1;
		memcpy(chance, next, (most + 1) * sizeof(*chance));
	}
	for (k = 0; k <= most; k++)
		if (fabs((double)pairs - 2 * (double)k) >= fabs(s))
			p += chance[k];
	return fmin(p, 1);
}

static double normal_p(double s, double var)
{
	if (!(var > 0) || fabs(s) <= 1)
		return 1;
	return fmin(2 * dist_normal_upper((fabs(s) - 1) / sqrt(var)), 1);
}

int trend_kendall(const double *values, size_t n, struct trend *t)
{
	double *x, falls, pairs = n ? (double)n * (double)(n - 1) / 2 : 0, tied = 0, shrink = 0;
	size_t from, to;

	*t = (struct trend){ .p = 1 };
	if (n < 2)
		return 0;
	x = malloc(2 * n * sizeof(*x));
	if (!x)
		return -ENOMEM;
	memcpy(x, values, n * sizeof(*x));
	falls = sort_counting(x, x + n, n);
	for (from = 0; from < n; from = to) {
		double g;

		for (to = from + 1; to < n && x[to] == x[from]; to++)
			;
		g = (double)(to - from);
		tied += g * (g - 1) / 2;
		shrink += g * (g - 1) * (2 * g + 5);
	}
	free(x);
	t->s = pairs - tied - 2 * falls;
	t->var = (2 * pairs * (2 * (double)n + 5) - shrink) / 18;
	if (tied < pairs)
		t->tau = t->s / sqrt(pairs * (pairs - tied));
	t->p = tied > 0 || n > EXACT_VALUES ? normal_p(t->s, t->var) : exact_p(n, t->s);
	return 0;
}

struct trend trend_common(const struct trend *a, const struct trend *b)
{
	struct trend t = { .s = a->s + b->s, .var = a->var + b->var };

	t.p = normal_p(t.s, t.var);
	return t;
}
