/* SPDX-License-Identifier: MIT */
#ifndef RR_CHECKPOINT_H
#define RR_CHECKPOINT_H

/*
 * A replay as it is between two events: forks of its processes, the registers of its threads,
 * the place in the recording, and copies of memory that processes share, which a fork does
 * not copy.
 */
#include <stdint.h>

#include "base/err.h"

struct checkpoint;
struct replayer;

/*
 * Of @p before the event at hand. -EOPNOTSUPP, without harm and with words: there is memory
 * that cannot be kept; -ENOMEM, -EAGAIN, ...
 */
int checkpoint_take(struct checkpoint **out, struct replayer *p, struct err *err);
/* Puts @p there; NULL: to the recording's beginning. The checkpoint stays. */
int checkpoint_restore(struct replayer *p, struct checkpoint *c, struct err *err);
/* The number of the event that comes next there. */
uint64_t checkpoint_event(const struct checkpoint *c);
void checkpoint_free(struct checkpoint *c);

#endif
