/* SPDX-License-Identifier: MIT */
/* A thread of a replay runs: to its next call, or to where a signal met it. */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "rr/replay_state.h"

/*
 * A call that a signal broke off, without a handler that ran, is made again: at the same
 * place, or by restart_syscall (arch/x86/kernel/signal.c).
 */
static int go_on(struct replayer *p, struct rthread *t)
{
	struct user_regs_struct *g = &t->space->t.regs;

	if (!t->broken)
		return 0;
	g->rax = (long long)g->rax == -516 ? SYS_restart_syscall : t->broken_nr;
	g->rip -= 2;
	g->orig_rax = (unsigned long long)-1;
	t->broken = false;
	return tracee_set_regs(&t->space->t, p->err);
}

int replay_to_call(struct replayer *p, struct rthread *t)
{
	int sig, r;

	if (t->at_call)
		return 0;
	r = rthread_enter(t, p->err);
	r = r ? r : go_on(p, t);
	if (r)
		return r;
	for (;;) {
		r = tracee_run(&t->space->t, &sig, p->err);
		if (r <= 0 || t->space->t.regs.orig_rax != SYS_rt_sigreturn)
			break;
		r = tracee_sigreturn(&t->space->t, p->err);
		if (r)
			return r;
	}
	if (r < 0)
		return r;
	if (!r)
		return replay_fail(p, t, EILSEQ, "signal %d at %#llx was not recorded", sig,
				   (unsigned long long)t->space->t.regs.rip);
	t->at_call = true;
	return 0;
}

static bool is_fault(uint32_t sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

/* Brings the thread to where the signal met it. */
static int run_to_signal(struct replayer *p, struct rthread *t, const struct rr_ev_signal *e)
{
	struct user_regs_struct *g;
	int sig, r = rthread_enter(t, p->err);

	if (r)
		return r;
	g = &t->space->t.regs;
	if (!t->at_call && g->rip == e->ip && g->rsp == e->sp)
		return 0;
	if (!is_fault(e->sig))
		return replay_fail(p, t, ENOSYS, "signal %u at %#llx, between calls, cannot be "
				   "replayed yet", e->sig, (unsigned long long)e->ip);
	r = go_on(p, t);
	do {
		r = r ? r : tracee_run(&t->space->t, &sig, p->err);
		if (r > 0 && g->orig_rax == SYS_rt_sigreturn)
			r = tracee_sigreturn(&t->space->t, p->err);
		else
			break;
	} while (!r);
	if (r < 0)
		return r;
	if (r || sig != (int)e->sig || g->rip != e->ip)
		return replay_fail(p, t, EILSEQ, "signal %u was at %#llx, and there is %s at %#llx",
				   e->sig, (unsigned long long)e->ip,
				   r ? replay_call_name(g->orig_rax) : "another",
				   (unsigned long long)g->rip);
	return 0;
}

int replay_signal(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_signal *e = (const void *)h;
	int r;

	if (h->bytes < sizeof(*e) || !e->sig || e->sig > 64)
		return replay_damaged(p, "a signal");
	r = run_to_signal(p, t, e);
	if (r)
		return r;
	/* The kernel looks at these two when it was in a call. */
	if (t->broken) {
		t->space->t.regs.orig_rax = t->broken_nr;
		r = tracee_set_regs(&t->space->t, p->err);
	}
	t->broken = false;
	return r ? r : tracee_signal(&t->space->t, e, p->err);
}
