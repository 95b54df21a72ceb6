/* SPDX-License-Identifier: MIT */
#ifndef STATS_HIST_H
#define STATS_HIST_H

#include <stdint.h>

#include "shared/hist.h"

/* A histogram in userspace; bucket edges are those of shared/hist.h. */
struct hist {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t v);
/* Adds @n bucket counts as BPF keeps them (count follows; sum and max do not). */
void hist_merge_counts(struct hist *h, const uint32_t *counts, unsigned int n);
void hist_merge(struct hist *h, const struct hist *other);
/*
 * The @q quantile (0..1), linear within its bucket, never above .max where
 * max is known (not 0); 0 for an empty histogram. The rank is that of
 * Hyndman & Fan 1996, type 7 on bucketed values.
 */
uint64_t hist_quantile(const struct hist *h, double q);
uint64_t hist_mean(const struct hist *h);
/*
 * Lower and upper (exclusive) edge of bucket @i. The last bucket has no end:
 * its upper edge, and both of any bucket past it, are UINT64_MAX.
 */
uint64_t hist_lower(unsigned int i);
uint64_t hist_upper(unsigned int i);

#endif
