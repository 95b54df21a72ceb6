/* SPDX-License-Identifier: MIT */
#ifndef STATS_RANK_H
#define STATS_RANK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The test of Mann & Whitney 1947 (Wilcoxon's rank sum): are the values of @b
 * larger, or smaller, than those of @a? It assumes no distribution, only that the
 * runs of both sides are independent of each other.
 */
enum rank_side {
	RANK_TWO_SIDED,	/* twice the smaller of the two others, at most 1 */
	RANK_GREATER,	/* b is greater */
	RANK_LESS,	/* b is less */
};

struct rank_test {
	double u;	/* pairs in which b is greater, a tie counting 1/2: 0 to na * nb */
	double p;
	bool exact;
};

/* Up to this many pairs (na * nb) p is exact. */
#define RANK_EXACT_PAIRS 225

/*
 * Exact p are those of the permutation distribution of the midranks, so they hold
 * with ties too. Beyond RANK_EXACT_PAIRS: the normal approximation with correction
 * for ties and continuity (Hollander & Wolfe 1999, section 4.1), which errs to the
 * large side in the tails. p is 1 when a side is empty or all values are equal.
 * The values may be in any order and are not changed. 0 or -ENOMEM.
 */
int rank_utest(const double *a, size_t na, const double *b, size_t nb, enum rank_side side,
	       struct rank_test *t);
/* The least two-sided p that sides of these sizes can have: 2 / (na + nb over na). */
double rank_least_p(size_t na, size_t nb);

#endif
