/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * A producer for bench_ring: fills the rings with the tracer's own slices, by
 * the tracer's own code, as fast as bpf_loop goes round.
 */
#include "lib/events.bpf.h"

struct produce { u64 events, lost_before; };

static long one_event(u32 i, void *data)
{
	struct task_state st = {};

	st.tid = i;
	emit_slice(&st, SLICE_CALL, bpf_ktime_get_ns(), 0, 0, 0, 0, 0);
	return 0;
}

SEC("syscall")
int produce(struct produce *ctx)
{
	bpf_loop(ctx->events, one_event, NULL, 0);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
