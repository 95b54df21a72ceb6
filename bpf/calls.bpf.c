/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Exact mode: every system call of every traced thread, counted and timed at
 * its return. A call costs one task storage look-up and one clock read on each
 * side; what futexes, pipes and thread creation want of it hangs on its class.
 */
#include "lib/futex.bpf.h"
#include "lib/path.bpf.h"
#include "lib/pipe.bpf.h"
#include "lib/seen.bpf.h"

#define TS_COMPAT	2
#define MAP_STACK	0x20000
#define MAP_ANONYMOUS	0x20
#define MAX_ERRNO	4095
#define EINTR		4
#define NR_RT_SIGRETURN	15
#define NR_MMAP		9

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 2048);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct live_errno_key);
	__type(value, u64);
} errnos __weak SEC(".maps");

static __always_inline void call_enter(struct task_state *st, struct pt_regs *regs, u64 id)
{
	u32 nr = call_slot(id);
	u8 class;

	if (bpf_get_current_task_btf()->thread_info.status & TS_COMPAT) {
		if (!(st->flags & ST_SILENT))
			count_loss(&counts.compat);
		st->in_call = 2;	/* counted, not named: its numbers are others */
		return;
	}
	class = call_class[nr & (LIVE_NR_CALLS - 1)];
	st->nr = nr;
	st->class = class;
	st->in_call = 1;
	st->enter_off = st->runnable_ns + st->blocked_ns;
	st->enter_voluntary = st->voluntary;
	class &= 0x3f;
	if (st->flags & ST_RESTART) {
		if (class == CALL_RESTART) {
			st->class = CALL_FUTEX | (st->class & CALL_OFF);
			futex_again(st);
		} else {
			st->flags &= ~ST_RESTART;
		}
	}
	if (class == CALL_FUTEX || class == CALL_FUTEX2) {
		futex_note(st, class, nr, regs);
	} else if (class >= CALL_READ && class <= CALL_SENDFILE) {
		st->enter_blocked = st->blocked_ns;
		if (cfg.collect & LIVE_PIPES)
			pipe_note(st, class, regs);
	} else if (class == CALL_STACK) {
		st->arg = regs->r10;
	}
	if (cfg.path_filter)
		path_note(st, nr, regs);
	st->enter_ns = bpf_ktime_get_ns();
}

/* 512 to 516 are the kernel's own words for a call that a signal broke off. */
__weak __noinline int count_errno(u32 nr, s64 ret)
{
	struct live_errno_key key = { .nr = nr, .err = ret > -512 || ret < -516 ? -ret : EINTR };
	u64 *n = bpf_map_lookup_elem(&errnos, &key), one = 1;

	if (n)
		*n += 1;
	else if (bpf_map_update_elem(&errnos, &key, &one, BPF_ANY))
		count_loss(&counts.map_full);
	return 0;
}

static __always_inline struct live_call *count_call(struct task_state *st, u32 nr, s64 ret,
						    u64 dur)
{
	struct live_call *call = bpf_map_lookup_elem(&calls, &nr);

	if (!call)
		return NULL;
	call->calls++;
	call->total_ns += dur;
	raise_max(&call->max_ns, dur);
	call->off_ns += call_off(st, dur);
	hist_count(call->hist, dur);
	if ((u64)ret >= (u64)-MAX_ERRNO && nr != NR_RT_SIGRETURN) {
		call->errors++;
		count_errno(nr, ret);
	}
	return call;
}

/*
 * The calls on a thread's way: its creator's mmap of the stack and what
 * follows up to the clone, its own before the routine. rt_sigprocmask around
 * clone is known for what it is only when the clone has come.
 */
__weak __noinline int on_the_way(struct task_state *st, struct live_call *call, u64 dur, u64 now)
{
	bool way = false;
	u8 class;

	if (!st)
		return 0;
	class = st->class & 0x3f;
	if (st->flags & ST_SETUP) {
		if (class == CALL_SETUP || class == CALL_MASK) {
			st->stage_ns[STAGE_SETUP] = passed(st->first_user_ns, now);
			way = true;
		}
		if (class != CALL_SETUP)
			st->flags &= ~ST_SETUP;	/* glibc's last one is rt_sigprocmask */
	} else if (class == CALL_STACK) {
		if (st->nr == NR_MMAP) {
			way = st->arg & MAP_STACK;
			st->prep_ns = way ? dur : 0;
			st->flags = way ? st->flags | ST_PREP : st->flags & ~ST_PREP;
		} else if (st->flags & ST_PREP) {
			st->prep_ns += dur;
			way = true;
		}
	} else if (class == CALL_MASK) {
		way = st->flags & ST_AFTER_CLONE;
		st->flags &= ~ST_AFTER_CLONE;
		st->mask_ns = dur;
	} else if (class == CALL_CLONE) {
		way = st->flags & ST_AFTER_CLONE;
	}
	if (way && call) {
		call->way++;
		call->way_ns += dur;
	}
	return 0;
}

static __always_inline void call_return(struct task_state *st, struct pt_regs *regs, s64 ret)
{
	u64 now = bpf_ktime_get_ns(), dur = passed(st->enter_ns, now), blocked;
	u8 class = st->class & 0x3f;
	struct live_call *call = NULL;
	u32 nr = st->nr;

	st->in_call = 0;
	if (st->flags & ST_CALIB)
		nr = LIVE_NR_CALIB;
	else if (st->flags & (ST_SILENT | ST_GONE))
		return;
	seen_running(st, now);
	st->calls++;
	seen_calls(st);
	if (call_wanted(st, nr))
		call = count_call(st, nr, ret, dur);
	if (class == CALL_FUTEX || class == CALL_FUTEX2) {
		if (cfg.collect & LIVE_FUTEX)
			futex_return(st, ret, dur, now);
	} else if (class >= CALL_READ && class <= CALL_SENDFILE) {
		blocked = st->blocked_ns - st->enter_blocked;
		if (cfg.collect & LIVE_PIPES) {
			s64 moved = ret;

			if (ret > 0 && (class == CALL_READ_MANY || class == CALL_WRITE_MANY))
				moved = many_bytes(regs->si, ret);
			if (st->in.kind)
				end_moved(st, false, moved, blocked);
			if (st->out.kind)
				end_moved(st, true, moved, blocked);
		}
	} else if (class == CALL_EVENTFD) {
		if (ret >= 0)
			event_made(ret);
	} else if (class >= CALL_CLONE && (cfg.collect & LIVE_THREADS)) {
		on_the_way(st, call, dur, now);
	}
	if (nr == NR_MMAP && (st->arg & MAP_ANONYMOUS) && (u64)ret < (u64)-MAX_ERRNO)
		__sync_fetch_and_add(&counts.mmap_bytes, regs->si);
	if (cfg.timeline && dur >= cfg.slice_min_ns && !(st->flags & ST_CALIB)) {
		/* The exec that begins an account began before it: slices lie within their life. */
		u64 begin = st->enter_ns > st->start_ns ? st->enter_ns : st->start_ns;
		u64 arg = regs->di;
		bool futex = class == CALL_FUTEX || class == CALL_FUTEX2;

		/* Else one load serves both pointers, which the verifier refuses. */
		barrier_var(arg);
		if (futex)
			arg = st->fx_addr;
		emit_slice(st, SLICE_CALL, begin, passed(begin, now), nr, arg, ret,
			   futex ? st->waker : 0);
	}
}

/*
 * A call that seccomp keeps from being made returns without an enter: an error,
 * or its own number when a signal tells of it. It is counted, and took no time.
 */
static __always_inline void never_entered(struct task_state *st, struct pt_regs *regs, s64 ret)
{
	u32 nr = call_slot(regs->orig_ax);

	/* At the end of a trace enters are no longer seen before exits are. */
	if (st->flags & ST_SILENT || counts.closing)
		return;
	if (bpf_get_current_task_btf()->thread_info.status & TS_COMPAT) {
		count_loss(&counts.compat);
		return;
	}
	if ((u64)ret < (u64)-MAX_ERRNO && ret != (s64)regs->orig_ax) {
		count_loss(&counts.unpaired);
		return;
	}
	st->calls++;
	seen_calls(st);
	st->enter_off = st->runnable_ns + st->blocked_ns;
	if (cfg.path_filter)
		path_note(st, nr, regs);
	if (call_wanted(st, nr))
		count_call(st, nr, ret, 0);
}

/* A new thread's first return to user mode comes from its creator's clone. */
static __always_inline void first_return(struct task_state *st)
{
	u64 now;

	st->flags &= ~ST_FRESH;
	if (!(st->flags & ST_CREATED))
		return;
	now = bpf_ktime_get_ns();
	st->first_user_ns = now;
	if (st->first_run_ns)
		st->stage_ns[STAGE_START] = passed(st->first_run_ns, now);
	if (!(st->flags & ST_PROCESS))
		st->flags |= ST_SETUP;
}

static __always_inline int on_enter(struct pt_regs *regs, u64 id)
{
	struct task_state *st = state_self();

	if (st)
		call_enter(st, regs, id);
	return 0;
}

static __always_inline int on_exit(struct pt_regs *regs, s64 ret)
{
	struct task_state *st = state_self();

	if (!st)
		return 0;
	if (st->in_call == 1)
		call_return(st, regs, ret);
	else if (!st->in_call && (st->flags & ST_FRESH))
		first_return(st);
	else if (!st->in_call)
		never_entered(st, regs, ret);
	st->in_call = 0;
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_enter_btf, struct pt_regs *regs, long id)
{
	return on_enter(regs, id);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(call_exit_btf, struct pt_regs *regs, long ret)
{
	return on_exit(regs, ret);
}

/* Where tp_btf does not load: the same, the registers by the current task. */
SEC("raw_tp/sys_enter")
int call_enter_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_enter((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()),
			ctx->args[1]);
}

SEC("raw_tp/sys_exit")
int call_exit_raw(struct bpf_raw_tracepoint_args *ctx)
{
	return on_exit((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()),
		       ctx->args[1]);
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
