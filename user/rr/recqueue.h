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

/* A piece of work, which also frees @arg; 0 or -errno with words. After a failure none is done. */
typedef int recqueue_fn(void *arg, struct err *err);

/* Runs with the ordinary priority, on any CPU. NULL with words. */
struct recqueue *recqueue_new(struct err *err);
/* -errno with words of the first that failed, @arg being the caller's still; or -ENOMEM. */
int recqueue_add(struct recqueue *q, recqueue_fn *fn, void *arg, size_t bytes, struct err *err);
/* Waits until all is done; as recqueue_add(). */
int recqueue_finish(struct recqueue *q, struct err *err);
/* Whether all is done, asked without a lock: in a signal's handler. */
bool recqueue_idle(const struct recqueue *q);
/* Does what is left, and ends. */
void recqueue_free(struct recqueue *q);

#endif
