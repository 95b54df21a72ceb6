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
};

/*
 * Runs the loops in the calling process; takes about a millisecond. Also
 * writes to an eventfd once, by which the BPF side learns what one looks like.
 */
void cost_measure(struct cost *c);

#endif
