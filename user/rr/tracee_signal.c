/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the kernel builds a signal's frame, as it did when it was recorded: it is given the
 * same handler, mask and alternate stack, and the signal. What a return from a handler brings
 * back is read from the frame here, so that no call has to be made on the program's stack.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "rr/tracee.h"
#include "shared/rr.h"

#define ROOM_AT 64		/* in our page, behind the stub */
#define FRAME_CONTEXT 8		/* struct rt_sigframe: behind the restorer's address */
#define CONTEXT_REGS 40		/* struct ucontext: behind flags, link and stack */
#define FP_MAGIC1 0x46505853u	/* <asm/sigcontext.h> */
#define FP_SW_AT 464		/* of the floating-point state: magic, sizes, features */
#define FP_LEGACY_BYTES 512
#define XSTATE_MOST 16384

#define CONTEXT_MASK 256		/* behind the registers */
#define CONTEXT_ALT_FLAGS 24	/* of the alternate stack, before the registers */

/* struct sigcontext, <asm/sigcontext.h>. */
struct frame_regs {
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
		eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t err, trapno, oldmask, cr2, fpstate;
};

struct kernel_action { uint64_t handler, flags, restorer, mask; };
struct kernel_stack { uint64_t sp; int flags, pad; uint64_t size; };

/* A call with a struct in our page as argument @which. */
static int call_with(struct tracee *t, uint64_t nr, const uint64_t arg[6], int which,
		     const void *data, size_t n, struct err *err)
{
	uint64_t a[6];
	long ret;
	int r;

	memcpy(a, arg, sizeof(a));
	a[which] = t->page + ROOM_AT;
	if (tracee_write(t, t->page + ROOM_AT, data, n))
		return err_set(err, EFAULT, "cannot write to the replay");
	r = tracee_call(t, &ret, err, nr, a);
	return r || !ret ? r : err_sys(err, (int)-ret, "cannot prepare a signal of the replay");
}

static int unblock(struct tracee *t, struct err *err)
{
	const uint64_t none = 0;

	if (ptrace(PTRACE_SETSIGMASK, t->pid, sizeof(none), &none))
		return err_sys(err, errno, "cannot set the replay's signals");
	return 0;
}

static int prepare(struct tracee *t, const struct rr_ev_signal *e, struct err *err)
{
	const struct kernel_action act = { e->handler, e->sa_flags, e->restorer, e->sa_mask };
	const struct kernel_stack alt = { e->alt_sp, e->alt_size ? (int)e->alt_flags : SS_DISABLE,
					  0, e->alt_size };
	const uint64_t action[6] = { e->sig, 0, 0, 8 }, stack[6] = { 0 };
	int r = call_with(t, SYS_rt_sigaction, action, 1, &act, sizeof(act), err);

	r = r ? r : call_with(t, SYS_sigaltstack, stack, 0, &alt, sizeof(alt), err);
	/* None is blocked, or it would not come: sigsuspend brings back a mask that blocks it. */
	return r ? r : unblock(t, err);
}

/*
 * What the frame has of the thread's last fault, and of the signal. A thread that never had an
 * alternate stack has flags of 0, which no sigaltstack can bring back: that makes SS_DISABLE.
 */
static int patch(struct tracee *t, const struct rr_ev_signal *e, struct err *err)
{
	const uint64_t regs = t->regs.rsp + FRAME_CONTEXT + CONTEXT_REGS;
	const uint64_t fault[2] = { e->error, e->trap };
	unsigned char info[128] = { 0 };

	memcpy(info, e->info, sizeof(e->info));
	if (tracee_write(t, regs + offsetof(struct frame_regs, err), fault, sizeof(fault)) ||
	    tracee_write(t, regs + offsetof(struct frame_regs, cr2), &e->cr2, sizeof(e->cr2)) ||
	    tracee_write(t, regs + offsetof(struct frame_regs, oldmask), &e->blocked, 8) ||
	    tracee_write(t, regs + CONTEXT_MASK, &e->blocked, 8) ||
	    tracee_write(t, t->regs.rsp + FRAME_CONTEXT + CONTEXT_ALT_FLAGS, &e->alt_flags, 4) ||
	    (e->sa_flags & SA_SIGINFO && t->regs.rsi &&
	     tracee_write(t, t->regs.rsi, info, sizeof(info))))
		return err_set(err, EFAULT, "cannot write a signal's frame");
	return unblock(t, err);
}

int tracee_signal(struct tracee *t, const struct rr_ev_signal *e, struct err *err)
{
	int status, r = prepare(t, e, err);

	if (r)
		return r;
	if (ptrace(PTRACE_SINGLESTEP, t->pid, 0, e->sig) ||
	    waitpid(t->pid, &status, __WALL) != t->pid)
		return err_sys(err, errno, "cannot signal the replay");
	if (!WIFSTOPPED(status) || (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSEGV))
		return err_set(err, EPROTO, "a signal of the replay ended in status %#x", status);
	if (ptrace(PTRACE_GETREGS, t->pid, 0, &t->regs))
		return err_sys(err, errno, "cannot read the replay's registers");
	if (WSTOPSIG(status) == SIGSEGV)
		return 1;
	if (t->regs.rip != e->handler)
		return err_set(err, EPROTO, "a signal of the replay ended at %#llx",
			       (unsigned long long)t->regs.rip);
	t->regs.eflags &= ~0x100ull;	/* of the step */
	r = tracee_set_regs(t, err);
	return r ? r : patch(t, e, err);
}

static int restore_fpu(struct tracee *t, uint64_t at, struct err *err)
{
	static unsigned char area[XSTATE_MOST] __attribute__((aligned(64)));
	uint32_t sw[6];
	size_t bytes;
	int r;

	if (!at)
		return tracee_reset_fpu(t, err);
	r = tracee_get_fpu(t, area, sizeof(area), &bytes, err);
	if (r)
		return r;
	if (tracee_read(t, sw, at + FP_SW_AT, sizeof(sw)))
		return err_set(err, EFAULT, "cannot read a signal's frame");
	/* magic1, extended size, features (two words), size of the state */
	if (sw[0] == FP_MAGIC1 && sw[4] <= bytes) {
		if (tracee_read(t, area, at, sw[4]))
			return err_set(err, EFAULT, "cannot read a signal's frame");
	} else if (tracee_read(t, area, at, FP_LEGACY_BYTES)) {
		return err_set(err, EFAULT, "cannot read a signal's frame");
	}
	memset(area + FP_SW_AT, 0, FP_LEGACY_BYTES - FP_SW_AT);
	return tracee_set_fpu(t, area, bytes, err);
}

int tracee_sigreturn(struct tracee *t, struct err *err)
{
	struct user_regs_struct *g = &t->regs;
	struct frame_regs f;
	int r;

	/* The handler's return has taken the restorer's address off. */
	if (tracee_read(t, &f, g->rsp + CONTEXT_REGS, sizeof(f)))
		return err_set(err, EFAULT, "cannot read a signal's frame");
	r = restore_fpu(t, f.fpstate, err);
	if (r)
		return r;
	g->r8 = f.r8; g->r9 = f.r9; g->r10 = f.r10; g->r11 = f.r11; g->r12 = f.r12;
	g->r13 = f.r13; g->r14 = f.r14; g->r15 = f.r15; g->rdi = f.rdi; g->rsi = f.rsi;
	g->rbp = f.rbp; g->rbx = f.rbx; g->rdx = f.rdx; g->rax = f.rax; g->rcx = f.rcx;
	g->rsp = f.rsp; g->rip = f.rip;
	/* What a program may set of the flags (FIX_EFLAGS, arch/x86/kernel/signal_64.c). */
	g->eflags = (g->eflags & ~0x40dd5ull) | (f.eflags & 0x40dd5ull);
	g->orig_rax = (unsigned long long)-1;
	return tracee_set_regs(t, err);
}
