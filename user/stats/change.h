/* SPDX-License-Identifier: MIT */
#ifndef STATS_CHANGE_H
#define STATS_CHANGE_H

#include <stddef.h>

/*
 * Change points of a history: where the level of a series moved. Ranks are compared,
 * so neither outliers nor the shape of the noise matter; that it is independent from
 * one value to the next is assumed.
 */
struct change {
	size_t at;		/* index of the first value of the new level */
	double before, after;	/* medians from the last change, and to the next */
	double p;		/* as .alpha below; at least 1 / (permutations + 1) */
};

struct changes { struct change *list; size_t n; };

/* A level is at least so many values long. */
#define CHANGE_LEAST 3

/*
 * A series without any change gives one with probability @alpha at most (0.01; with
 * less than 0.005 nothing is found in series of more than 1000 values). Seeded
 * intervals (Kovács, Bühlmann, Li & Munk 2023), in each the best split by rank sums,
 * the narrowest significant first (Baranowski, Chen & Fryzlewicz 2019); significance
 * by permuting the series, with a fixed seed. O(n log n) for each of 999 permutations,
 * 199 beyond 1000 values. @out is released by changes_release. 0 or -ENOMEM.
 */
int change_find(const double *values, size_t n, double alpha, struct changes *out);
void changes_release(struct changes *c);

#endif
