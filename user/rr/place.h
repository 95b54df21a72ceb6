/* SPDX-License-Identifier: MIT */
#ifndef RR_PLACE_H
#define RR_PLACE_H

/* A point between calls, to which a replayed thread is brought. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "rr/tracee.h"
#include "shared/rr.h"

/* As an event has it: registers, and pieces of the memory then, which may be none. */
struct place {
	const struct rr_place *at;
	const char *pieces;
	size_t bytes;
};

/* Registers in the order of struct rr_place. */
void place_get(const struct user_regs_struct *r, uint64_t to[RR_PLACE_REGS]);
void place_set(struct user_regs_struct *r, const uint64_t from[RR_PLACE_REGS]);

/* Those that differ, as bits of their numbers; of flags, those that programs see. */
uint32_t place_compare(const uint64_t is[RR_PLACE_REGS], const uint64_t was[RR_PLACE_REGS]);
/* The registers that are not as there, as bits of their numbers in struct rr_place. */
uint32_t place_differs(const struct tracee *t, const struct place *p);
/* Whether it stands there. */
bool place_is_here(const struct tracee *t, const struct place *p);
/*
 * Runs it there. 1; 0: it came to a call first, or was stopped by signal *sig; -errno. A return
 * from a handler is done on the way. What the memory held tells between points where all
 * registers are the same; when it is nowhere as it was, that point is taken where most of it is.
 */
int place_run_to(struct tracee *t, const struct place *p, int *sig, struct err *err);
/* The same for who stands between; *equal words of the memory were as there where it came to. */
int place_hunt(struct tracee *t, const struct place *p, size_t *equal, int *sig,
	       struct err *err);

#endif
