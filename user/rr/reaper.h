/* SPDX-License-Identifier: MIT */
#ifndef RR_REAPER_H
#define RR_REAPER_H

/*
 * The ends of the recorder's children and of what it is attached to, heard of by a thread with
 * the ordinary priority: to take an ended process from the kernel is to wait until nobody looks
 * at its directory in /proc, by going round in the kernel. Who looks may be the recorded
 * program, which would never run again if a real-time thread before it went round.
 */
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct reaper {
	pthread_t thread;
	int fd;			/* readable: one has ended */
	int to;
	bool runs;
};

/* There is a child, and will be one until the others have ended. 0 or -errno with words. */
int reaper_start(struct reaper *r, struct err *err);
/* Who has ended, and the status as wait(2) tells it; false: nobody. Does not wait. */
bool reaper_next(const struct reaper *r, pid_t *pid, int *status);
/* Waits for the end of @pid, and throws others' away. */
int reaper_wait(const struct reaper *r, pid_t pid);
/* Waits until there is no child any more. */
void reaper_stop(struct reaper *r);

#endif
