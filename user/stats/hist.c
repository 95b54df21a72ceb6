/* SPDX-License-Identifier: MIT */
#include "stats/hist.h"

#include <stddef.h>

/*
 * DESIGN: a bucket knows how many values it holds and not which. Its c values
 * are taken to lie evenly from its first to its last integer, the j-th at
 * (j + 1/2)/c of the way, so that a bucket one wide gives its value back and no
 * order statistic leaves the bucket it was counted in. The last occupied bucket
 * ends at the maximum when that is known, which also bounds the overflow bucket.
 */

static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

void hist_add(struct hist *h, uint64_t v)
{
	h->count++;
	h->sum = add_saturating(h->sum, v);
	if (v > h->max)
		h->max = v;
	h->bucket[hist_bucket(v)]++;
}

void hist_merge_counts(struct hist *h, const uint32_t *counts, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n && i < HIST_BUCKETS; i++) {
		h->bucket[i] += counts[i];
		h->count += counts[i];
	}
}

void hist_merge(struct hist *h, const struct hist *other)
{
	unsigned int i;

	h->count += other->count;
	h->sum = add_saturating(h->sum, other->sum);
	if (other->max > h->max)
		h->max = other->max;
	for (i = 0; i < HIST_BUCKETS; i++)
		h->bucket[i] += other->bucket[i];
}

uint64_t hist_lower(unsigned int i)
{
	unsigned int log2, sub;

	if (i < HIST_SUB)
		return i;
	if (i >= HIST_BUCKETS)
		return UINT64_MAX;
	log2 = (i - HIST_SUB) / HIST_SUB;
	sub = (i - HIST_SUB) % HIST_SUB;
	return (uint64_t)(HIST_SUB + sub) << log2;
}

uint64_t hist_upper(unsigned int i)
{
	if (i >= HIST_BUCKETS - 1)
		return UINT64_MAX;
	return hist_lower(i + 1);
}

uint64_t hist_mean(const struct hist *h)
{
	return h->count ? h->sum / h->count : 0;
}

/* The largest value that bucket @i's values are spread up to. */
static double spread_last(const struct hist *h, unsigned int i)
{
	if (h->max && hist_bucket(h->max) == i)
		return (double)h->max;
	if (i == HIST_BUCKETS - 1)
		return (double)(1ULL << HIST_MAX_LOG2) - 1;
	return (double)(hist_upper(i) - 1);
}

/* The value of rank @rank, 0 the smallest, as its bucket has it. */
static double value_of_rank(const struct hist *h, uint64_t rank)
{
	uint64_t before = 0;
	unsigned int i;
	double low, part;

	/* The one order statistic that is known exactly. */
	if (h->max && rank + 1 >= h->count)
		return (double)h->max;
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		if (rank - before < h->bucket[i])
			break;
		before += h->bucket[i];
	}
	if (!h->bucket[i])	/* counts short of .count: a caller's own arithmetic */
		return (double)h->max;
	low = (double)hist_lower(i);
	part = ((double)(rank - before) + 0.5) / (double)h->bucket[i];
	return low + (part < 1 ? part : 1) * (spread_last(h, i) - low);
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	double pos, below, above, value;
	uint64_t rank, whole;

	if (!h->count)
		return 0;
	if (!(q > 0))	/* also a NaN */
		q = 0;
	if (q > 1)
		q = 1;
	pos = q * (double)(h->count - 1);
	rank = (uint64_t)pos;
	below = value_of_rank(h, rank);
	above = rank + 1 < h->count ? value_of_rank(h, rank + 1) : below;
	value = below + (pos - (double)rank) * (above - below);
	/* 2^64 as a double would not convert back. */
	if (value >= 18446744073709549568.0)
		return h->max;
	if (h->max && value > (double)h->max)
		return h->max;
	/* Adding 1/2 first would itself round from 2^52 up. */
	whole = (uint64_t)value;
	return value - (double)whole >= 0.5 ? whole + 1 : whole;
}
