/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_COST_H
#define COLLECT_COST_H

/*
 * What tracing adds to a call: the same short loops are run bare and traced by
 * one process, and the quickest batch of each counts.
 */
#include <stdint.h>

struct cost {
	int64_t call_ns;	/* a getppid */
	int64_t futex_ns;	/* a futex wake that wakes nobody */
	int64_t chunk_ns;	/* a write or a read of one byte, pipe */
	int64_t routine_ns;	/* a call such as a C library's of a start routine */
};

/*
 * The instructions in it that stand for those that the uprobe of --start-routine
 * is put at. %rdi points to the time before it.
 */
extern const char cost_routine_branch[], cost_routine_call[];

/*
 * Runs the loops in the calling process; takes about a millisecond. Also
 * writes to an eventfd once, by which the BPF side learns what one looks like.
 */
void cost_measure(struct cost *c);
/*
 * What tracing adds to each: the difference, and 0 where noise made the traced
 * loop the quicker one, as it does in wait mode, which adds nothing to a call.
 */
void cost_added(const struct cost *bare, const struct cost *traced, struct cost *added);

#endif
