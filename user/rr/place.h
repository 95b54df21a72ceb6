/* SPDX-License-Identifier: MIT */
#ifndef RR_PLACE_H
#define RR_PLACE_H

/* A point between calls, to which a replayed thread is brought. */
#include <stdbool.h>

#include "base/err.h"
#include "rr/tracee.h"
#include "shared/rr.h"

/* Whether it stands there. */
bool place_is_here(const struct tracee *t, const struct rr_place *at);
/*
 * Runs it there. 1; 0: it came to a call first, or was stopped by signal *sig; -errno. A return
 * from a handler is done on the way.
 */
int place_run_to(struct tracee *t, const struct rr_place *at, int *sig, struct err *err);

#endif
