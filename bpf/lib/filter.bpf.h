/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_FILTER_BPF_H
#define LIB_FILTER_BPF_H

/*
 * Which threads are traced. Targets are process ids of the tracer's namespace;
 * comm, cgroup and uid narrow them, or choose by themselves when no target is
 * named. A traced thread's children are traced without being asked again.
 */
#include "lib/state.bpf.h"
#include "shared/commre.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);	/* LIVE_TARGET_OWN */
} targets __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct commre);
} comm_dfa __weak SEC(".maps");

struct mm_flags___618 { unsigned long __mm_flags[1]; } __attribute__((preserve_access_index));
struct mm_struct___618 { struct mm_flags___618 flags; } __attribute__((preserve_access_index));

static __always_inline bool comm_matches(struct task_struct *task)
{
	struct commre *re;
	char comm[LIVE_COMM];
	u32 zero = 0;

	re = bpf_map_lookup_elem(&comm_dfa, &zero);
	if (!re)
		return false;
	bpf_probe_read_kernel(comm, sizeof(comm), task->comm);
	return commre_match(re, comm);
}

/* Until 6.0 a cgroup knew its ancestors by their ids. */
struct cgroup___60 { u64 ancestor_ids[1]; } __attribute__((preserve_access_index));

static __always_inline bool cgroup_matches(struct task_struct *task)
{
	struct cgroup *cg = BPF_CORE_READ(task, cgroups, dfl_cgrp), *at = NULL;
	u32 level = cfg.cgroup_level;
	u64 id = 0;

	if (!cg || BPF_CORE_READ(cg, level) < (int)level)
		return false;
	if (!bpf_core_field_exists(struct cgroup, ancestors)) {
		bpf_probe_read_kernel(&id, sizeof(id), (void *)cg + level * sizeof(id) +
				      bpf_core_field_offset(struct cgroup___60, ancestor_ids));
		return id == cfg.cgroup_id;
	}
	bpf_probe_read_kernel(&at, sizeof(at),
			      (void *)cg + bpf_core_field_offset(struct cgroup, ancestors) +
			      level * sizeof(at));
	return at && BPF_CORE_READ(at, kn, id) == cfg.cgroup_id;
}

/* Namespaces of user ids within each other that are looked through; few have more than three. */
#define USER_NS_DEPTH 8

/*
 * As ptrace(2) has it: a process with a capability that the user has not is not
 * the user's, unless it has it in a user namespace of the user's own.
 */
static __always_inline bool caps_match(const struct cred *cred)
{
	struct user_namespace *ns = BPF_CORE_READ(cred, user_ns), *parent;
	u64 caps = ~0ULL;
	int i;

	if ((u64)ns == self.user_ns) {
		bpf_probe_read_kernel(&caps, sizeof(caps), (void *)cred +
				      bpf_core_field_offset(struct cred, cap_permitted));
		return !(caps & ~cfg.own_caps);
	}
	for (i = 0; i < USER_NS_DEPTH && ns; i++) {
		parent = BPF_CORE_READ(ns, parent);
		if ((u64)parent == self.user_ns)
			return BPF_CORE_READ(ns, owner.val) == cfg.uid;
		ns = parent;
	}
	return false;
}

/*
 * Without uid 0 only one's own processes that may be traced anyway. By the
 * objective credentials: the others may be lent to a thread for a while by the
 * kernel, in a file system of somebody else's making.
 */
static __always_inline bool uid_matches(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	const struct cred *cred = BPF_CORE_READ(task, real_cred);
	unsigned long flags;

	/* All six, as ptrace(2) has it: root that took our id as its real one is root. */
	if (!mm || BPF_CORE_READ(cred, uid.val) != cfg.uid ||
	    BPF_CORE_READ(cred, euid.val) != cfg.uid || BPF_CORE_READ(cred, suid.val) != cfg.uid ||
	    BPF_CORE_READ(cred, gid.val) != cfg.gid ||
	    BPF_CORE_READ(cred, egid.val) != cfg.gid || BPF_CORE_READ(cred, sgid.val) != cfg.gid)
		return false;
	if (bpf_core_field_exists(struct mm_struct___618, flags.__mm_flags))
		flags = BPF_CORE_READ((struct mm_struct___618 *)mm, flags.__mm_flags[0]);
	else
		flags = BPF_CORE_READ(mm, flags);
	return (flags & 3) == 1 && caps_match(cred);	/* SUID_DUMP_USER */
}

/* A process outside the tracer's namespace has no name here: it stays unseen. */
static __always_inline bool in_namespace(struct task_struct *task)
{
	u32 level = self.ns_level;
	struct pid_namespace *ns = NULL;
	struct pid *pid;

	if (level == 0)
		return true;
	pid = BPF_CORE_READ(task, thread_pid);
	if (!pid || BPF_CORE_READ(pid, level) < level)
		return false;
	bpf_probe_read_kernel(&ns, sizeof(ns),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid) +
			      bpf_core_field_offset(struct upid, ns));
	return ns && BPF_CORE_READ(ns, ns.inum) == self.ns_inum;
}

/*
 * The tracer, and what it begins to help it: tracer-sym, a fetch of debug files. Older
 * children are a shell's that became tracer by exec; of run, its child is the target.
 */
static __always_inline bool is_ours(struct task_struct *task)
{
	return (u32)task->tgid == self.tgid ||
	       (!cfg.targets_only && task->start_time >= self.since_ns &&
		(u32)BPF_CORE_READ(task, real_parent, tgid) == self.tgid);
}

static __always_inline bool filter_matches_but_comm(struct task_struct *task)
{
	if (is_ours(task) || !in_namespace(task))
		return false;
	if (cfg.cgroup_filter && !cgroup_matches(task))
		return false;
	if (cfg.user_filter && BPF_CORE_READ(task, real_cred, euid.val) != cfg.user)
		return false;
	return !cfg.uid_filter || uid_matches(task);
}

static __always_inline bool filter_matches(struct task_struct *task)
{
	return (!cfg.comm_filter || comm_matches(task)) && filter_matches_but_comm(task);
}

#endif
