/* SPDX-License-Identifier: MIT */
#ifndef OUT_USAGE_H
#define OUT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

/* What a command and those that it waited for have used, as the kernel says (getrusage(2)). */
struct usage {
	uint64_t wall_ns, user_ns, system_ns;
	uint64_t max_rss_bytes;		/* largest of one process; 0: not known */
	uint64_t page_faults;		/* with and without reading */
	uint64_t voluntary, involuntary;	/* context switches */
	bool has_instructions;		/* a hardware counter is there */
	uint64_t instructions;		/* in user mode */
};

#endif
