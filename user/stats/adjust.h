/* SPDX-License-Identifier: MIT */
#ifndef STATS_ADJUST_H
#define STATS_ADJUST_H

#include <stddef.h>

/*
 * Of many tests some are significant by chance. q[i] is the smallest rate of false
 * discoveries at which test i is one (Benjamini & Hochberg 1995): reading q <= 0.01
 * as "changed" is wrong, where nothing changed at all, in 1 % of the sets at most.
 * With @weight (NULL: all 1) test i gets that share of what may be wrong (Genovese,
 * Roeder & Wasserman 2006); weights are positive, chosen without looking at the
 * values, and scaled here. @p, @weight and @q have @n elements; @q may be @p.
 * 0 or -ENOMEM.
 */
int adjust_bh(const double *p, const double *weight, size_t n, double *q);

#endif
