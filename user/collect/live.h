/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LIVE_H
#define COLLECT_LIVE_H

/*
 * A live trace: the BPF programs, what comes through their ring, and what
 * stands in their maps at the end. One thread owns a struct live. The order is
 * live_open, live_target…, live_start, live_tick…, live_stop, live_summary,
 * live_free, or live_again and on with live_target.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/sysnames.h"
#include "out/summary.h"

struct live;
struct trace_out;

struct live_setup {
	enum sum_mode mode;
	unsigned int collect;		/* SUM_SYSCALLS … bits */
	size_t ring_bytes;		/* as ring_total takes it; 0: LIVE_RING_BYTES */
	bool targets_only;		/* comm and cgroup narrow the targets, else they choose */
	const char *comm;		/* regular expression for names; NULL */
	const char *cgroup;		/* NULL */
	bool user;			/* only processes of .uid */
	uid_t uid;
	const struct sysname_set *calls;	/* -e; NULL: all */
	const char *const *paths;	/* -P */
	size_t npaths;
	bool stacks;			/* sample the stacks of futex waits */
	bool kernel_stacks;		/* with the kernel's part, for root where it is shown */
	bool watch;			/* for watch.h: rows while it runs, no summary */
	bool again;			/* for live_again: no timeline, routines or watch */
	bool start_routines;		/* a uprobe times each thread's start routine */
	struct trace_out *timeline;	/* NULL: none; borrowed */
	uint64_t slice_min_ns;		/* shorter calls are not on the timeline */
	const char *libexec_dir;	/* of tracer-sym */
	bool debuginfod;		/* debug files from servers, as struct sym_opts has it */
	const char *attach_way;		/* "raw_tp": leave out the ways before it; NULL */
};

#define LIVE_RING_BYTES ((size_t)1 << 20)

/*
 * Loads and attaches the programs; nothing is traced yet. NULL and @err: EPERM
 * without the privilege, ENOENT without BTF, EINVAL for a bad filter, and what
 * the kernel said otherwise.
 */
struct live *live_open(const struct live_setup *setup, struct err *err);
void live_free(struct live *l);

/*
 * Traces process @pid of our namespace, its threads and their children.
 * @own: it is the tracer's child before its exec, counted only from there.
 */
int live_target(struct live *l, pid_t pid, bool own, struct err *err);
/*
 * The command's words, which end with NULL, before it starts. With .start_routines: looks
 * for the C library of the program that argv[0] will start, as execvp would find it, so
 * that its first thread is timed too. Words that name a tape are got ready for.
 */
void live_command(struct live *l, char *const *argv);
/*
 * Finds the targets' threads, the tracer's own among them; from here on they
 * are traced. Returns their number.
 */
long live_start(struct live *l, struct err *err);

/*
 * Waits up to @timeout_ms for events, less when there are some or descriptor
 * @other is readable, and takes them in. 1: @other may be readable, 0, -errno.
 */
int live_tick(struct live *l, int timeout_ms, int other);
/* Threads that are traced now. */
uint64_t live_threads(const struct live *l);
/* What the tracer's own measuring found: added nanoseconds (collect/cost.h). */
struct cost;
void live_set_cost(struct live *l, const struct cost *bare, const struct cost *traced);

/* Notes what is still running, detaches all programs and takes in the rest. */
int live_stop(struct live *l, struct err *err);
/*
 * Fills @s from all that was seen: everything but command, exit and findings.
 * Unwinds and names what was sampled. After live_stop.
 */
int live_summary(struct live *l, struct summary *s, struct err *err);

/*
 * After the summary of a trace with .again: begins another with the same set-up, as
 * live_open gives it, in a fraction of the time. EBUSY where threads of the last one
 * live on; after that and any other error live_free() is what is left.
 */
int live_again(struct live *l, struct err *err);

/* Why names are missing so far, as a warning in @why; 0: they are not. */
int live_trouble(const struct live *l, struct err *why);

#endif
