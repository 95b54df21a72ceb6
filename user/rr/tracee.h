/* SPDX-License-Identifier: MIT */
#ifndef RR_TRACEE_H
#define RR_TRACEE_H

/*
 * An address space of a replay: a real process that is held by ptrace, has nothing mapped but
 * a page of ours and what the recording says, and makes no call by itself.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/err.h"
#include "rr/sites.h"

struct tracee;
struct place;

/* Who stands between a replay and the runs of its processes: a debugger. */
struct tracee_hook {
	/* In place of tracee_run(), or with @one of tracee_step(); by tracee_resume(). */
	int (*run)(struct tracee_hook *hook, struct tracee *t, bool one, int *sig,
		   struct err *err);
	/* Before tracee_call(), which it may use. */
	int (*call)(struct tracee_hook *hook, struct tracee *t, struct err *err);
	/* In place of place_run_to(), <rr/place.h>; by place_hunt(). */
	int (*place)(struct tracee_hook *hook, struct tracee *t, const struct place *p,
		     int *sig, struct err *err);
};

struct tracee {
	pid_t pid;
	uint64_t page;		/* "syscall; int3", then room for a path */
	unsigned long forked;	/* the child of the last fork */
	struct user_regs_struct regs;	/* as they are now; tracee_set_regs() to change them */
	bool shares;		/* memory with other processes, or may do so */
	bool blocks;		/* inproc.h can make its calls signals */
	bool advised;		/* it asked for memory to be left out of forks: forkadvice.h */
	struct tracee_hook *hook;	/* NULL: nobody */
	struct sites sites;
};

/*
 * An empty one, with our page at @page; -errno with words. It is a fork of @seed, which is made
 * by this where .pid is -1, and is another empty one.
 */
int tracee_new(struct tracee *t, struct tracee *seed, uint64_t page, struct err *err);
/* A child of @from, as that asked for its children; its registers are to be set. */
int tracee_fork(struct tracee *t, struct tracee *from, struct err *err);
/* The same as a copy of all that is there, of which the replayed program does not know. */
int tracee_copy(struct tracee *t, struct tracee *from, struct err *err);
void tracee_kill(struct tracee *t);

int tracee_read(const struct tracee *t, void *to, uint64_t addr, size_t n);	/* 0 or -EFAULT */
int tracee_write(const struct tracee *t, uint64_t addr, const void *from, size_t n);
/* The same, but where the program itself could not write: -EFAULT, as the kernel has it. */
int tracee_put(const struct tracee *t, uint64_t addr, const void *from, size_t n);
int tracee_set_regs(struct tracee *t, struct err *err);
/* The floating-point state that a new image begins with. */
int tracee_reset_fpu(struct tracee *t, struct err *err);
/* The same as an XSAVE area of up to @cap bytes. */
int tracee_get_fpu(struct tracee *t, void *area, size_t cap, size_t *bytes, struct err *err);
int tracee_set_fpu(struct tracee *t, const void *area, size_t bytes, struct err *err);

/*
 * Has it make a call; the result as the kernel gave it into *ret. Its registers are as before.
 * -errno with words when that could not be tried.
 */
int tracee_call(struct tracee *t, long *ret, struct err *err, uint64_t nr, const uint64_t arg[6]);
/*
 * Maps [start, end) of the file @path, or of nothing where it is NULL; exactly there. Of @flags
 * MAP_SHARED or MAP_PRIVATE, and MAP_GROWSDOWN.
 */
int tracee_map(struct tracee *t, uint64_t start, uint64_t end, int prot, int flags,
	       const char *path, uint64_t offset, struct err *err);

/* How far its stacks may grow, as far as its hard limit lets them. */
int tracee_limit_stack(struct tracee *t, uint64_t bytes, struct err *err);

/*
 * A call was made behind which is @ip, and which inproc.h could have done: in the end it is
 * patched. What is read by tracee_read() has no patches in it.
 */
int tracee_passed(struct tracee *t, uint64_t ip, struct err *err);
/*
 * Lets it make the calls of inproc.h's code by itself when it runs so; -ENOSYS: the kernel does
 * not know how. Or no more.
 */
int tracee_block(struct tracee *t, bool on, struct err *err);
/* Takes patches away that are in [start, end), or of which our page is. */
int tracee_unpatch(struct tracee *t, uint64_t start, uint64_t end, struct err *err);

/* How a signal is to be met by its handler, <shared/rr.h>. */
struct rr_ev_signal;
/*
 * Puts the frame of the signal onto its stack, and itself before its handler: 0. 1: there was no
 * room for the frame, for which the kernel sends SIGSEGV; it is where it was.
 */
int tracee_signal(struct tracee *t, const struct rr_ev_signal *e, struct err *err);
/* It stands at an rt_sigreturn: does what that does. */
int tracee_sigreturn(struct tracee *t, struct err *err);

/* Runs it to its next call, which is not made. 1; 0: it was stopped by signal *sig; -errno. */
int tracee_run(struct tracee *t, int *sig, struct err *err);
/* The same for one instruction, behind which the signal is SIGTRAP. */
int tracee_step(struct tracee *t, int *sig, struct err *err);
/* As tracee_run(), with the calls of inproc.h's code made, while inproc_data.blocked is set. */
int tracee_run_blocked(struct tracee *t, int *sig, struct err *err);
/* Either of the first two, without the hook. */
int tracee_resume(struct tracee *t, bool one, int *sig, struct err *err);

#endif
