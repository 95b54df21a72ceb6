/* SPDX-License-Identifier: MIT */
#ifndef SHARED_HIST_H
#define SHARED_HIST_H

/*
 * Log-linear histogram buckets, seen by BPF and userspace: each power of two
 * is cut into HIST_SUB equal parts, so a bucket is at most 25 % wide and its
 * middle at most 12.5 % from any value in it. Values of 0..HIST_SUB-1 have a
 * bucket each. Values of 2^HIST_MAX_LOG2 and up share the last bucket.
 */
#define HIST_SUB_LOG2	2
#define HIST_SUB	(1 << HIST_SUB_LOG2)
#define HIST_MAX_LOG2	40	/* 2^40 ns: 18 minutes */
#define HIST_BUCKETS	(HIST_SUB + (HIST_MAX_LOG2 - HIST_SUB_LOG2) * HIST_SUB)	/* 156 */

static inline __attribute__((always_inline)) unsigned int hist_bucket(unsigned long long v)
{
	unsigned int log2 = 0;
	unsigned long long x = v;

	if (v < HIST_SUB)
		return (unsigned int)v;
	if (v >> HIST_MAX_LOG2)
		return HIST_BUCKETS - 1;
	/* No builtin clz: BPF's instruction set has none, and this is shared. */
	if (x >> 32) { log2 += 32; x >>= 32; }
	if (x >> 16) { log2 += 16; x >>= 16; }
	if (x >> 8) { log2 += 8; x >>= 8; }
	if (x >> 4) { log2 += 4; x >>= 4; }
	if (x >> 2) { log2 += 2; x >>= 2; }
	if (x >> 1) log2 += 1;
	return HIST_SUB + (log2 - HIST_SUB_LOG2) * HIST_SUB +
	       (unsigned int)((v >> (log2 - HIST_SUB_LOG2)) & (HIST_SUB - 1));
}

#endif
