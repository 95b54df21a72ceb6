/* SPDX-License-Identifier: (GPL-2.0-only OR MIT) */
#ifndef INSN_BPF_H
#define INSN_BPF_H

/* Instructions that the recorder has replaced, and their signals. */
#include "lib/recorded.bpf.h"
#include "shared/rr_insn.h"

#define SIG_ILL		4
#define TRAP_UD		6	/* X86_TRAP_UD */

/* Whether one that was replaced is at @ip. */
static __always_inline bool is_replaced(u64 ip)
{
	const u32 page = 4096 - (ip & 4095);
	u64 code = 0;

	if (bpf_probe_read_user(&code, sizeof(code), (void *)ip) &&
	    bpf_probe_read_user(&code, page & 7, (void *)ip))
		return false;
	return rr_insn_is_replaced(code);
}

static __always_inline bool is_of_insn(struct task_struct *task, int sig,
				       struct kernel_siginfo *info)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	/* Nobody sent it: si_code is above zero. */
	return sig == SIG_ILL && BPF_CORE_READ(info, si_code) > 0 &&
	       BPF_CORE_READ(task, thread.trap_nr) == TRAP_UD && is_replaced(regs->ip);
}

#endif
