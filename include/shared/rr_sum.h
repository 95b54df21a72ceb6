/* SPDX-License-Identifier: MIT */
#ifndef SHARED_RR_SUM_H
#define SHARED_RR_SUM_H

/*
 * The sum of what a call put out, for both compilers: by it a replay tells that its output is
 * the recorded one. Each range is taken in parts of RR_SUM_PART bytes, the last of them filled
 * up with zeros to a multiple of RR_SUM_STEP. Each step can be undone, so that bytes which are
 * others make another state; and one sum of 2^32 is the same by chance. What a call put out behind
 * the first RR_SUM_MOST bytes is not summed.
 */
#include "shared/rr_call.h"

#define RR_SUM_PART	4096u
#define RR_SUM_MOST	(1u << 26)	/* of a call: the kernel does nothing else meanwhile */
#define RR_SUM_STEP	32u
#define RR_SUM_LANES	4	/* the processor works at so many at a time */
#define RR_SUM_ODD	0x9e3779b97f4a7c15ull

struct rr_sum {
	u64 lane[RR_SUM_LANES];
};

static inline void rr_sum_begin(struct rr_sum *s)
{
	*s = (struct rr_sum){ { 1, 2, 3, 4 } };
}

/* @n bytes, RR_SUM_PART at most; zeros follow them up to a multiple of RR_SUM_STEP. */
static inline void rr_sum_add(struct rr_sum *s, const u64 *word, u32 n)
{
	u64 a = s->lane[0] ^ n, b = s->lane[1], c = s->lane[2], d = s->lane[3];

	for (u32 i = 0; i < RR_SUM_PART / RR_SUM_STEP; i++) {
		if (i * RR_SUM_STEP >= n)
			break;
		a = (a ^ word[4 * i]) * RR_SUM_ODD;
		b = (b ^ word[4 * i + 1]) * RR_SUM_ODD;
		c = (c ^ word[4 * i + 2]) * RR_SUM_ODD;
		d = (d ^ word[4 * i + 3]) * RR_SUM_ODD;
		a = a << 29 | a >> 35;
		b = b << 29 | b >> 35;
		c = c << 29 | c >> 35;
		d = d << 29 | d >> 35;
	}
	s->lane[0] = a;
	s->lane[1] = b;
	s->lane[2] = c;
	s->lane[3] = d;
}

/* Never 0. */
static inline u32 rr_sum_end(const struct rr_sum *s)
{
	u64 all = 0;

	for (int i = 0; i < RR_SUM_LANES; i++)
		all = ((all << 17 | all >> 47) ^ s->lane[i]) * RR_SUM_ODD;
	all ^= all >> 32;
	return (u32)all ? (u32)all : 1;
}

#endif
