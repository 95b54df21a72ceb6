/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_EVENTS_BPF_H
#define LIB_EVENTS_BPF_H

/*
 * The way of events to userspace: one BPF ring buffer a CPU, so that producers
 * do not meet. Submitting wakes nobody until a ring is a quarter full: the
 * consumer comes by itself, by time.
 */
#include "lib/state.bpf.h"

struct ring_inner {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring_inner);
} rings __weak SEC(".maps");

u64 ring_wake_bytes __weak = 0;

static __always_inline void *ring_mine(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

static __always_inline void ring_submit(void *ring, void *event)
{
	u64 avail = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	bpf_ringbuf_submit(event, avail >= ring_wake_bytes ? BPF_RB_FORCE_WAKEUP :
							     BPF_RB_NO_WAKEUP);
}

/*
 * Reserves an event of a fixed size in this CPU's ring, or counts the loss.
 * A macro, since the size must be a constant at the call.
 */
#define RING_RESERVE(ring, event)						\
({										\
	(ring) = ring_mine();							\
	(event) = (ring) ? bpf_ringbuf_reserve((ring), sizeof(*(event)), 0) : NULL;	\
	if (!(event))								\
		count_loss(&counts.ring_full);					\
	(event);								\
})

static __always_inline void event_head(struct live_head *head, u16 type, u16 len, u32 tid, u64 ts)
{
	head->type = type;
	head->len = len;
	head->tid = tid;
	head->ts = ts;
}

static __always_inline void fill_thread(struct live_thread *e, struct task_state *st,
					struct task_struct *task, u64 now, bool ended)
{
	event_head(&e->head, EV_THREAD, sizeof(*e), st->tid, now);
	e->tgid = st->tgid;
	e->parent = st->parent;
	e->space = st->space;
	e->flags = (st->flags & ST_PROCESS ? THREAD_PROCESS : 0) |
		   (st->flags & ST_CREATED ? THREAD_CREATED : 0) |
		   (st->flags & ST_COUNTED ? 0 : THREAD_CALIB) |
		   (st->in_call ? THREAD_IN_CALL : 0) | (ended ? THREAD_ENDED : 0);
	if (st->comm[0])
		__builtin_memcpy(e->comm, st->comm, sizeof(e->comm));
	else
		bpf_probe_read_kernel(e->comm, sizeof(e->comm), task->comm);
	e->start_ns = st->start_ns;
	e->end_ns = ended ? now : 0;
	__builtin_memcpy(e->stage_ns, st->stage_ns, sizeof(e->stage_ns));
	e->calls = st->calls;
	e->futex_calls = st->futex_calls;
	e->futex_wait_ns = st->futex_wait_ns;
	e->oncpu_ns = st->oncpu_ns;
	e->runnable_ns = st->runnable_ns;
	e->blocked_ns = st->blocked_ns;
	e->voluntary = st->voluntary;
	e->involuntary = st->involuntary;
	e->call_enter_ns = st->enter_ns;
	e->call_addr = st->flags & ST_WAITING ? st->fx_addr : 0;
	e->call_nr = st->nr;
	e->pad = 0;
}

static __always_inline void emit_slice(struct task_state *st, u32 kind, u64 start, u64 dur,
				       u32 nr, u64 arg, s64 ret, u32 waker)
{
	struct live_slice *e;
	void *ring;

	if (!RING_RESERVE(ring, e))
		return;
	/* Events are put in order by when they were sent: a slice's time is its end. */
	event_head(&e->head, EV_SLICE, sizeof(*e), st->tid, start + dur);
	e->dur_ns = dur;
	e->arg = arg;
	e->ret = ret;
	e->tgid = st->tgid;
	e->nr = nr;
	e->kind = kind;
	e->waker = waker;
	ring_submit(ring, e);
}

#endif
