/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * --start-routine: a uprobe at the C library's call of a new thread's start
 * routine, the last instruction before the routine's first. The attach cookie
 * is the offset of the routine's address in the thread's descriptor, which is
 * where %fs points; 0 at the tracer's own call, which hands over the time before
 * it. Loaded only with the option.
 */
#include "lib/events.bpf.h"

static __always_inline void emit_routine(struct task_state *st, u64 addr, u64 now)
{
	struct live_routine *e;
	void *ring;

	if (!RING_RESERVE(ring, e))
		return;
	event_head(&e->head, EV_ROUTINE, sizeof(*e), st->tid, now);
	e->tgid = st->tgid;
	e->space = st->space;
	e->flags = st->flags & ST_SILENT ? THREAD_CALIB : 0;
	e->pad = 0;
	e->addr = addr;
	ring_submit(ring, e);
}

SEC("uprobe")
int routine_begins(struct pt_regs *ctx)
{
	/* First the clock: what follows is the probe's own time, not the thread's. */
	u64 now = bpf_ktime_get_ns(), field = bpf_get_attach_cookie(ctx), before, addr = 0;
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *st = state_self();

	if (!st)
		return 0;
	/*
	 * The stage before ends on a CPU without sys_exit (wait mode); the kernel
	 * may also have left out the switch to it, and then this one has that too.
	 */
	before = st->first_user_ns ? st->first_user_ns + st->stage_ns[STAGE_SETUP] :
		 st->first_run_ns ? st->first_run_ns : st->created_ns;
	if ((st->flags & ST_CREATED) && now > before)
		st->stage_ns[STAGE_ROUTINE] = now - before;
	bpf_probe_read_user(&addr, sizeof(addr),
			    (void *)(field ? task->thread.fsbase + field : ctx->di));
	emit_routine(st, addr, now);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
