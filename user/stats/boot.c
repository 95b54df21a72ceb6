/* SPDX-License-Identifier: MIT */
#include "stats/boot.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stats/dist.h"

/*
 * DESIGN: a resample of n values has n = 2k + 1 or 2k of them. Its median is the
 * (k+1)-th, or half of the k-th and (k+1)-th. The index of the j-th smallest is at
 * most i when at least j of n draws are among the first i, a binomial tail. So the
 * median has finitely many values, each with a known weight: atoms. A quantile of
 * the ratio of two such is found by bisection, each step one walk over both lists.
 */

struct atom { double value, weight; };

struct atoms {
	struct atom *at;	/* by value; .weight summed up from the first */
	size_t n, room;
};

/* What weighs less cannot move a quantile that anybody asks for. */
#define LEAST_WEIGHT 1e-10

static int by_value(const void *a, const void *b)
{
	const struct atom *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int atoms_add(struct atoms *s, double value, double weight)
{
	if (weight < LEAST_WEIGHT)
		return 0;
	if (s->n == s->room) {
		size_t room = s->room ? 2 * s->room : 64;
		struct atom *at = realloc(s->at, room * sizeof(*at));

		if (!at)
			return -ENOMEM;
		s->at = at;
		s->room = room;
	}
	s->at[s->n++] = (struct atom){ value, weight };
	return 0;
}

/* P(the index of the @j-th smallest of n draws out of n <= i), all from 1. */
static double rank_below(size_t n, size_t j, size_t i)
{
	return dist_beta((double)j, (double)(n - j + 1), (double)i / (double)n);
}

static int atoms_odd(struct atoms *s, const double *x, size_t n)
{
	double last = 0;
	size_t i;

	for (i = 1; i <= n; i++) {
		double below = rank_below(n, n / 2 + 1, i);
		int ret = atoms_add(s, x[i - 1], below - last);

		if (ret)
			return ret;
		last = below;
	}
	return 0;
}

/* (high / n)^k - (low / n)^k times the root of "n over k", n = 2k. */
static double half_ways(size_t n, double low, double high)
{
	double k = (double)(n / 2), root = dist_log_choose((double)n, k) / 2;
	double from = low > 0 ? exp(root + k * log(low / (double)n)) : 0;

	return exp(root + k * log(high / (double)n)) - from;
}

/* The k-th draw is @i and the next one @i too or larger: all pairs with that lower one. */
static int atoms_pairs(struct atoms *s, const double *x, size_t n, size_t i, double weight)
{
	double lower = half_ways(n, (double)(i - 1), (double)i), rest = weight;
	size_t j;
	int ret;

	/* k draws up to i, one of them i, and k from j up, one of them j. */
	for (j = i + 1; j <= n && rest > LEAST_WEIGHT; j++) {
		double both = lower * half_ways(n, (double)(n - j), (double)(n - j + 1));

		ret = atoms_add(s, x[i - 1] / 2 + x[j - 1] / 2, both);
		if (ret)
			return ret;
		rest -= both;
	}
	return atoms_add(s, x[i - 1], rest);
}

static int atoms_even(struct atoms *s, const double *x, size_t n)
{
	double last = 0;
	size_t i;

	for (i = 1; i <= n; i++) {
		double below = rank_below(n, n / 2, i);
		int ret = below - last > LEAST_WEIGHT ? atoms_pairs(s, x, n, i, below - last) : 0;

		if (ret)
			return ret;
		last = below;
	}
	return 0;
}

/* All medians of resamples of the @n sorted values @x. */
static int atoms_init(struct atoms *s, const double *x, size_t n)
{
	double sum = 0;
	size_t i;
	int ret;

	*s = (struct atoms){ 0 };
	ret = n % 2 ? atoms_odd(s, x, n) : atoms_even(s, x, n);
	if (ret)
		return ret;
	qsort(s->at, s->n, sizeof(*s->at), by_value);
	for (i = 0; i < s->n; i++)
		s->at[i].weight = sum += s->at[i].weight;
	for (i = 0; i < s->n; i++)
		s->at[i].weight /= sum;
	return 0;
}

struct pairing {
	struct atoms a, b;
	enum boot_of what;
};

static double pair_value(const struct pairing *p, double a, double b)
{
	if (p->what == BOOT_DIFFERENCE)
		return b - a;
	if (a == 0)
		return b == 0 ? 1 : INFINITY;
	return b / a;
}

/*
 * P(value <= x), and the least value above x into *next. For each a, ascending, the
 * b whose pair is at most x is a bound that only rises (ratio and difference with x
 * fixed), but for a = 0, where it starts at the bottom like any other.
 */
static double pair_below(const struct pairing *p, double x, double *next)
{
	double sum = 0, last = 0;
	size_t i, j = 0;

	*next = INFINITY;
	for (i = 0; i < p->a.n; i++) {
		double a = p->a.at[i].value;

		while (j < p->b.n && pair_value(p, a, p->b.at[j].value) <= x)
			j++;
		if (j < p->b.n)
			*next = fmin(*next, pair_value(p, a, p->b.at[j].value));
		if (j > 0)
			sum += (p->a.at[i].weight - last) * p->b.at[j - 1].weight;
		last = p->a.at[i].weight;
	}
	return sum;
}

/* The least value with P(value <= it) >= q. */
static double pair_quantile(const struct pairing *p, double q)
{
	double low, high, next;
	int i;

	/* Just below the least value, and the largest finite bound. */
	pair_below(p, -INFINITY, &low);
	if (isinf(low) || pair_below(p, low, &next) >= q)
		return low;
	high = pair_value(p, p->a.at[0].value, p->b.at[p->b.n - 1].value);
	for (i = 0; isinf(high) && i < (int)p->a.n; i++)
		high = pair_value(p, p->a.at[i].value, p->b.at[p->b.n - 1].value);
	if (p->what == BOOT_RATIO && p->a.at[0].value == 0)
		high = isinf(high) ? 1 : fmax(high, 1);
	if (pair_below(p, high, &next) < q)
		return INFINITY;
	/* low is below the quantile, high is not. */
	for (i = 0; i < 60 && high - low > 1e-9 * fmax(fabs(low), fabs(high)); i++) {
		double mid = low + (high - low) / 2;

		if (pair_below(p, mid, &next) < q)
			low = mid;
		else
			high = mid;
	}
	/* The values that are left between them, one by one: mostly there is one. */
	pair_below(p, low, &next);
	while (next < high) {
		double value = next;

		if (pair_below(p, value, &next) >= q)
			return value;
	}
	return high;
}

int boot_medians(const double *a, size_t na, const double *b, size_t nb, enum boot_of what,
		 double level, double ci[2])
{
	struct pairing p = { .what = what };
	int ret = atoms_init(&p.a, a, na);

	if (!ret)
		ret = atoms_init(&p.b, b, nb);
	if (!ret) {
		ci[0] = pair_quantile(&p, (1 - level) / 2);
		ci[1] = pair_quantile(&p, (1 + level) / 2);
	}
	free(p.a.at);
	free(p.b.at);
	return ret;
}
