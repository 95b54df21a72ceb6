/* SPDX-License-Identifier: MIT */
#ifndef RR_RECORDED_H
#define RR_RECORDED_H

/* Those that are recorded, as the kernel lists them: by the recorder's iterator over tasks. */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "shared/rr.h"

/* true: it has seen enough. */
typedef bool recorded_fn(const struct rr_recorded *task, void *ctx);

/*
 * Each thread that is recorded and has not ended; @link is the iterator's. 0 or -errno. Makes
 * system calls alone: it may be called in a handler, and behind a fork.
 */
int recorded_each(int link, recorded_fn *fn, void *ctx);
/*
 * Kills them, those too that are born meanwhile, and @first, a pidfd or -1, whose first exec may
 * be to come. Waits up to @most_ms until they have ended: whether all have. As recorded_each().
 */
bool recorded_kill(int link, int first, unsigned int most_ms);

#endif
