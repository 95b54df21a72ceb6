/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef LIB_PATH_BPF_H
#define LIB_PATH_BPF_H

/*
 * -P PATH, as strace means it: a call counts when one of its path arguments is
 * PATH to the letter, or one of its descriptors is open on the file PATH named
 * when the trace began.
 */
#include "lib/pipe.bpf.h"

/* By call: bit i is set when argument i is a path, a descriptor. */
const volatile u8 call_path_args[LIVE_NR_CALLS] __weak = {};
const volatile u8 call_fd_args[LIVE_NR_CALLS] __weak = {};

static __always_inline u64 call_arg(struct pt_regs *regs, u32 i)
{
	switch (i) {
	case 0: return regs->di;
	case 1: return regs->si;
	case 2: return regs->dx;
	case 3: return regs->r10;
	case 4: return regs->r8;
	}
	return regs->r9;
}

static __noinline bool path_is(u64 user, u32 which)
{
	char have[LIVE_PATH_BYTES];
	long n = bpf_probe_read_user_str(have, sizeof(have), (void *)user);
	u32 i;

	if (n <= 0)
		return false;
	for (i = 0; i < LIVE_PATH_BYTES; i++) {
		if (have[i] != cfg.path[which][i])
			return false;
		if (!have[i])
			return true;
	}
	return true;
}

static __always_inline bool path_fd_is(struct file *file)
{
	u64 ino = BPF_CORE_READ(file, f_inode, i_ino);
	u32 dev = BPF_CORE_READ(file, f_inode, i_sb, s_dev), w;

	for (w = 0; w < LIVE_PATHS; w++)
		if (w < cfg.npaths && cfg.path_ino[w] == ino && cfg.path_dev[w] == dev && ino)
			return true;
	return false;
}

static __noinline bool path_match(struct pt_regs *regs, u32 paths, u32 fds)
{
	struct file *file;
	u32 i, w;

	for (i = 0; i < 6; i++) {
		if (paths & (1U << i))
			for (w = 0; w < LIVE_PATHS; w++)
				if (w < cfg.npaths && path_is(call_arg(regs, i), w))
					return true;
		if (fds & (1U << i)) {
			file = fd_file(bpf_get_current_task_btf(), call_arg(regs, i));
			if (file && path_fd_is(file))
				return true;
		}
	}
	return false;
}

static __always_inline void path_note(struct task_state *st, u32 nr, struct pt_regs *regs)
{
	nr &= LIVE_NR_CALLS - 1;
	if (path_match(regs, call_path_args[nr], call_fd_args[nr]))
		st->flags |= ST_PATH;
	else
		st->flags &= ~ST_PATH;
}

#endif
