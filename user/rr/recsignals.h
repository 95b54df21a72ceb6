/* SPDX-License-Identifier: MIT */
#ifndef RR_RECSIGNALS_H
#define RR_RECSIGNALS_H

/*
 * Signals that are sent to the recorder. The recorded program is in the recorder's process
 * group, so that a terminal sends it the same ones; what was sent to the recorder alone is
 * passed on. The recorder itself goes on until the program has ended.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "shared/rr.h"

struct recsignals {
	int fd;			/* readable: one has come */
	pid_t first;		/* of the recorded processes; 0: it has ended */
	const struct rr_counts *counts;
	uint64_t came_ns[RR_NSIGNALS];	/* what may have to be passed on; 0: nothing */
	uint64_t interrupted_ns;	/* when the terminal last wanted an end */
	bool children;		/* there is news of processes */
	bool stop_asked;	/* by the terminal, the program perhaps heeds it */
	bool end_asked;		/* the recorded processes are to be ended now */
};

/* Takes the signals of this thread, and those it starts. 0 or -errno with words. */
int recsignals_open(struct recsignals *s, struct err *err);
/* Reads what has come. */
void recsignals_read(struct recsignals *s);
/* Passes on what is due; milliseconds until more will be, or -1. */
int recsignals_pass(struct recsignals *s);
void recsignals_release(struct recsignals *s);

#endif
