/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * A look at all traced threads while they run, for a live view. It changes
 * nothing of theirs: a thread that switches meanwhile may show a moment of both
 * sides, which its next look puts right.
 */
#include "lib/state.bpf.h"

/* When the view began its last look; 0: this is the first. */
u64 watched_ns __weak = 0;

static __always_inline bool on_cpu(struct task_struct *task)
{
	return bpf_core_field_exists(task->on_cpu) && task->on_cpu;
}

/* What is still on, added to what is over. */
static __always_inline void seen_now(struct live_seen *e, const struct task_state *st, bool running,
				     u64 now)
{
	u64 in = st->in_ns, out = st->out_ns, woken;

	if (in) {
		e->state = SEEN_RUNNING;
		e->since_ns = in;
		e->oncpu_ns += passed(in, now);
		return;
	}
	if (!out) {
		/* Born, and never on a CPU so far. */
		e->state = st->flags & ST_CREATED ? SEEN_RUNNABLE : SEEN_UNSEEN;
		e->since_ns = st->start_ns;
		if (e->state == SEEN_RUNNABLE)
			e->runnable_ns += passed(st->start_ns, now);
		return;
	}
	woken = woken_since(st, now);
	e->blocked_ns += passed(out, woken);
	if (running) {	/* the kernel did not tell of the switch */
		e->state = SEEN_RUNNING;
		e->since_ns = woken;
		e->oncpu_ns += passed(woken, now);
	} else if (woken < now) {
		e->state = SEEN_RUNNABLE;
		e->since_ns = woken;
		e->runnable_ns += passed(woken, now);
	} else {
		e->state = SEEN_BLOCKED;
		e->since_ns = out;
		e->block_nr = st->block_nr;
		if (st->flags & ST_WAITING) {
			e->lock_addr = st->fx_addr;
			e->lock_ns += passed(out, now);
		}
	}
}

SEC("iter/task")
int watch_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct live_seen e = {};
	struct task_state *st;
	u64 now;
	bool running;

	if (!task)
		return 0;
	st = state_of(task);
	if (!st || task->exit_state || (st->flags & (ST_SILENT | ST_CALIB | ST_GONE)))
		return 0;
	e.tid = st->tid;
	running = on_cpu(task);
	if (watched_ns && !st->in_ns && st->out_ns && st->out_ns < watched_ns && !running &&
	    (st->flags & ST_BLOCKED) && st->wake_ns < st->out_ns) {
		e.flags = SEEN_SAME;
		bpf_seq_write(ctx->meta->seq, &e, LIVE_SEEN_SAME_BYTES);
		return 0;
	}
	now = bpf_ktime_get_ns();
	e.flags = (st->flags & ST_PROCESS ? SEEN_PROCESS : 0) |
		  (st->flags & ST_CREATED ? SEEN_CREATED : 0);
	e.tgid = st->tgid;
	e.space = st->space;
	e.start_ns = st->start_ns;
	e.oncpu_ns = st->oncpu_ns;
	e.runnable_ns = st->runnable_ns;
	e.blocked_ns = st->blocked_ns;
	e.lock_ns = st->futex_wait_ns;
	e.calls = st->calls;
	e.switches = st->voluntary + st->involuntary;
	seen_now(&e, st, running, now);
	bpf_probe_read_kernel(e.comm, sizeof(e.comm), task->comm);
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
