/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_STATE_BPF_H
#define LIB_STATE_BPF_H

/*
 * The state of each traced thread, the configuration, and the counters. Every
 * collector is an object of its own and the linker joins them: what they share
 * is weak, so that each may define it. A thread is traced when it has a state:
 * one task storage look-up is the filter, the start map and the account.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "shared/live.h"

#ifndef __weak
#define __weak __attribute__((weak))
#endif

const volatile struct live_config cfg __weak = {};
const volatile u8 call_class[LIVE_NR_CALLS] __weak = {};
struct live_counts counts __weak = {};
struct live_self self __weak = {};	/* by learn_self, once loaded */

/* .flags of a state */
#define ST_FRESH	1	/* its next return from a call has no enter */
#define ST_CREATED	2	/* began while traced */
#define ST_PROCESS	4	/* made by fork */
#define ST_WAIT_EXEC	8	/* run's own child before its exec: nothing counts yet */
#define ST_CALIB	16	/* measuring the tracer's own cost: counted apart */
#define ST_SETUP	32	/* a new thread before its routine */
#define ST_AFTER_CLONE	64	/* a creator whose next rt_sigprocmask is on the way */
#define ST_PREP		128	/* a creator that mapped a stack */
#define ST_BLOCKED	256	/* off the CPU to wait, not preempted */
#define ST_RESTART	512	/* its futex wait may go on in restart_syscall */
#define ST_PATH		1024	/* this call touches a path of -P */
#define ST_WAITING	2048	/* in a futex wait */
#define ST_MUTED	4096	/* followed, but a filter leaves it out for now */
#define ST_COUNTED	8192	/* something of it was counted */
#define ST_GONE		16384	/* had ended when it was found, or was told of as alive */
#define ST_SILENT	(ST_WAIT_EXEC | ST_MUTED)

/* One end of a pipe that a call works on; .kind 0: none. */
struct end_ref {
	u64 id;
	u32 sb;
	u8 kind, write, fifo, ahead;
};

struct task_state {
	u32 tid, tgid, parent, space;
	u32 flags;
	u16 nr;			/* the call it is in */
	u8 class, in_call;
	u64 enter_ns, enter_off, enter_blocked;
	u64 enter_voluntary;
	u64 arg;		/* CALL_STACK: mmap's flags; slices: what to show */
	/* futex */
	u64 fx_addr;
	u32 fx_val;
	u8 fx_op, fx_kind, fx_shared, fx_blocked;
	u32 waker, dead;	/* who ended the wait; the thread whose exit did */
	u32 woke;		/* traced waiters that this call has woken */
	u32 early_waker, early_dead;	/* as above, by who woke it on its way to sleep */
	u32 order;		/* added to, locked: sleeper and waker see each other's words */
	u64 early_ns;
	u64 fx_before;		/* ns of a wait before it was broken off; .fx_blocked: it slept */
	/* pipe ends of this call */
	struct end_ref in, out;
	u64 futex_at_end;	/* futex_calls when it last moved a chunk */
	/* scheduling */
	u64 in_ns, out_ns, wake_ns;
	u64 oncpu_ns, runnable_ns, blocked_ns, voluntary, involuntary;
	u64 lock_ns;		/* of .blocked_ns, in futex waits; .futex_wait_ns is of calls */
	u16 block_nr;
	u16 cpu;		/* 1 + the last one; 0: not known */
	u32 taken;		/* by whoever found it first */
	u32 slot;		/* its row of map "seen"; 0: none */
	u32 pad;
	char comm[LIVE_COMM];	/* its name when a filter began to leave it out, or "" */
	/* life */
	u64 start_ns, created_ns, first_run_ns, first_user_ns, prep_ns, mask_ns;
	u64 stage_ns[LIVE_STAGES];
	u64 calls, futex_calls, futex_wait_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LIVE_NR_CALLS);
	__type(key, u32);
	__type(value, struct live_call);
} calls __weak SEC(".maps");

static __always_inline struct task_state *state_of(struct task_struct *task)
{
	return bpf_task_storage_get(&tasks, task, NULL, 0);
}

static __always_inline struct task_state *state_self(void)
{
	return bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
}

static __always_inline void count_loss(u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/*
 * Time between two looks at the clock, which may be on two CPUs: there it has been
 * seen to run back by microseconds.
 */
static __always_inline u64 passed(u64 from, u64 to)
{
	return to > from ? to - from : 0;
}

static __always_inline void raise_max(u64 *max, u64 v)
{
	if (v > *max)
		*max = v;
}

/* When a thread that is off the CPU could have run: since it left it, was woken, or not yet. */
static __always_inline u64 woken_since(const struct task_state *st, u64 now)
{
	if (!(st->flags & ST_BLOCKED))
		return st->out_ns;
	return st->wake_ns > st->out_ns && st->wake_ns < now ? st->wake_ns : now;
}

/* sched.bpf.c: a thread comes on its CPU. */
int switch_in(struct task_state *st, u64 now);

/*
 * Kernels that hide some threads tell nothing of what is switched in after them: a
 * thread that runs all the same has been on its CPU since it could be.
 */
static __always_inline void seen_running(struct task_state *st, u64 now)
{
	if (!st->in_ns && st->out_ns)
		switch_in(st, woken_since(st, now));
}

/* The thread's id in the tracer's pid namespace; 0: it has none there. */
static __always_inline u32 task_tid(struct task_struct *task)
{
	struct pid *pid;
	u32 level = self.ns_level;
	int nr = 0;

	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid) +
			      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* A call's number as the tables know it. */
static __always_inline u32 call_slot(u64 nr)
{
	return nr < LIVE_NR_STOPPED ? nr : LIVE_NR_OTHER;
}

/*
 * Histogram buckets by a function of its own, which the verifier goes through
 * once: inlined, its six branches multiplied the paths through every caller.
 */
__weak __noinline u32 hist_slot(u64 v)
{
	return hist_bucket(v);
}

static __always_inline void hist_count(u32 *hist, u64 v)
{
	u32 b = hist_slot(v);

	if (b < HIST_BUCKETS)
		hist[b]++;
}

/* Whether -e and -P want call @nr, which the thread is in. */
static __always_inline bool call_wanted(const struct task_state *st, u32 nr)
{
	return !(call_class[nr & (LIVE_NR_CALLS - 1)] & CALL_OFF) &&
	       (!cfg.path_filter || (st->flags & ST_PATH));
}

/* What of a call's @dur its thread was off the CPU: not more, by a wait told of too late. */
static __always_inline u64 call_off(const struct task_state *st, u64 dur)
{
	u64 off = st->runnable_ns + st->blocked_ns - st->enter_off;

	return off < dur ? off : dur;
}

/* A wait of @ns in call @nr; in wait mode it is all that is seen of the call. */
static __always_inline void count_blocked(const struct task_state *st, u32 nr, u64 ns)
{
	struct live_call *call = bpf_map_lookup_elem(&calls, &nr);

	if (!call)
		return;
	call->blocked++;
	call->blocked_ns += ns;
	if (cfg.exact || !call_wanted(st, nr))
		return;
	call->calls++;
	call->total_ns += ns;
	call->off_ns += ns;
	raise_max(&call->max_ns, ns);
	hist_count(call->hist, ns);
}

static __always_inline void hist_count_shared(u32 *hist, u64 v)
{
	u32 b = hist_slot(v);

	if (b < HIST_BUCKETS)
		__sync_fetch_and_add(&hist[b], 1);
}

/*
 * From the entry of a system call to its return ax holds -ENOSYS: a blocked
 * thread whose saved ax is something else waits in a page fault or an
 * interrupt's work, and orig_ax is then no call number.
 */
#define AX_IN_CALL (-38L)

/* A thread's state (include/linux/sched.h): stopped by a signal, or by who traces it. */
#define TASK_STOPPED	0x4
#define TASK_TRACED	0x8

#endif
