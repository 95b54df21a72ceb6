/* SPDX-License-Identifier: MIT */
#ifndef STATS_WELCH_H
#define STATS_WELCH_H

#include <stddef.h>

/*
 * Welch's t test (Welch 1947): do two sides differ in their mean, measured by how
 * much each varies? It answers where rank tests cannot yet, with three values a
 * side, and rests for that on the noise being roughly normal.
 */
struct welch {
	double t;	/* > 0: the mean of b is larger */
	double df;	/* of Satterthwaite 1946 */
	double p;	/* two-sided: the larger of this test's and of Student's */
};

/*
 * Student's t test, with one variance for both sides, is asked too: where one side
 * has few values that by luck are near each other, Welch's believes them.
 * A side that varies less than the standard deviation @floor_sd is taken to vary as
 * much: three equal values do not prove that nothing ever varies. With 0 as floor,
 * constant sides that differ have p = 0. p is 1 when a side has fewer than two.
 */
struct welch welch_test(const double *a, size_t na, const double *b, size_t nb, double floor_sd);

#endif
