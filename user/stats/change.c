/* SPDX-License-Identifier: MIT */
#include "stats/change.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stats/rng.h"
#include "stats/sample.h"

/*
 * DESIGN: intervals of the whole series, of half of it, a quarter and so on, each
 * half overlapping its neighbour, are laid down beforehand: some interval holds each
 * change well inside and no other. The score of a split is the squared rank sum of
 * its left part, centred and standardised as in Wilcoxon's test, with the interval's
 * own variance of ranks. The largest score of all intervals is compared with the
 * largest of permuted series, which accounts for all the splits that were tried.
 */

struct interval {
	size_t from, to;	/* [from, to) */
	size_t split;		/* the best one */
	double score;
};

struct search {
	double *rank;		/* centred midranks */
	double *sum, *square;	/* of those before index i; n + 1 each */
	size_t n;
	struct interval *seed;
	size_t nseed;
	double *null;		/* largest scores of permuted series */
	size_t nnull;
};

struct place { double value; size_t at; };

static int by_value(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static int rank_values(const double *values, size_t n, double *rank)
{
	struct place *order = malloc(n * sizeof(*order));
	size_t from, to, i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		order[i] = (struct place){ values[i], i };
	qsort(order, n, sizeof(*order), by_value);
	for (from = 0; from < n; from = to) {
		for (to = from; to < n && order[to].value == order[from].value; to++)
			;
		for (i = from; i < to; i++)
			rank[order[i].at] = ((double)from + (double)to - (double)n) / 2;
	}
	free(order);
	return 0;
}

/* Lays down the intervals: at length n / 2^k there are 2^(k+1) - 1, evenly apart. */
static size_t seed_intervals(size_t n, struct interval *seed)
{
	size_t parts, count = 0, i;

	for (parts = 1; n / parts >= 2 * CHANGE_LEAST; parts *= 2) {
		size_t length = n / parts, steps = 2 * parts - 2;

		for (i = 0; i <= steps; i++) {
			size_t from = steps ? (n - length) * i / steps : 0;

			if (seed)
				seed[count] = (struct interval){ .from = from,
								 .to = from + length };
			count++;
		}
	}
	return count;
}

static void search_sums(struct search *s)
{
	size_t i;

	s->sum[0] = s->square[0] = 0;
	for (i = 0; i < s->n; i++) {
		s->sum[i + 1] = s->sum[i] + s->rank[i];
		s->square[i + 1] = s->square[i] + s->rank[i] * s->rank[i];
	}
}

/* The best split of an interval and its score; 0 where all ranks are equal. */
static void best_split(const struct search *s, struct interval *v)
{
	const double *sum = s->sum + v->from;
	size_t count = v->to - v->from, i;
	double n = (double)count, mean = (sum[count] - sum[0]) / n;
	double squares = s->square[v->to] - s->square[v->from] - n * mean * mean;
	double top = 0, bottom = 1;	/* the best score is top / bottom */

	v->split = v->from;
	for (i = CHANGE_LEAST; i + CHANGE_LEAST <= count; i++) {
		double left = (double)i, off = sum[i] - sum[0] - left * mean;
		double weight = left * (n - left);

		/* Larger than the best, without a division: this is where the time goes. */
		if (off * off * bottom > top * weight) {
			top = off * off;
			bottom = weight;
			v->split = v->from + i;
		}
	}
	/* A midrank is a half, so this is 0 or at least some tenths. */
	v->score = squares > 0.1 ? top / bottom * n * (n - 1) / squares : 0;
}

static double best_of_all(struct search *s)
{
	double best = 0;
	size_t i;

	search_sums(s);
	for (i = 0; i < s->nseed; i++) {
		best_split(s, &s->seed[i]);
		best = fmax(best, s->seed[i].score);
	}
	return best;
}

static void shuffle(double *x, size_t n, struct rng *rng)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t j = rng_below(rng, i);
		double kept = x[i - 1];

		x[i - 1] = x[j];
		x[j] = kept;
	}
}

/* Fills .null, sorted; the ranks are put back. 0 or -ENOMEM. */
static int permute(struct search *s)
{
	double *rank = s->rank, *mixed = malloc(s->n * sizeof(*mixed));
	struct rng rng;
	size_t i;

	if (!mixed)
		return -ENOMEM;
	memcpy(mixed, rank, s->n * sizeof(*mixed));
	s->rank = mixed;
	rng_seed(&rng, s->n);
	for (i = 0; i < s->nnull; i++) {
		shuffle(mixed, s->n, &rng);
		s->null[i] = best_of_all(s);
	}
	s->rank = rank;
	free(mixed);
	sample_sort(s->null, s->nnull);
	return 0;
}

/* Of the permuted series and the real one, the part that scores as high. */
static double score_p(const struct search *s, double score)
{
	size_t below = 0, above = s->nnull;

	while (below < above) {
		size_t middle = (below + above) / 2;

		if (s->null[middle] >= score * (1 - 1e-12))
			above = middle;
		else
			below = middle + 1;
	}
	return (double)(s->nnull - below + 1) / (double)(s->nnull + 1);
}

static int by_length(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;
	size_t nx = x->to - x->from, ny = y->to - y->from;

	if (nx != ny)
		return nx < ny ? -1 : 1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Takes the narrowest significant interval, drops those that hold its change, and on. */
static int choose(struct search *s, double alpha, struct changes *out)
{
	size_t i, j, room = s->n / CHANGE_LEAST;

	out->list = calloc(room, sizeof(*out->list));
	if (!out->list)
		return -ENOMEM;
	qsort(s->seed, s->nseed, sizeof(*s->seed), by_length);
	for (i = 0; i < s->nseed && out->n < room; i++) {
		const struct interval *v = &s->seed[i];
		double p = score_p(s, v->score);
		bool held = false;

		for (j = 0; j < out->n; j++)
			held |= v->from < out->list[j].at && out->list[j].at < v->to;
		if (p <= alpha && !held)
			out->list[out->n++] = (struct change){ .at = v->split, .p = p };
	}
	qsort(out->list, out->n, sizeof(*out->list), by_place);
	return 0;
}

/* Moves each change to the best split between its neighbours, and fills the medians. */
static void refine(struct search *s, const double *values, struct changes *out)
{
	size_t i;

	for (i = 0; i < out->n; i++) {
		struct interval v = { .from = i ? out->list[i - 1].at : 0,
				      .to = i + 1 < out->n ? out->list[i + 1].at : s->n };

		best_split(s, &v);
		if (v.split > v.from)
			out->list[i].at = v.split;
	}
	for (i = 0; i <= out->n; i++) {
		size_t from = i ? out->list[i - 1].at : 0;
		size_t to = i < out->n ? out->list[i].at : s->n;
		double median;

		/* The ranks are done with: their place is room to sort in. */
		memcpy(s->rank, values + from, (to - from) * sizeof(*values));
		sample_sort(s->rank, to - from);
		median = sample_median(s->rank, to - from);
		if (i)
			out->list[i - 1].after = median;
		if (i < out->n)
			out->list[i].before = median;
	}
}

static int search_init(struct search *s, const double *values, size_t n)
{
	*s = (struct search){ .n = n, .nseed = seed_intervals(n, NULL),
			      .nnull = n > 1000 ? 199 : 999 };
	s->rank = malloc(n * sizeof(*s->rank));
	s->sum = malloc((n + 1) * sizeof(*s->sum));
	s->square = malloc((n + 1) * sizeof(*s->square));
	s->seed = malloc(s->nseed * sizeof(*s->seed));
	s->null = malloc(s->nnull * sizeof(*s->null));
	if (!s->rank || !s->sum || !s->square || !s->seed || !s->null)
		return -ENOMEM;
	seed_intervals(n, s->seed);
	return rank_values(values, n, s->rank);
}

static void search_release(struct search *s)
{
	free(s->rank);
	free(s->sum);
	free(s->square);
	free(s->seed);
	free(s->null);
}

int change_find(const double *values, size_t n, double alpha, struct changes *out)
{
	struct search s;
	int ret;

	*out = (struct changes){ 0 };
	if (n < 2 * CHANGE_LEAST)
		return 0;
	ret = search_init(&s, values, n);
	if (!ret)
		ret = permute(&s);
	if (ret)
		goto out;
	best_of_all(&s);
	ret = choose(&s, alpha, out);
	if (!ret && out->n)
		refine(&s, values, out);
out:
	search_release(&s);
	return ret;
}

void changes_release(struct changes *c)
{
	free(c->list);
	*c = (struct changes){ 0 };
}
