/* SPDX-License-Identifier: MIT */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

/*
 * What `tracer report` compares, and by which rule: one row a metric, by its name
 * or a pattern of names.
 */
#include <stdbool.h>
#include <stddef.h>

/* Counts barely vary from run to run, times always do: they are tested differently. */
enum metric_kind { METRIC_COUNT, METRIC_TIME };

struct metric_rule {
	enum metric_kind kind;
	const char *unit;	/* "ns", "B", "" for plain numbers */
	/*
	 * The smallest change that matters: by the ratio of the medians, 0.02 being
	 * 2 % up or its inverse down, and by their difference, in units. Both must
	 * be reached.
	 */
	double min_ratio, min_delta;
	/* Share of the false alarms a report may give, beside those of the other metrics. */
	double weight;
	bool more_is_better;
};

struct metric_row { const char *pattern; struct metric_rule rule; };

/* The rows: a trailing '*' in a pattern stands for any rest; the first that fits counts. */
extern const struct metric_row metric_rows[];
extern const size_t metric_nrows;

/* The rule for @name; NULL: no row fits, see metric_default. */
const struct metric_rule *metric_find(const char *name);
/* For figures that are imported under names of their own. */
const struct metric_rule *metric_default(enum metric_kind kind);

#endif
