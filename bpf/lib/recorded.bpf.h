/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef RECORDED_BPF_H
#define RECORDED_BPF_H

/* Who is recorded, and where events go: between the recorder's programs. */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "shared/rr.h"

#define S_IFMT	0170000
#define S_IFREG	0100000

const volatile struct rr_config cfg __weak = {};
struct rr_counts counts __weak = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RR_RING_BYTES);
} events __weak SEC(".maps");

/*
 * A thread that is recorded, the call that a signal broke off, the last one that returned
 * -ENOSYS, where nothing returned since, and where a signal met the thread behind such a one.
 */
struct rr_task {
	u32 tid, broken_nr;
	u64 broken_arg[6];
	u64 nosys_ns, nosys_nr, nosys_ip, nosys_sp;	/* when it did; 0: none */
	u64 met_ip, met_sp;	/* 0: nowhere */
};
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct rr_task);
} tasks __weak SEC(".maps");

static __always_inline void submit(void *data, u32 bytes, u64 flags)
{
	if (bpf_ringbuf_output(&events, data, bytes, flags))
		__sync_fetch_and_add(&counts.lost, 1);
}

/* A task's id as it is known @level pid namespaces down; 0 where it has none. */
static __always_inline u32 id_at(struct task_struct *task, u32 level)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	u32 nr = 0;

	if (!pid || level > BPF_CORE_READ(pid, level))
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr),
			      (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			      level * bpf_core_type_size(struct upid) +
			      bpf_core_field_offset(struct upid, nr));
	return nr;
}

/* How far down its own pid namespace is. */
static __always_inline u32 level_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_pid, level);
}

/* As the recorder knows it: what is recorded may make namespaces of its own. */
static __always_inline u32 id_of(struct task_struct *task)
{
	return counts.level ? id_at(task, counts.level) : (u32)task->pid;
}

/* What a descriptor is open to; NULL where it is none. */
static __always_inline struct file *file_at(struct task_struct *task, u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **fds = BPF_CORE_READ(fdt, fd), *file = NULL;

	if (fd >= BPF_CORE_READ(fdt, max_fds) ||
	    bpf_probe_read_kernel(&file, sizeof(file), fds + fd))
		return NULL;
	return file;
}

#endif
