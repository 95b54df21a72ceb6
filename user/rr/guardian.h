/* SPDX-License-Identifier: MIT */
#ifndef RR_GUARDIAN_H
#define RR_GUARDIAN_H

/*
 * A process of its own which outlives the recorder and then ends all that was recorded:
 * without a recorder, each execve would fail. It shares the recorder's BPF programs, so that
 * none that is born meanwhile is missed, and they go with it. It also takes the recorder out of
 * real time when that does not heed its watchdog.
 */
#include <sys/types.h>

#include "base/err.h"

struct guardian {
	pid_t pid;
	int alive;		/* at whose end it begins */
};

/* @link, @first: as recorded_kill() has them. 0 or -errno with words. */
int guardian_start(struct guardian *g, int link, int first, struct err *err);
/* It has nothing to do. A system call alone. */
void guardian_dismiss(const struct guardian *g);
/* The same, and waits for it. Nothing where .pid is 0. */
void guardian_stop(struct guardian *g);

#endif
