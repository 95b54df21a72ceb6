/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
/* Births, new images and ends of what is recorded, and who of it is there. */
#include "lib/insn.bpf.h"
#include "lib/recorded.bpf.h"

#define SIGNAL_GROUP_EXIT 4	/* include/linux/sched/signal.h */
#define NR_EXIT		60
#define NR_EXIT_GROUP	231
#define TASK_STOPPED	4

/*
 * The first process becomes recorded with its first exec, its children with their birth. An
 * exec gives the thread that makes it the id of its process.
 */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(rr_exec, struct task_struct *task, pid_t old_pid)
{
	struct rr_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	const u32 tid = id_of(task);

	if (t) {
		t->tid = tid;
		return 0;
	}
	if (!counts.first || counts.begun || tid != counts.first)
		return 0;
	t = bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return 0;
	t->tid = tid;
	counts.begun = 1;
	/* The recorder holds them open, too: no others will be at their addresses. */
	counts.out_file[0] = (u64)file_at(task, 1);
	counts.out_file[1] = (u64)file_at(task, 2);
	__sync_fetch_and_add(&counts.alive, 1);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(rr_fork, struct task_struct *parent, struct task_struct *child)
{
	struct rr_task *t = bpf_task_storage_get(&tasks, parent, NULL, 0), *c;
	struct rr_ev_fork e = { .head = { .bytes = sizeof(e), .type = RR_EV_FORK } };

	if (!t)
		return 0;
	c = bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c) {
		__sync_fetch_and_add(&counts.lost, 1);
		return 0;
	}
	c->tid = id_of(child);
	__sync_fetch_and_add(&counts.alive, 1);
	e.head.tid = t->tid;
	e.child = c->tid;
	e.child_own = id_at(child, level_of(child));
	e.child_seen = id_at(child, level_of(parent));
	submit(&e, sizeof(e), BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(rr_exit, struct task_struct *task)
{
	struct rr_task *t = bpf_task_storage_get(&tasks, task, NULL, 0);
	struct rr_ev_exit e = { .head = { .bytes = sizeof(e), .type = RR_EV_EXIT } };
	struct pt_regs *regs;
	s64 nr;

	if (!t)
		return 0;
	e.head.tid = t->tid;
	e.code = BPF_CORE_READ(task, exit_code);
	e.process = id_of(task->group_leader);
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		e.head.flags = RR_EXIT_ALL;
	regs = (void *)bpf_task_pt_regs(task);
	nr = regs->orig_ax;
	e.asked = (nr == NR_EXIT || nr == NR_EXIT_GROUP) && (s64)regs->ax == -38;
	/* The recorder waits for the last of them. */
	submit(&e, sizeof(e), __sync_fetch_and_sub(&counts.alive, 1) == 1 ?
	       BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	return 0;
}

/* When others last sent which signal to the first process: whether it is to be passed on. */
SEC("tp_btf/signal_generate")
int BPF_PROG(rr_sent, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
	     int result)
{
	struct task_struct *from = bpf_get_current_task_btf();
	u32 at = (u32)sig;

	if (!counts.first || id_of(task) != counts.first || sig <= 0 || sig >= RR_NSIGNALS ||
	    (u32)from->tgid == counts.recorder)
		return 0;
	barrier_var(at);	/* else the verifier does not see the mask */
	counts.sent_ns[at & (RR_NSIGNALS - 1)] = bpf_ktime_get_ns();
	return 0;
}

/*
 * An instruction that was replaced has no result yet: the recorder gets to run, which attaches
 * itself, before the thread looks for its signals.
 */
SEC("tp_btf/signal_generate")
int BPF_PROG(rr_replaced, int sig, struct kernel_siginfo *info, struct task_struct *task,
	     int group, int result)
{
	struct rr_head e = { .bytes = sizeof(e), .type = RR_EV_REPLACED };
	struct rr_task *t;

	if (sig != SIG_ILL || task != bpf_get_current_task_btf())
		return 0;
	t = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (!t || !is_of_insn(task, sig, info))
		return 0;
	e.tid = t->tid;
	submit(&e, sizeof(e), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* The threads that are recorded and have not ended. It also learns who the recorder is. */
SEC("iter/task")
int rr_recorded(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task, *reader = bpf_get_current_task_btf();
	struct rr_recorded e = {};
	struct rr_task *t;

	if (!task) {
		if (counts.recorder)
			return 0;
		counts.level = level_of(reader);
		counts.recorder = reader->tgid;
		counts.mounts = (u64)BPF_CORE_READ(reader, nsproxy, mnt_ns);
		return 0;
	}
	t = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (!t || task->exit_state)
		return 0;
	e.tid = id_of(task);
	e.pid = id_of(task->group_leader);
	e.stopped = (task->__state & TASK_STOPPED) != 0;
	bpf_probe_read_kernel_str(e.comm, sizeof(e.comm), task->comm);
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}

char LICENSE[] __weak SEC("license") = "Dual MIT/GPL";
