/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * Where threads wait: on a CPU, runnable, blocked. In wait mode this file alone
 * says in which system call, at which futex or pipe a thread blocked, from the
 * registers it left on its kernel stack, so that calls cost nothing. A thread
 * that ends is reported here, at its last switch: nothing of it comes after.
 */
#include "lib/filter.bpf.h"
#include "lib/futex.bpf.h"
#include "lib/path.bpf.h"
#include "lib/seen.bpf.h"

#define TASK_DEAD	0x80
#define PF_KTHREAD	0x00200000
#define NR_EXIT		60

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_sched);
} sched __weak SEC(".maps");

static __always_inline void count_never_returned(struct task_state *st, u64 now)
{
	u32 nr = st->nr;
	struct live_call *call;

	if (!call_wanted(st, nr))
		return;
	call = bpf_map_lookup_elem(&calls, &nr);
	if (!call)
		return;
	call->calls++;
	if (nr == NR_EXIT && !(st->flags & ST_PROCESS)) {
		call->way++;
		call->way_ns += passed(st->enter_ns, now);
	}
}

/*
 * The parts of a switch are global functions: the verifier goes through each
 * once, not through each way into one after each way out of the other. Who is
 * switched out is the current task.
 */
__weak __noinline int thread_ended(struct task_state *st, u64 now)
{
	struct live_thread *e;
	void *ring;

	if (!st)
		return 0;
	if (st->flags & ST_GONE)
		return 0;
	if (!(st->flags & ST_SILENT)) {
		if (st->in_call == 1) {
			count_never_returned(st, now);
			st->calls++;
			/* exit_group ends a process, whichever thread calls it. */
			if (st->nr == NR_EXIT && !(st->flags & ST_PROCESS))
				st->stage_ns[STAGE_EXIT] = passed(st->enter_ns, now);
		}
	}
	if (st->flags & ST_COUNTED)
		__sync_fetch_and_add(st->flags & ST_PROCESS ? &counts.procs_exited :
							      &counts.threads_exited, 1);
	/* Of a set-uid program nothing is told. */
	if (cfg.watch) {
		seen_end(st, bpf_get_current_task_btf());
	} else if ((st->flags & ST_COUNTED || !cfg.uid_filter) && RING_RESERVE(ring, e)) {
		fill_thread(e, st, bpf_get_current_task_btf(), now, true);
		ring_submit(ring, e);
	}
	__sync_fetch_and_sub(&counts.live, 1);
	return 0;
}

/* The thread's stack can be read as long as it is the current one. */
__weak __noinline int sample_wait(struct task_state *st, u64 now)
{
	struct live_futex_key key = {};
	struct live_futex *fx;
	u32 zero = 0;
	u64 *spent = bpf_map_lookup_elem(&stack_spent, &zero);

	/* Most waits end here, before the row is looked for. */
	if (!st || !spent || *spent + SAMPLE_FIRST_NS > now)
		return 0;
	key.addr = st->fx_addr;
	key.space = st->space;
	fx = futex_row(&key);
	if (fx && (!cfg.exact || begins_next(fx)))
		stack_sample(st, fx, 0, now, 1);
	return 0;
}

/*
 * A waker on another CPU may find a thread that has queued for its wait and not
 * yet left the CPU: its account of whom it waits for begins only there. In
 * between an interrupt can come, or the host take the CPU away.
 */
#define EARLY_NS 10000000

static __always_inline void woken_early(struct task_state *st, u64 since, u64 now)
{
	__sync_fetch_and_add(&st->order, 1);
	if (st->early_ns < since || st->early_ns + EARLY_NS < now)
		return;
	st->waker = st->early_waker;
	st->dead = st->early_dead;
}

/* Exact mode: a wait at a lock may be its last, and is sampled once while it can be. */
static __always_inline void note_block(struct task_state *st, u32 why, u64 now)
{
	st->block_nr = why == LIVE_NR_OTHER && st->in_call == 1 ? st->nr : why;
	if (cfg.stacks && (st->flags & ST_WAITING) && !(st->flags & ST_SILENT))
		sample_wait(st, now);
}

/* Wait mode: what the current thread, on the CPU @since, blocks in: from its registers. */
static __always_inline void note_wait(struct task_state *st, u32 why, u64 since, u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 nr;
	u8 class;

	st->class = CALL_PLAIN;
	st->block_nr = why;
	st->waker = 0;
	st->dead = 0;
	st->flags &= ~ST_WAITING;
	if (why != LIVE_NR_OTHER || (long)regs->ax != AX_IN_CALL || task->thread_info.status & 2)
		return;
	nr = call_slot(regs->orig_ax);
	class = call_class[nr & (LIVE_NR_CALLS - 1)] & 0x3f;
	st->block_nr = nr;
	st->class = class;
	if (cfg.path_filter)
		path_note(st, nr, regs);
	if (st->flags & ST_RESTART && class != CALL_RESTART)
		st->flags &= ~ST_RESTART;
	if (class == CALL_FUTEX || class == CALL_FUTEX2) {
		if (!(cfg.collect & LIVE_FUTEX))
			return;
		futex_note(st, class, nr, regs);
		if (!(st->flags & ST_WAITING))
			return;
		woken_early(st, since, now);
		if (cfg.stacks && !(st->flags & ST_SILENT))
			sample_wait(st, now);
	} else if (class == CALL_RESTART && (st->flags & ST_RESTART)) {
		st->class = CALL_FUTEX;
		futex_again(st);
	} else if (class >= CALL_READ && class <= CALL_SENDFILE && (cfg.collect & LIVE_PIPES)) {
		end_waited_for(&st->in, task, class, regs);
	}
}

__weak __noinline int futex_unblocked(struct task_state *st, u64 ns, u64 now)
{
	struct live_futex_key key = {};
	struct live_futex *fx;

	if (!st)
		return 0;
	key.addr = st->fx_addr;
	key.space = st->space;
	fx = futex_row(&key);
	if (!fx)
		return 0;
	if (!fx->tgid)
		fx->tgid = st->tgid;
	if (st->fx_shared)
		fx->flags |= FUTEX_IS_SHARED;
	return futex_waited(st, fx, ns, WAIT_BLOCKED, now);
}

/* Wait mode: a wait is over; account for it where it was. */
static __always_inline void waited(struct task_state *st, u64 ns, u64 now)
{
	if (st->flags & ST_WAITING) {
		st->flags &= ~ST_WAITING;
		st->flags |= ST_RESTART;	/* should it go on there */
		futex_unblocked(st, ns, now);
		return;
	}
	if (st->class >= CALL_READ && st->class <= CALL_SENDFILE && st->in.kind) {
		end_blocked(st, false, ns);
		st->in.kind = 0;
	}
}

static __always_inline void ran_late(struct task_state *st, u64 runq, struct live_sched *row)
{
	if (!row)
		return;
	st->runnable_ns += runq;
	row->runq_ns += runq;
	raise_max(&row->runq_max, runq);
	hist_count(row->hist, runq);
}

static __always_inline void unblocked(struct task_state *st, struct live_sched *row, u64 now)
{
	u64 woken = woken_since(st, now), ns = woken - st->out_ns;
	u32 nr = st->block_nr;

	if (st->flags & ST_SILENT)
		return;
	if (cfg.watch)
		end_waits(st, 0);
	st->blocked_ns += ns;
	if (st->flags & ST_WAITING)
		st->lock_ns += ns;
	ran_late(st, now - woken, row);
	count_blocked(st, nr, ns);
	if (!cfg.exact) {
		u64 addr = st->flags & ST_WAITING ? st->fx_addr : 0;

		waited(st, ns, now);
		if (cfg.timeline && ns >= cfg.slice_min_ns)
			emit_slice(st, SLICE_BLOCKED, st->out_ns, ns, nr, addr, 0, st->waker);
	}
}

__weak __noinline int switch_in(struct task_state *st, u64 now)
{
	u32 zero = 0, cpu = bpf_get_smp_processor_id();
	struct live_sched *row = NULL;

	if (!st)
		return 0;
	if (now < st->out_ns)
		now = st->out_ns;
	if (!(st->flags & ST_SILENT))
		row = bpf_map_lookup_elem(&sched, &zero);
	if (st->out_ns) {
		if (st->flags & ST_BLOCKED)
			unblocked(st, row, now);
		else
			ran_late(st, now - st->out_ns, row);
	} else if ((st->flags & ST_CREATED) && !st->first_run_ns) {
		st->first_run_ns = now;
		st->stage_ns[STAGE_WAKEUP] = passed(st->created_ns, now);
		ran_late(st, passed(st->created_ns, now), row);
	}
	if (row && st->cpu && st->cpu != cpu + 1)
		row->migrations++;
	st->cpu = cpu + 1;
	st->in_ns = now;
	st->out_ns = 0;
	st->flags &= ~ST_BLOCKED;
	seen_put(st);
	return 0;
}

__weak __noinline int switch_out(struct task_state *st, u32 state, bool preempt, u64 now)
{
	u32 why = state & (TASK_STOPPED | TASK_TRACED) ? LIVE_NR_STOPPED : LIVE_NR_OTHER;
	u64 since;

	if (!st)
		return 0;
	seen_running(st, now);
	since = st->in_ns;
	if (now < since)
		now = since;
	if (since && !(st->flags & ST_SILENT)) {
		st->oncpu_ns += now - since;
		if (cfg.timeline && now - since >= cfg.slice_min_ns)
			emit_slice(st, SLICE_ONCPU, since, now - since, 0, 0, 0, 0);
	}
	st->in_ns = 0;
	st->out_ns = now;
	if (preempt || !state) {
		st->involuntary += !(st->flags & ST_SILENT);
		st->flags &= ~ST_BLOCKED;
		seen_put(st);
		return 0;
	}
	if (state & TASK_DEAD)
		return thread_ended(st, now);
	st->voluntary += !(st->flags & ST_SILENT);
	st->flags |= ST_BLOCKED;
	st->wake_ns = 0;
	if (!cfg.exact)
		note_wait(st, why, since, now);
	else
		note_block(st, why, now);
	if (cfg.watch)
		end_waits(st, now);
	seen_put(st);
	return 0;
}

SEC("tp_btf/sched_switch")
int sched_switched(u64 *ctx)
{
	struct task_struct *prev = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	struct task_state *st = state_of(prev);
	u64 now = 0;
	u32 state;

	if (st) {
		now = bpf_ktime_get_ns();
		/* The argument was added for this: a waker may change the field meanwhile. */
		state = cfg.switch_has_state ? (u32)ctx[3] : prev->__state;
		switch_out(st, state, ctx[0], now);
	}
	st = state_of(next);
	if (st) {
		switch_in(st, now ? now : bpf_ktime_get_ns());
		seen_retry(st, next);
	}
	return 0;
}

/* Who ended a thread's wait, at @addr: 0, nobody that is known; @dead: its thread was joined. */
struct waker { u32 tid, dead; };

/* Without uid 0 another user's thread is nobody, not even a number. */
static __always_inline u32 waker_tid(struct task_state *me, struct task_struct *cur)
{
	if (cfg.uid_filter && !(me && !(me->flags & ST_MUTED)) && !uid_matches(cur))
		return 0;
	return me ? me->tid : task_tid(cur);
}

/*
 * A thread's end wakes its joiner by the word that it gave clone, and others by
 * its robust locks. The end of a process wakes its own threads to die: nobody's wake.
 */
static __always_inline void ending_waker(struct waker *w, struct task_state *st,
					 struct task_struct *task, struct task_struct *cur,
					 u64 nr, u64 addr, bool shared)
{
	struct task_state *me = state_of(cur);

	if ((u64)cur->clear_child_tid == addr) {
		/* Joined threads are many and short: their process stands for them. */
		w->dead = me ? me->tid : task_tid(cur);
		w->tid = me ? me->tgid : st->tgid;
	} else if (cur->tgid == task->tgid ? nr == NR_EXIT : shared) {
		w->tid = waker_tid(me, cur);
	}
}

/*
 * The thread that wakes another: in a futex call, or on its way out. A timer's
 * interrupt wakes too, in the name of whoever happens to run.
 */
static __always_inline bool find_waker(struct waker *w, struct task_state *st,
				       struct task_struct *task, u64 addr, bool shared)
{
	struct task_struct *cur = bpf_get_current_task_btf();
	struct task_state *me;
	struct pt_regs *regs;
	u8 class;

	if (cur->flags & PF_KTHREAD)
		return false;
	regs = (struct pt_regs *)bpf_task_pt_regs(cur);
	if ((long)regs->ax != AX_IN_CALL)
		return false;
	class = call_class[call_slot(regs->orig_ax) & (LIVE_NR_CALLS - 1)] & 0x3f;
	if (class == CALL_EXIT) {
		ending_waker(w, st, task, cur, regs->orig_ax, addr, shared);
		return w->tid;
	}
	if (class != CALL_FUTEX && class != CALL_FUTEX2)
		return false;
	if ((!shared && BPF_CORE_READ(cur, mm) != BPF_CORE_READ(task, mm)) ||
	    (class == CALL_FUTEX && futex_kind(regs->si & 127) == FX_WAIT))
		return false;
	me = state_of(cur);
	w->tid = waker_tid(me, cur);
	if (me)
		me->woke++;
	return true;
}

/*
 * Wait mode: who wakes a thread on its way to sleep, as its registers tell what for.
 * That thread runs, perhaps through note_wait, and its flags are its own to write.
 */
static __always_inline void note_early(struct task_state *st, struct task_struct *task, u64 now)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct waker w = {};
	u8 class;

	if ((long)regs->ax != AX_IN_CALL)
		return;
	class = call_class[call_slot(regs->orig_ax) & (LIVE_NR_CALLS - 1)] & 0x3f;
	if (class != CALL_FUTEX && class != CALL_FUTEX2)
		return;
	if (!find_waker(&w, st, task, regs->di,
			class != CALL_FUTEX || !(regs->si & FUTEX_PRIVATE)))
		return;
	st->early_waker = w.tid;
	st->early_dead = w.dead;
	st->early_ns = now;
	__sync_fetch_and_add(&st->order, 1);
	if (st->flags & ST_WAITING) {	/* it has looked already, perhaps too soon */
		st->waker = w.tid;
		st->dead = w.dead;
	}
}

SEC("tp_btf/sched_waking")
int BPF_PROG(sched_woken, struct task_struct *task)
{
	struct task_state *st = state_of(task);
	struct waker w = {};
	u64 now;

	if (!st)
		return 0;
	now = bpf_ktime_get_ns();
	st->wake_ns = now;
	seen_woken(st, now);
	if (st->flags & ST_WAITING) {
		if (!find_waker(&w, st, task, st->fx_addr, st->fx_shared))
			return 0;
		st->waker = w.tid;
		st->dead = w.dead;
	} else if (!cfg.exact) {
		note_early(st, task, now);
	}
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
