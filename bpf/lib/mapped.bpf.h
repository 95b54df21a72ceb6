/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef MAPPED_BPF_H
#define MAPPED_BPF_H

/*
 * What a mapped file is: told with the call, since by the time that somebody looks into /proc
 * the mapping may be gone. Names are walked over mounts up to the root of the namespace; in
 * another than the recorder's they say nothing to it, and it looks.
 */
#include "lib/recorded.bpf.h"

struct inode___66 {
	struct timespec64 { long long tv_sec; long tv_nsec; } i_mtime, __i_ctime;
} __attribute__((preserve_access_index));
struct inode___67 { struct timespec64 __i_mtime; } __attribute__((preserve_access_index));
struct inode___5 { struct timespec64 i_ctime; } __attribute__((preserve_access_index));

/* An event in the making, and where the walk over its names is. */
struct mapped_file {
	struct dentry *at;
	struct mount *mount;
	u32 used, last;		/* of .data: bytes, and where the last name begins */
	u32 whole;		/* the walk got to the root */
	u8 data[(RR_NAMES_MOST + 2) * RR_NAME_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct mapped_file);
} mapped SEC(".maps");

#define NS(sec, nsec) ((u64)(sec) * 1000000000u + (u64)(nsec))
#define CTIME_QUERIED (1u << 31)	/* in the nanoseconds, since 6.13: it was asked for */

/* i_ctime has another name since 6.6, i_mtime since 6.7; both are two words since 6.11. */
static __always_inline void read_times(struct rr_ev_mapped *e, struct inode *inode)
{
	struct inode___67 *i67 = (void *)inode;
	struct inode___66 *i66 = (void *)inode;
	struct inode___5 *i5 = (void *)inode;

	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		e->mtime_ns = NS(BPF_CORE_READ(inode, i_mtime_sec),
				 BPF_CORE_READ(inode, i_mtime_nsec));
		e->ctime_ns = NS(BPF_CORE_READ(inode, i_ctime_sec),
				 BPF_CORE_READ(inode, i_ctime_nsec) & ~CTIME_QUERIED);
		return;
	}
	if (bpf_core_field_exists(i67->__i_mtime))
		e->mtime_ns = NS(BPF_CORE_READ(i67, __i_mtime.tv_sec),
				 BPF_CORE_READ(i67, __i_mtime.tv_nsec));
	else
		e->mtime_ns = NS(BPF_CORE_READ(i66, i_mtime.tv_sec),
				 BPF_CORE_READ(i66, i_mtime.tv_nsec));
	if (bpf_core_field_exists(i66->__i_ctime))
		e->ctime_ns = NS(BPF_CORE_READ(i66, __i_ctime.tv_sec),
				 BPF_CORE_READ(i66, __i_ctime.tv_nsec));
	else
		e->ctime_ns = NS(BPF_CORE_READ(i5, i_ctime.tv_sec),
				 BPF_CORE_READ(i5, i_ctime.tv_nsec));
}

/* One name, or from a mount's root to where it is mounted. */
static long name_step(u64 i, void *ctx)
{
	u32 zero = 0, at;
	struct mapped_file *m = bpf_map_lookup_elem(&mapped, &zero);
	struct dentry *here, *parent;
	struct mount *mount;
	long n;

	if (!m)
		return 1;
	here = m->at;
	mount = m->mount;
	parent = BPF_CORE_READ(here, d_parent);
	if (here == BPF_CORE_READ(mount, mnt.mnt_root) || here == parent) {
		m->at = BPF_CORE_READ(mount, mnt_mountpoint);
		m->mount = BPF_CORE_READ(mount, mnt_parent);
		m->whole = m->mount == mount;
		return m->whole;
	}
	at = m->used;
	if (at > RR_NAMES_MOST * RR_NAME_BYTES)
		return 1;
	n = bpf_probe_read_kernel_str(m->data + at, RR_NAME_BYTES,
				      BPF_CORE_READ(here, d_name.name));
	if (n <= 1)
		return 1;
	m->last = at;
	m->used = at + n;
	m->at = parent;
	return 0;
}

static __always_inline bool is_system_dir(const u8 *name)
{
	u32 i, k;

	for (i = 0; i < RR_NSYSTEM; i++) {
		for (k = 0; k < RR_SYSTEM_BYTES; k++) {
			if (name[k] != rr_system_dirs[i][k])
				break;
			if (!name[k])
				return true;
		}
	}
	return false;
}

/* The event of @file, which @tid's call is about to be said to have mapped: its flags. */
static __always_inline u16 send_mapped(struct file *file, u32 tid)
{
	u32 zero = 0, last;
	struct mapped_file *m = bpf_map_lookup_elem(&mapped, &zero);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	struct dentry *name;
	struct rr_ev_mapped *e;
	u16 flags = 0;

	/* Behind a device's name there may be another file, as of /dev/zero, shared. */
	if (!m || !inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFREG)
		return 0;
	m->at = name = BPF_CORE_READ(file, f_path.dentry);
	m->mount = (void *)BPF_CORE_READ(file, f_path.mnt) -
		   bpf_core_field_offset(struct mount, mnt);
	m->used = sizeof(*e);
	m->last = m->whole = 0;
	/* A name that is gone is not its own any more. */
	if (BPF_CORE_READ(name, d_hash.pprev))
		bpf_loop(2 * RR_NAMES_MOST, name_step, NULL, 0);
	last = m->last;
	if (!m->whole || last > RR_NAMES_MOST * RR_NAME_BYTES)
		m->used = sizeof(*e);
	else if (last && is_system_dir(m->data + last) && counts.mounts ==
		 (u64)BPF_CORE_READ(bpf_get_current_task_btf(), nsproxy, mnt_ns))
		flags = RR_MAPPED_SYSTEM;
	e = (void *)m->data;
	*e = (struct rr_ev_mapped){
		.head = { .bytes = m->used, .type = RR_EV_MAPPED, .flags = flags, .tid = tid },
		.ino = BPF_CORE_READ(inode, i_ino), .dev = BPF_CORE_READ(inode, i_sb, s_dev),
		.size = BPF_CORE_READ(inode, i_size), .name_bytes = m->used - sizeof(*e),
	};
	read_times(e, inode);
	if (m->used <= sizeof(m->data))
		submit(m->data, m->used, BPF_RB_NO_WAKEUP);
	return flags;
}

#endif
