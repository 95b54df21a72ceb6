/* SPDX-License-Identifier: MIT */
#ifndef REPORT_VALUES_H
#define REPORT_VALUES_H

/* A run as metrics: what it used and what a trace of it counted, by name (metrics.h). */
#include "out/summary.h"
#include "out/usage.h"
#include "store/store.h"

struct values {
	struct store_value *value;
	size_t n, cap;
	struct text_block *text;	/* holds the names that are not ours */
};

/*
 * The metrics of one run, each once; @s NULL: it was not traced; @u NULL: what it used was
 * not asked for, and how long it took is the trace's. What the trace did not collect, or
 * what there was none of (the cost of a thread where none was created), has no value,
 * while counts of nothing are 0. 0 or -ENOMEM; values_release() in every case.
 */
int values_of(struct values *v, const struct usage *u, const struct summary *s);
void values_release(struct values *v);

#endif
