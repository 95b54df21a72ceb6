/* SPDX-License-Identifier: MIT */
#ifndef REPORT_CAUSES_H
#define REPORT_CAUSES_H

/*
 * The parts of a program over the runs of two sides: calls by name, locks by symbol,
 * stages of threads, pipes by who is at their ends. Those whose figures changed are
 * what made a metric better or worse.
 */
#include "out/summary.h"
#include "report/regress.h"

enum parts_side { PARTS_BASE, PARTS_NOW };

struct parts;

/* For so many runs of each side; NULL: no memory. */
struct parts *parts_new(size_t base_runs, size_t now_runs);
void parts_free(struct parts *p);
/* The summary of the @run-th run of a side, from 0; its texts are copied. 0 or -ENOMEM. */
int parts_add(struct parts *p, enum parts_side side, size_t run, const struct summary *s);
/* Fewer runs had a summary than were reckoned with: only so many are compared. */
void parts_limit(struct parts *p, size_t base_runs, size_t now_runs);
/*
 * Compares the parts and puts those that are better or worse into @r->contributor, those
 * that changed most first, and all stacks into @r->stack; texts go to @r->text. 0; as
 * compare_metrics.
 */
int parts_compare(struct parts *p, const struct compare_opts *opts, struct regress *r,
		  struct err *err);

#endif
