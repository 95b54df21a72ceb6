/* SPDX-License-Identifier: MIT */
#ifndef STATS_TREND_H
#define STATS_TREND_H

#include <stddef.h>

/*
 * Whether values rise or fall with their place in the series: the rank correlation
 * of Kendall 1938 with the index (Mann 1945 uses it so). It finds any monotone
 * trend and no outlier moves it far.
 */
struct trend {
	double tau;	/* tau-b: -1 always falling, 1 always rising */
	double s;	/* rising pairs minus falling ones */
	double var;	/* of s when the order says nothing; 0: all values are equal */
	double p;	/* two-sided */
};

/*
 * p is exact without ties up to 60 values, else from the normal distribution with
 * correction for ties and continuity. O(n log n). 0 or -ENOMEM.
 */
int trend_kendall(const double *values, size_t n, struct trend *t);
/*
 * The trend that two series have in common, each in its own order and at its own
 * level: their s and variances added (Hirsch, Slack & Smith 1982). .tau is 0.
 */
struct trend trend_common(const struct trend *a, const struct trend *b);

#endif
