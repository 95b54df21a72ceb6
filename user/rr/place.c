/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a breakpoint at the instruction, and at each pass a look at all registers, then at
 * the stack. The first that fits is taken. A string instruction is a loop of its own: it is
 * gone through step by step.
 */
#include "rr/place.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FLAGS_SEEN 0xcd5u	/* carry to overflow; not those of traps and steps */
#define INT3 0xcc

bool place_is_here(const struct tracee *t, const struct rr_place *at)
{
	const struct user_regs_struct *r = &t->regs;
	unsigned char stack[RR_STACK_BYTES];

	if (r->rip != at->ip || r->rsp != at->sp || r->rcx != at->cx || r->rax != at->ax ||
	    r->rbx != at->bx || r->rdx != at->dx || r->rsi != at->si || r->rdi != at->di ||
	    r->rbp != at->bp || r->r8 != at->r8 || r->r9 != at->r9 || r->r10 != at->r10 ||
	    r->r11 != at->r11 || r->r12 != at->r12 || r->r13 != at->r13 || r->r14 != at->r14 ||
	    r->r15 != at->r15 || (r->eflags ^ at->flags) & FLAGS_SEEN)
		return false;
	if (at->stack_bytes != sizeof(stack))
		return true;
	return !tracee_read(t, stack, at->sp - RR_STACK_BELOW, sizeof(stack)) &&
	       !memcmp(stack, at->stack, sizeof(stack));
}

/* rep movs, stos, lods, cmps, scas, ins or outs: a prefix of F2 or F3 before one of these. */
static bool is_string(const struct tracee *t)
{
	unsigned char code[4];
	bool rep = false;

	if (tracee_read(t, code, t->regs.rip, sizeof(code)))
		return false;
	for (size_t i = 0; i < sizeof(code); i++) {
		if (code[i] == 0xf2 || code[i] == 0xf3)
			rep = true;
		else if (code[i] != 0x66 && code[i] != 0x67 && (code[i] & 0xf0) != 0x40)
			return rep && ((code[i] >= 0xa4 && code[i] <= 0xa7) ||
				       (code[i] >= 0xaa && code[i] <= 0xaf));
	}
	return false;
}

/* One instruction. 1; 0: it is a call, at which it stands, or signal *sig; -errno. */
static int step(struct tracee *t, int *sig, struct err *err)
{
	int r = tracee_step(t, sig, err);

	if (r < 0)
		return r;
	return *sig == SIGTRAP;
}

/* Past the instruction at @ip, which @at may be within. As step(), and 2: it is there. */
static int step_over(struct tracee *t, const struct rr_place *at, int *sig, struct err *err)
{
	const bool string = is_string(t);
	int r;

	do {
		r = step(t, sig, err);
		if (r > 0 && place_is_here(t, at))
			return 2;
	} while (r > 0 && string && t->regs.rip == at->ip);
	return r;
}

static int set_byte(struct tracee *t, uint64_t at, unsigned char c, struct err *err)
{
	if (!tracee_write(t, at, &c, 1))
		return 0;
	return err_set(err, EFAULT, "cannot set a breakpoint at %#llx of the replay",
		       (unsigned long long)at);
}

/* To the next pass of @at->ip: 1, with the breakpoint's instruction taken back. */
static int next_pass(struct tracee *t, const struct rr_place *at, unsigned char was, int *sig,
		     struct err *err)
{
	int r = set_byte(t, at->ip, INT3, err), back;

	t->patch = at->ip;
	t->patch_bytes = 1;
	t->patch_was[0] = was;
	while (!r) {
		r = tracee_run(t, sig, err);
		if (r <= 0 || t->regs.orig_rax != SYS_rt_sigreturn)
			break;
		r = tracee_sigreturn(t, err);
	}
	back = set_byte(t, at->ip, was, err);
	t->patch_bytes = 0;
	if (r < 0 || back)
		return r < 0 ? r : back;
	if (r || *sig != SIGTRAP || t->regs.rip != at->ip + 1)
		return 0;
	t->regs.rip = at->ip;
	r = tracee_set_regs(t, err);
	return r ? r : 1;
}

int place_run_to(struct tracee *t, const struct rr_place *at, int *sig, struct err *err)
{
	unsigned char was;
	int r;

	*sig = 0;
	if (place_is_here(t, at))
		return 1;
	if (tracee_read(t, &was, at->ip, 1))
		return err_set(err, EILSEQ, "there is no code at %#llx",
			       (unsigned long long)at->ip);
	for (;;) {
		/* It may stand at the instruction, in another round. */
		if (t->regs.rip == at->ip) {
			r = step_over(t, at, sig, err);
			if (r != 1)
				return r == 2 ? 1 : r;
		}
		r = next_pass(t, at, was, sig, err);
		if (r <= 0 || place_is_here(t, at))
			return r;
	}
}
