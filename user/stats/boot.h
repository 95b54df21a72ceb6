/* SPDX-License-Identifier: MIT */
#ifndef STATS_BOOT_H
#define STATS_BOOT_H

#include <stddef.h>

/*
 * Bootstrap confidence intervals of how two medians compare. They are of the
 * percentile kind (Efron 1979), which for the median keeps its level best among the
 * usual ones (Wilcox 2017, section 4.6): BCa's acceleration needs the jackknife,
 * which fails for medians (Efron & Tibshirani 1993, section 11.6).
 *
 * Nothing is drawn: the distribution of a resample's median is known in closed form
 * (Hutson & Ernst 2000), so the interval is the one that endless resampling would
 * give, the same every time.
 */
enum boot_of {
	BOOT_RATIO,		/* median of b / median of a */
	BOOT_DIFFERENCE,	/* median of b - median of a */
};

/*
 * ci[0] to ci[1] holds the true figure with probability @level (0 to 1) where the
 * sides have some ten values; with fewer the interval is too short, and it never
 * leaves the range of what was seen. For BOOT_RATIO no value may be negative; 0 / 0
 * is 1, x / 0 is INFINITY. @a and @b are sorted and have at least one value each.
 * Takes some 0.3 ms for 30 values a side, 15 ms for 1000. 0 or -ENOMEM.
 */
int boot_medians(const double *a, size_t na, const double *b, size_t nb, enum boot_of what,
		 double level, double ci[2]);

#endif
