/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_SEEN_BPF_H
#define LIB_SEEN_BPF_H

/*
 * Each thread in a row of memory that a live view has mapped: it looks at 20,000
 * threads without asking the kernel for one. A row follows its thread's switches;
 * what is on since the last one the view adds by the clock. It may read a moment of
 * two switches, which its next look puts right.
 */
#include "lib/state.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);	/* a view's set-up says how many */
	__type(key, u32);
	__type(value, struct live_seen);
} seen __weak SEC(".maps");

/* Rows whose threads have ended; row 0 is nobody's. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 1);
	__uint(key_size, 0);
	__uint(value_size, sizeof(u32));
} seen_free __weak SEC(".maps");

/*
 * By process. A view adds the rows of its threads that are alive: read before them,
 * a thread that ends meanwhile is missed once, and not counted twice.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct live_ended);
} ended __weak SEC(".maps");

u32 seen_used __weak = 0;	/* rows 1 to this one have been used */

static __always_inline struct live_seen *seen_of(const struct task_state *st)
{
	u32 slot = st->slot;

	return cfg.watch && slot ? bpf_map_lookup_elem(&seen, &slot) : NULL;
}

/* All of a row but its name. */
__weak __noinline int seen_fill(struct task_state *st)
{
	struct live_seen *e = st ? seen_of(st) : NULL;

	if (!e)
		return 0;
	e->flags = (st->flags & ST_PROCESS ? SEEN_PROCESS : 0) |
		   (st->flags & ST_CREATED ? SEEN_CREATED : 0);
	e->state = st->in_ns ? SEEN_RUNNING : !st->out_ns ? SEEN_BORN :
		   st->flags & ST_BLOCKED ? SEEN_BLOCKED : SEEN_RUNNABLE;
	e->since_ns = st->in_ns ? st->in_ns : st->out_ns ? st->out_ns : st->start_ns;
	/* Who reads the same .since_ns before and after the rest counts nothing twice. */
	barrier();
	e->tgid = st->tgid;
	e->space = st->space;
	e->start_ns = st->start_ns;
	e->oncpu_ns = st->oncpu_ns;
	e->runnable_ns = st->runnable_ns;
	e->blocked_ns = st->blocked_ns;
	e->lock_ns = st->lock_ns;
	e->calls = st->calls;
	e->switches = st->voluntary + st->involuntary;
	e->block_nr = st->block_nr;
	e->lock_addr = st->flags & ST_WAITING ? st->fx_addr : 0;
	e->lock_val = st->fx_val;
	e->woken_ns = 0;
	/* Last: a row that was nobody's is whole by now. */
	barrier();
	e->tid = st->flags & (ST_SILENT | ST_CALIB | ST_GONE) ? 0 : st->tid;
	return 0;
}

/* Without a view there is not even the call. */
static __always_inline void seen_put(struct task_state *st)
{
	if (cfg.watch)
		seen_fill(st);
}

static __always_inline void seen_woken(struct task_state *st, u64 now)
{
	struct live_seen *e = seen_of(st);

	if (e)
		e->woken_ns = now;
}

static __always_inline void seen_calls(struct task_state *st)
{
	struct live_seen *e = seen_of(st);

	if (e)
		e->calls = st->calls;
}

static __always_inline void seen_name(struct task_state *st, const void *comm)
{
	struct live_seen *e = st ? seen_of(st) : NULL;

	if (e)
		bpf_probe_read_kernel(e->comm, sizeof(e->comm), comm);
}

static __always_inline void seen_take(struct task_state *st, struct task_struct *task, u32 slot)
{
	st->slot = slot;
	seen_name(st, task->comm);
	seen_put(st);
}

/* A thread's row, for who has none; where all are taken it is counted as lost. */
static __always_inline void seen_begin(struct task_state *st, struct task_struct *task)
{
	u32 slot = 0;

	if (!cfg.watch || st->slot || (st->flags & ST_SILENT))
		return;
	if (bpf_map_pop_elem(&seen_free, &slot)) {
		if (seen_used >= cfg.watch_rows - 1) {
			count_loss(&counts.map_full);
			return;
		}
		slot = __sync_fetch_and_add(&seen_used, 1) + 1;
		if (slot >= cfg.watch_rows) {
			__sync_fetch_and_sub(&seen_used, 1);
			count_loss(&counts.map_full);
			return;
		}
	}
	seen_take(st, task, slot);
}

/* For who found no room when it began, and runs on: others may have ended since. */
static __always_inline void seen_retry(struct task_state *st, struct task_struct *task)
{
	u32 slot = 0;

	if (!cfg.watch || st->slot || (st->flags & (ST_SILENT | ST_CALIB | ST_GONE)) ||
	    bpf_map_pop_elem(&seen_free, &slot))
		return;
	seen_take(st, task, slot);
}

static __always_inline void add_ended(struct task_state *st, struct task_struct *task)
{
	struct live_ended none = {}, *d;
	u32 tgid = st->tgid;

	d = bpf_map_lookup_elem(&ended, &tgid);
	if (!d) {
		bpf_map_update_elem(&ended, &tgid, &none, BPF_NOEXIST);
		d = bpf_map_lookup_elem(&ended, &tgid);
	}
	if (!d) {
		count_loss(&counts.map_full);
		return;
	}
	__sync_fetch_and_add(&d->oncpu_ns, st->oncpu_ns);
	__sync_fetch_and_add(&d->runnable_ns, st->runnable_ns);
	__sync_fetch_and_add(&d->blocked_ns, st->blocked_ns);
	__sync_fetch_and_add(&d->lock_ns, st->lock_ns);
	__sync_fetch_and_add(&d->calls, st->calls);
	__sync_fetch_and_add(&d->switches, st->voluntary + st->involuntary);
	__sync_fetch_and_add(&d->ended, 1);
	if (st->flags & ST_CREATED)
		__sync_fetch_and_add(&d->created, 1);
	if (st->comm[0])	/* a filter left it out since: not what it is called now */
		__builtin_memcpy(d->comm, st->comm, sizeof(d->comm));
	else
		bpf_probe_read_kernel(d->comm, sizeof(d->comm), task->comm);
}

static __always_inline void seen_end(struct task_state *st, struct task_struct *task)
{
	struct live_seen *e = seen_of(st);
	u32 slot = st->slot;

	/* In this order it may be missed by who looks, and not be found twice. */
	if (e)
		e->tid = 0;
	barrier();
	if (st->flags & ST_COUNTED)
		add_ended(st, task);
	if (!e)
		return;
	st->slot = 0;
	bpf_map_push_elem(&seen_free, &slot, 0);
}

#endif
