/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef VMLINUX_H
#define VMLINUX_H

/*
 * The kernel types that our programs read, with the fields they read and no
 * others: CO-RE finds the real offsets at load. NOTES says where each is from
 * and since when; `make check-vmlinux` holds them against the running kernel.
 */
#include <linux/bpf.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef int pid_t;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, flags, sp;
};

struct ns_common { unsigned int inum; };
struct pid_namespace { struct ns_common ns; };
struct upid { int nr; struct pid_namespace *ns; };
struct pid { unsigned int level; struct upid numbers[1]; };

struct super_block { unsigned int s_dev; unsigned long s_magic; };
struct rb_node { struct rb_node *rb_left; };
struct rb_root { struct rb_node *rb_node; };
struct rb_root_cached { struct rb_root rb_root; };
typedef struct { int counter; } atomic_t;
struct address_space { atomic_t i_mmap_writable; struct rb_root_cached i_mmap; };
struct inode {
	unsigned short i_mode;
	struct address_space *i_mapping;
	unsigned long i_ino;
	struct super_block *i_sb;
	long long i_size;
	long long i_mtime_sec;
	unsigned int i_mtime_nsec;
	long long i_ctime_sec;
	unsigned int i_ctime_nsec;
};
struct hlist_bl_node { struct hlist_bl_node **pprev; };
struct qstr { const unsigned char *name; };
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};
struct vfsmount { struct dentry *mnt_root; };
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path { struct vfsmount *mnt; struct dentry *dentry; };
struct file_operations;
struct file {
	unsigned int f_mode;
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
	const struct file_operations *f_op;
};
struct fdtable { unsigned int max_fds; struct file **fd; };
struct files_struct { struct fdtable *fdt; };

struct sock_common { unsigned short skc_family; };
struct socket;
struct pipe_inode_info { unsigned int head, tail; };
struct sock { struct sock_common __sk_common; struct socket *sk_socket; };
struct socket { struct file *file; struct sock *sk; };
struct socket_alloc { struct socket socket; struct inode vfs_inode; };
struct unix_sock { struct sock *peer; };
struct eventfd_ctx { int id; };

struct kernfs_node { u64 id; };
struct cgroup { int level; struct kernfs_node *kn; struct cgroup *ancestors[1]; };
struct css_set { struct cgroup *dfl_cgrp; };

typedef struct { unsigned int val; } kuid_t;
typedef struct { unsigned int val; } kgid_t;
struct user_namespace { struct user_namespace *parent; kuid_t owner; };
typedef struct { u64 val; } kernel_cap_t;
struct cred {
	kuid_t uid, suid, euid;
	kgid_t gid, sgid, egid;
	kernel_cap_t cap_permitted;
	struct user_namespace *user_ns;
};
struct mm_struct { unsigned long flags; };
struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_flags, vm_pgoff;
	struct file *vm_file;
};

struct thread_info { u32 status; };
struct thread_struct { unsigned long fsbase, cr2, trap_nr, error_code; };
typedef struct { unsigned long sig[1]; } sigset_t;
struct sigaction { void *sa_handler; unsigned long sa_flags; void *sa_restorer; sigset_t sa_mask; };
struct k_sigaction { struct sigaction sa; };
struct kernel_siginfo { int si_code; };
struct signal_struct { unsigned int flags; };
struct mnt_namespace;
struct nsproxy { struct mnt_namespace *mnt_ns; };
struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int exit_state, exit_code, on_cpu;
	pid_t pid, tgid;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	u64 start_time;
	const struct cred *real_cred, *cred;
	char comm[16];
	struct files_struct *files;
	struct mm_struct *mm;
	struct signal_struct *signal;
	struct nsproxy *nsproxy;
	int *clear_child_tid;
	struct css_set *cgroups;
	unsigned int restore_sigmask: 1;
	sigset_t blocked, saved_sigmask;
	unsigned long sas_ss_sp, sas_ss_size;
	unsigned int sas_ss_flags;
	struct thread_struct thread;
};

struct linux_binprm;
struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; u64 session_id, seq_num; };
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };

#pragma clang attribute pop

#endif
