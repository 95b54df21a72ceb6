/* SPDX-License-Identifier: MIT */
#include "stats/rank.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/dist.h"

/*
 * DESIGN: midranks are halves, so twice a midrank is an integer. The exact
 * distribution counts, for each sum, the sets of as many ranks as the smaller side
 * has values: one rank after another is taken or left. Counts stay below 2^53 for
 * RANK_EXACT_PAIRS pairs, so doubles hold them exactly.
 */

struct ranked { double value; bool of_b; };

struct ranking {
	struct ranked *all;
	uint32_t *twice;	/* midranks times 2, by position in .all */
	size_t n, na, nb;
	double sum_b;		/* of twice the midranks of b */
	double ties;		/* sum of t^3 - t over groups of t equal values */
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static void ranking_release(struct ranking *r)
{
	free(r->all);
	free(r->twice);
}

/* Twice the midrank of each, and the sum of those of b. */
static void ranking_midranks(struct ranking *r)
{
	size_t from, to, i;

	for (from = 0; from < r->n; from = to) {
		double t;

		for (to = from + 1; to < r->n && r->all[to].value == r->all[from].value; to++)
			;
		t = (double)(to - from);
		r->ties += t * t * t - t;
		for (i = from; i < to; i++) {
			/* Ranks from + 1 to "to": their mean, twice. */
			r->twice[i] = (uint32_t)(from + 1 + to);
			if (r->all[i].of_b)
				r->sum_b += r->twice[i];
		}
	}
}

static int ranking_init(struct ranking *r, const double *a, size_t na, const double *b, size_t nb)
{
	size_t i;

	*r = (struct ranking){ .n = na + nb, .na = na, .nb = nb };
	r->all = malloc(r->n * sizeof(*r->all));
	r->twice = malloc(r->n * sizeof(*r->twice));
	if (!r->all || !r->twice) {
		ranking_release(r);
		return -ENOMEM;
	}
	for (i = 0; i < na; i++)
		r->all[i] = (struct ranked){ a[i], false };
	for (i = 0; i < nb; i++)
		r->all[na + i] = (struct ranked){ b[i], true };
	qsort(r->all, r->n, sizeof(*r->all), by_value);
	ranking_midranks(r);
	return 0;
}

/*
 * ways[j * width + s]: sets of j ranks whose sum, twice, is s; for j up to k. The
 * ranks come in ascending order, so no set of j that ends here exceeds j times
 * the rank: what lies beyond is still 0.
 */
static void count_sums(double *ways, size_t width, size_t k, const uint32_t *twice, size_t n)
{
	size_t i, j, s;

	ways[0] = 1;
	for (i = 0; i < n; i++) {
		for (j = i + 1 < k ? i + 1 : k; j > 0; j--) {
			double *with = ways + j * width;
			const double *without = ways + (j - 1) * width;
			size_t top = j * twice[i];

			if (top >= width)
				top = width - 1;
			for (s = twice[i]; s <= top; s++)
				with[s] += without[s - twice[i]];
		}
	}
}

/* P(sum of k ranks <= at) and P(... >= at); .twice sums. */
static int exact_tails(const struct ranking *r, size_t k, double at, double *lower, double *upper)
{
	size_t width = r->n * (r->n + 1) + 1, s;
	double *ways = calloc((k + 1) * width, sizeof(*ways));
	double below = 0, above = 0, all = 0;

	if (!ways)
		return -ENOMEM;
	count_sums(ways, width, k, r->twice, r->n);
	for (s = 0; s < width; s++) {
		double w = ways[k * width + s];

		all += w;
		below += (double)s <= at ? w : 0;
		above += (double)s >= at ? w : 0;
	}
	*lower = below / all;
	*upper = above / all;
	free(ways);
	return 0;
}

/* P(U of b <= u) and P(... >= u). */
static int ranking_exact(const struct ranking *r, double *lower, double *upper)
{
	if (r->nb <= r->na)
		return exact_tails(r, r->nb, r->sum_b, lower, upper);
	/* Counted for a, the smaller: all ranks, twice, are n (n + 1). */
	return exact_tails(r, r->na, (double)(r->n * (r->n + 1)) - r->sum_b, upper, lower);
}

static void ranking_normal(const struct ranking *r, double u, double *lower, double *upper)
{
	double n = (double)r->n, pairs = (double)r->na * (double)r->nb;
	double sd = sqrt(pairs / 12 * (n + 1 - r->ties / (n * (n - 1))));
	double off = u - pairs / 2;

	*lower = dist_normal_upper(-(off + 0.5) / sd);
	*upper = dist_normal_upper((off - 0.5) / sd);
}

static double side_of(enum rank_side side, double lower, double upper)
{
	if (side == RANK_GREATER)
		return fmin(upper, 1);
	if (side == RANK_LESS)
		return fmin(lower, 1);
	return fmin(2 * fmin(lower, upper), 1);
}

int rank_utest(const double *a, size_t na, const double *b, size_t nb, enum rank_side side,
	       struct rank_test *t)
{
	struct ranking r;
	double lower, upper;
	int ret = 0;

	*t = (struct rank_test){ .p = 1, .exact = true };
	if (!na || !nb)
		return 0;
	ret = ranking_init(&r, a, na, b, nb);
	if (ret)
		return ret;
	t->u = r.sum_b / 2 - (double)nb * (double)(nb + 1) / 2;
	if (r.all[0].value == r.all[r.n - 1].value)
		goto out;	/* p is 1; the normal distribution would have no width */
	if (na * nb <= RANK_EXACT_PAIRS) {
		ret = ranking_exact(&r, &lower, &upper);
		if (ret)
			goto out;
	} else {
		t->exact = false;
		ranking_normal(&r, t->u, &lower, &upper);
	}
	t->p = side_of(side, lower, upper);
out:
	ranking_release(&r);
	return ret;
}

double rank_least_p(size_t na, size_t nb)
{
	return fmin(2 * exp(-dist_log_choose((double)(na + nb), (double)na)), 1);
}
