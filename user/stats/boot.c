/* SPDX-License-Identifier: MIT */
#include "stats/boot.h"

#include <errno.h>
#include <math.h>
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

/*
 * ways[m] = ((m / n)^k - ((m - 1) / n)^k) times the root of "n over k": two such are the
 * ways in which k draws of n = 2k fall among the first m, or the last, one on its edge.
 */
static double *half_ways(size_t n)
{
	double k = (double)(n / 2), root = dist_log_choose((double)n, k) / 2, below = 0;
	double *ways = malloc((n + 1) * sizeof(*ways));
	size_t m;

	if (!ways)
		return NULL;
	ways[0] = 0;
	for (m = 1; m <= n; m++) {
		double up_to = exp(root + k * log((double)m / (double)n));

		ways[m] = up_to - below;
		below = up_to;
	}
	return ways;
}

/* The k-th draw is the @i-th value, which has @weight: all pairs with the next draw. */
static int atoms_pairs(struct atoms *s, const double *x, size_t n, size_t i, double weight,
		       const double *ways)
{
	double rest = weight;
	size_t j;
	int ret;

	/* k draws up to i, one of them i, and k from j up, one of them j. */
	for (j = i + 1; j <= n && rest > LEAST_WEIGHT; j++) {
		double both = ways[i] * ways[n - j + 1];

		/* Those that are left are less likely each. */
		if (both * (double)(n - j + 1) < LEAST_WEIGHT)
			break;

		ret = atoms_add(s, x[i - 1] / 2 + x[j - 1] / 2, both);
		if (ret)
			return ret;
		rest -= both;
	}
	return atoms_add(s, x[i - 1], rest);
}

static int atoms_even(struct atoms *s, const double *x, size_t n)
{
	double last = 0, *ways = half_ways(n);
	size_t i;
	int ret = ways ? 0 : -ENOMEM;

	for (i = 1; !ret && i <= n; i++) {
		double below = rank_below(n, n / 2, i);

		if (below - last > LEAST_WEIGHT)
			ret = atoms_pairs(s, x, n, i, below - last, ways);
		last = below;
	}
	free(ways);
	return ret;
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

/* Where a value stands among all pairs. */
struct rank {
	double p;		/* P(pair <= value) */
	double next;		/* the least pair above */
	size_t pairs;		/* how many are not above */
};

/*
 * For each a, ascending, the b whose pair is at most @x end at a bound that only rises,
 * be it a ratio or a difference.
 */
static struct rank pair_rank(const struct pairing *p, double x)
{
	struct rank r = { .next = INFINITY };
	double last = 0;
	size_t i, j = 0;

	for (i = 0; i < p->a.n; i++) {
		double a = p->a.at[i].value, next = INFINITY;

		for (; j < p->b.n; j++) {
			next = pair_value(p, a, p->b.at[j].value);
			if (next > x)
				break;
		}
		if (j < p->b.n && next < r.next)
			r.next = next;
		if (j > 0)
			r.p += (p->a.at[i].weight - last) * p->b.at[j - 1].weight;
		r.pairs += j;
		last = p->a.at[i].weight;
	}
	return r;
}

/* The largest finite pair. */
static double pair_top(const struct pairing *p)
{
	double most = p->b.at[p->b.n - 1].value, top = 0;
	size_t i;

	if (p->what == BOOT_DIFFERENCE)
		return most - p->a.at[0].value;
	for (i = 0; i < p->a.n && p->a.at[i].value == 0; i++)
		top = 1;	/* 0 / 0, if b has a 0; else no pair is there, which does no harm */
	return i < p->a.n ? fmax(top, most / p->a.at[i].value) : top;
}

/* The least pair with P(pair <= it) >= q. */
static double pair_quantile(const struct pairing *p, double q)
{
	struct rank below = pair_rank(p, -INFINITY), above;
	double low = below.next, high = pair_top(p);
	int i;

	if (isinf(low))
		return low;
	below = pair_rank(p, low);
	if (below.p >= q)
		return low;
	above = pair_rank(p, high);
	if (above.p < q)
		return INFINITY;
	/* Until hardly a pair is between them, or they are one value but for rounding. */
	for (i = 0; i < 100 && above.pairs > below.pairs + 4
		    && high - low > 1e-12 * fmax(fabs(low), fabs(high)); i++) {
		double middle = low + (high - low) / 2;
		struct rank r = pair_rank(p, middle);

		if (r.p < q) {
			low = middle;
			below = r;
		} else {
			high = middle;
			above = r;
		}
	}
	/* Those that are left, one by one. */
	while (below.next < high) {
		double value = below.next;

		below = pair_rank(p, value);
		if (below.p >= q)
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
