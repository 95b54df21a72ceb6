/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/*
 * A tape (user/tape) tells its figures at each batch, by the function that its USDT probe
 * tracer_tape:batch is in. They only grow: the last word of each process is kept, and read
 * at the end.
 */
#include "lib/events.bpf.h"
#include "shared/live.h"
#include "shared/tape.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LIVE_TAPES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, struct live_tape);
} tapes __weak SEC(".maps");

SEC("uprobe")
int tape_batch(struct pt_regs *ctx)
{
	struct task_state *st = state_self();
	struct live_tape tape = {};
	u32 tgid;

	if (!st)
		return 0;
	tgid = st->tgid;
	if (bpf_probe_read_user(&tape.stats, sizeof(tape.stats), (void *)ctx->di) ||
	    tape.stats.version != TAPE_STATS_VERSION)
		return 0;
	bpf_get_current_comm(tape.comm, sizeof(tape.comm));
	if (bpf_map_update_elem(&tapes, &tgid, &tape, BPF_ANY))
		count_loss(&counts.map_full);
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
