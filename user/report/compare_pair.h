/* SPDX-License-Identifier: MIT */
#ifndef REPORT_COMPARE_PAIR_H
#define REPORT_COMPARE_PAIR_H

/*
 * One metric of a comparison: measured first, judged when the p of all are known.
 */
#include "report/compare.h"
#include "stats/trend.h"

struct compare_pair {
	const struct metric_pair *pair;
	const struct compare_opts *opts;
	struct metric_result *r;
	double *base, *now;	/* sorted copies; one allocation */
	double *moved;		/* room for as many as base has */
	struct trend drift;	/* common to both sides */
	/*
	 * No order of these values could be called a change that matters. That is seen
	 * without knowing which side is which, so leaving the metric out of the
	 * correction for many tests makes no false alarm likelier (Tarone 1990).
	 */
	bool still;
};

/* Fills all of @r but .q and what rests on it. 0 or -ENOMEM. */
int compare_pair_measure(struct compare_pair *c, const struct metric_pair *pair,
			 const struct compare_opts *opts, struct metric_result *r);
/*
 * The verdict, once .q is known, and the runs needed. @alpha: the p that is
 * significant where no other metric changed. 0 or -ENOMEM.
 */
int compare_pair_judge(struct compare_pair *c, double alpha);
void compare_pair_release(struct compare_pair *c);

#endif
