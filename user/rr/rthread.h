/* SPDX-License-Identifier: MIT */
#ifndef RR_RTHREAD_H
#define RR_RTHREAD_H

/*
 * Threads and address spaces of a replay. A space is one real process; its threads are saved
 * registers, of which one set at a time is in that process.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "base/err.h"
#include "rr/tracee.h"
#include "shared/rr.h"

struct rthread;

struct rspace {
	struct tracee t;
	struct rthread *in;	/* whose registers are in the process */
	uint64_t brk;		/* 0: not asked for as yet */
	uint64_t args;		/* argc, argv, the environment, the auxiliary vector */
	size_t threads;
	bool inproc;		/* it has the area of inproc.h */
};

struct rthread {
	uint32_t tid, pid;	/* as recorded; the process's own id is another */
	uint32_t own;		/* as it knows itself, in its pid namespace */
	size_t index;		/* in rthreads.at */
	struct rspace *space;
	struct user_regs_struct regs;	/* while it is not in the process */
	unsigned char *xstate;		/* the same; .xstate_bytes */
	size_t xstate_bytes;
	uint64_t clear_tid;	/* set to 0 at its end; 0: nothing is */
	uint64_t robust;	/* the head of its list of locks, or 0 */
	/* Before and behind the last instruction that was replaced; see rr_insn.h. */
	uint64_t insn_at[RR_PLACE_REGS], insn_then[RR_PLACE_REGS];
	bool at_insn;		/* it stands at one */
	bool at_call;		/* it stands at a call */
	bool after_call;	/* it has not run since its last call */
	bool forced;		/* SIGSEGV meets it here: a signal's frame had no room */
	bool broken;		/* its last call was broken off: it is made again */
	uint32_t broken_nr;
	bool new_image;		/* the next event ends the execve that made its image */
	bool born;		/* the next event ends the call that made it */
};

struct rthreads {
	struct rthread **at;
	size_t n;
	struct map *by_tid;	/* NULL: there has been none */
};

struct rthread *rthreads_find(const struct rthreads *all, uint32_t tid);
/* A thread in @space, which may be NULL. NULL: no memory. */
struct rthread *rthreads_add(struct rthreads *all, uint32_t tid, struct rspace *space);
/* It has another id from now on, which nobody has; -ENOMEM. */
int rthreads_rename(struct rthreads *all, struct rthread *t, uint32_t tid);
/* It is gone, and its space when it was the last. */
void rthreads_remove(struct rthreads *all, struct rthread *t);
void rthreads_release(struct rthreads *all);

/* Leaves the space it was in for a new, empty one: tracee_new(). */
int rthread_new_space(struct rthread *t, struct tracee *seed, uint64_t page, struct err *err);
/* The floating-point state that it has while it is not in the process; 0 or -ENOMEM. */
int rthread_set_xstate(struct rthread *t, const unsigned char *area, size_t bytes);
/* What @from has saved of floating-point state, if anything. 0 or -ENOMEM. */
int rthread_copy_xstate(struct rthread *to, const struct rthread *from);
/* Puts its registers into its process; t->space->t.regs are then its own. */
int rthread_enter(struct rthread *t, struct err *err);
/*
 * @child begins where @parent is: in its space, or where @apart in a copy of it, made by a
 * real fork.
 */
int rthread_fork(struct rthread *child, struct rthread *parent, bool apart, struct err *err);

#endif
