/* SPDX-License-Identifier: MIT */
#ifndef REPORT_REGRESS_H
#define REPORT_REGRESS_H

/*
 * What `tracer report BASE NEW` found, as every format of it reads it: the two sides,
 * each metric with its verdict, and what changed in the program. Strings may come from
 * other processes and files: they are valid UTF-8, and each format escapes them. All
 * belongs to the struct; regress_release() frees it.
 */
#include "report/compare.h"
#include "store/store.h"

#define REGRESS_SCHEMA "tracer.report/1"

struct regress_side {
	const char *name;	/* as it was asked for: a label, a commit, a file */
	const char *label, *commit, *command, *source, *mode, *tracer;	/* "": not known */
	bool dirty;
	uint64_t when_ns;	/* since 1970; 0: not known */
	size_t runs;		/* without warm-ups */
	double load, steal;	/* NAN: not known */
	struct store_machine machine;
};

struct regress_metric {
	const char *name, *unit;	/* "time.wall", "ns" */
	enum metric_kind kind;
	struct series base, now;	/* in the order of the runs */
	struct metric_result result;
};

enum regress_part {
	REGRESS_SYSCALL, REGRESS_LOCK, REGRESS_STAGE, REGRESS_PIPE, REGRESS_PARTS
};
const char *regress_part_name(enum regress_part p);	/* "syscall", "lock", "stage", "pipe" */

/* A part of the program whose figure changed; those that changed most come first. */
struct regress_contributor {
	enum regress_part part;
	const char *name;	/* "read", "queue_lock", "wakeup", "cat -> wc" */
	const char *what;	/* "calls", "waits", "time waited", "p50", "chunks" */
	const char *unit;	/* "", "ns", "B" */
	double base, now;	/* a run; NAN: that side has none */
	/* Where most of it comes from, outermost first, frames parted by ';'; NULL: not known. */
	const char *stack_base, *stack_now;
};

/* Time waited in a stack, in ns a run: for the difference of two flame graphs. */
struct regress_stack { const char *folded; double base, now; };

struct regress {
	struct regress_side base, now;
	const char **difference;	/* sentences: where the sides should not differ and do */
	size_t ndifference;
	/* Worse first, then inconclusive, better, same; each by the size of its change. */
	struct regress_metric *metric;
	size_t nmetric;
	struct regress_contributor *contributor;
	size_t ncontributor;
	struct regress_stack *stack;
	size_t nstack;
	enum compare_verdict verdict;
	uint64_t runs_needed;		/* largest of the metrics'; 0: none is known */
	struct text_block *text;	/* what holds the strings */
};

/* One side as it is handed in; all is borrowed. */
struct regress_input {
	const char *name;
	const struct store_bench *bench;
	const struct store_columns *columns;	/* its runs */
	/* Appends the summary of the run @key as JSON; -ENOENT: it has none. NULL: none has. */
	int (*detail)(void *ctx, int64_t key, struct buf *out, struct err *err);
	void *ctx;
};

/*
 * Compares @now with @base by @opts (NULL: the defaults; .alternated is found here). At
 * most REGRESS_DETAILS runs of a side are read in full, for what changed in them. 0;
 * -ENODATA: a side has no runs, or they have no metric in common; as compare_metrics
 * and .detail. regress_release() after success.
 */
#define REGRESS_DETAILS 16
int regress_build(struct regress *r, const struct regress_input *base,
		  const struct regress_input *now, const struct compare_opts *opts,
		  struct err *err);
void regress_release(struct regress *r);

#endif
