/* SPDX-License-Identifier: MIT */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

/*
 * Two sets of runs compared, metric by metric: better, worse, the same, or not known
 * yet, in which case with how many runs it would be. docs/statistics.md says what
 * each verdict rests on and how often it is wrong.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "report/metrics.h"

enum compare_verdict { COMPARE_SAME, COMPARE_BETTER, COMPARE_INCONCLUSIVE, COMPARE_WORSE };

/* In the order of the runs. */
struct series { const double *values; size_t n; };

struct metric_pair {
	const char *name;	/* for messages */
	struct metric_rule rule;
	struct series base, now;
};

/* What a reader should know beside the figures. */
enum compare_note {
	COMPARE_FEW_RUNS = 1 << 0,	/* so few that no difference could be significant */
	COMPARE_OUTLIERS_BASE = 1 << 1,
	COMPARE_OUTLIERS_NOW = 1 << 2,
	COMPARE_DRIFT_BASE = 1 << 3,	/* values rise or fall from run to run */
	COMPARE_DRIFT_NOW = 1 << 4,
	COMPARE_DRIFT_HIDES = 1 << 5,	/* the change may be that drift: no verdict */
	COMPARE_ZERO_BASE = 1 << 6,	/* the ratio is INFINITY, or 1 for 0 to 0 */
	COMPARE_CONSTANT = 1 << 7,	/* each side is a constant */
};

struct metric_result {
	double base, now;	/* medians */
	double ratio;		/* now / base; see COMPARE_ZERO_BASE */
	double ci[2];		/* of the ratio, at opts.level; may be INFINITY */
	/*
	 * Of no change; q is p corrected for the number of metrics, and 1 where all values
	 * lie so near each other that nothing could matter.
	 */
	double p, q;
	enum compare_verdict verdict;
	/*
	 * If inconclusive: the runs a side that decide with a probability of 80 %,
	 * where nothing changed or twice what matters did. 0: runs do not help.
	 */
	uint64_t runs_needed;
	unsigned int notes;	/* compare_note bits */
};

struct compare_opts {
	double fdr;		/* largest q that is significant */
	double level;		/* of the confidence intervals */
	/* The sides took turns: a drift of the machine is in both alike. */
	bool alternated;
};

/* fdr 0.02, level 0.95. */
extern const struct compare_opts compare_defaults;

/*
 * @out has room for @n results, in the order of @pairs. @opts NULL: the defaults. Does
 * not block, draws no random numbers: the same input gives the same figures. 0;
 * -EINVAL for a value that is negative, infinite or no number, and for a rule without
 * weight or with a negative minimum; -ENOMEM.
 */
int compare_metrics(const struct metric_pair *pairs, size_t n, const struct compare_opts *opts,
		    struct metric_result *out, struct err *err);
/* The gravest of all: worse, then inconclusive (also when n is 0), better, same. */
enum compare_verdict compare_overall(const struct metric_result *results, size_t n);
/* "worse" and so on. */
const char *compare_word(enum compare_verdict v);

#endif
