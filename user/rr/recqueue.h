/* SPDX-License-Identifier: MIT */
#ifndef RR_RECQUEUE_H
#define RR_RECQUEUE_H

/*
 * What blocks is done by a thread of its own, in the order in which it was asked for: while
 * the recorder waits for a disk, the recorded program would run on unseen.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct recqueue;

/* A piece of work; 0 or -errno with words. @err may have an earlier failure. */
typedef int recqueue_fn(void *arg, struct err *err);
/* Frees it: called later, by the thread that added it. */
typedef void recqueue_release_fn(void *arg);

/* Runs with the ordinary priority, on any CPU. NULL with words. */
struct recqueue *recqueue_new(struct err *err);
/* It is to run on other CPUs than @cpu, where there are any. */
void recqueue_keep_off(struct recqueue *q, int cpu);
/*
 * Where too much waits already, returns when that is less, without having slept: who has a CPU
 * in real time keeps others from running on it meanwhile. -errno with words of the first that
 * failed, @arg being the caller's still; -ENOMEM, or -ETIMEDOUT when nothing was done for a
 * minute.
 */
int recqueue_add(struct recqueue *q, recqueue_fn *fn, recqueue_release_fn *release, void *arg,
		 size_t bytes, struct err *err);
/* Waits until all is done; as recqueue_add(). */
int recqueue_finish(struct recqueue *q, struct err *err);
/* Whether all is done, asked without a lock: in a signal's handler. */
bool recqueue_idle(const struct recqueue *q);
/* Does what is left, and ends. */
void recqueue_free(struct recqueue *q);

#endif
