/* SPDX-License-Identifier: MIT */
/* A thread of a replay runs: to its next call, or to where a signal met it. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "rr/machcode.h"
#include "rr/place.h"
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

int replay_run_on(struct replayer *p, struct rthread *t, int *sig)
{
	int r = rthread_enter(t, p->err);

	r = r ? r : go_on(p, t);
	while (!r) {
		r = tracee_run(&t->space->t, sig, p->err);
		if (r <= 0 || t->space->t.regs.orig_rax != SYS_rt_sigreturn)
			break;
		r = tracee_sigreturn(&t->space->t, p->err);
	}
	return r;
}

int replay_to_call(struct replayer *p, struct rthread *t)
{
	int sig, r;

	if (t->at_call)
		return rthread_enter(t, p->err);
	t->after_call = false;
	r = replay_run_on(p, t, &sig);
	if (r < 0)
		return r;
	if (!r)
		return replay_fail(p, t, EILSEQ, "signal %d at %#llx was not recorded", sig,
				   (unsigned long long)t->space->t.regs.rip);
	t->at_call = true;
	return replay_passed(p, t);
}

int replay_to_place(struct replayer *p, struct rthread *t, const struct rr_head *h,
		    const struct rr_place *at, size_t bytes)
{
	const struct place place = { at, (const char *)h + bytes, h->bytes - bytes };
	int sig, r = rthread_enter(t, p->err);

	if (!r && replay_is_replaced(t, at->ip))
		return replay_to_insn(p, t, at);
	if (r || (!t->at_call && place_is_here(&t->space->t, &place)))
		return r;
	if (t->at_call)
		return replay_fail(p, t, EILSEQ, "it was at %#llx, and has come to the call %s",
				   (unsigned long long)at->ip,
				   replay_call_name(t->space->t.regs.orig_rax));
	r = go_on(p, t);
	t->after_call = false;
	r = r ? r : place_run_to(&t->space->t, &place, &sig, p->err);
	if (r < 0)
		return r;
	if (r)
		return 0;
	t->at_call = sig == (SIGTRAP | 0x80);
	if (t->at_call)
		return replay_fail(p, t, EILSEQ, "it was at %#llx, and comes to the call %s",
				   (unsigned long long)at->ip,
				   replay_call_name(t->space->t.regs.orig_rax));
	return replay_fail(p, t, EILSEQ, "it was at %#llx, and is stopped by signal %d at %#llx",
			   (unsigned long long)at->ip, sig,
			   (unsigned long long)t->space->t.regs.rip);
}

/* By an instruction of its own, and not sent by kill: <asm/siginfo.h>, SI_FROMUSER. */
static bool is_fault(const struct rr_ev_signal *e)
{
	int code;

	memcpy(&code, e->info + 8, sizeof(code));
	return code > 0 && (e->sig == SIGSEGV || e->sig == SIGBUS || e->sig == SIGFPE ||
			    e->sig == SIGILL || e->sig == SIGTRAP);
}

/* Runs the thread to the instruction that faults; not to where it would have been moved to. */
static int run_to_fault(struct replayer *p, struct rthread *t, const struct rr_ev_signal *e)
{
	const struct user_regs_struct *g = &t->space->t.regs;
	int sig = 0, r = tracee_unpatch(&t->space->t, e->at.ip - MOVED_LEAST,
					 e->at.ip + 1, p->err);

	r = r ? r : replay_run_on(p, t, &sig);
	if (r < 0)
		return r;
	if (r || sig != (int)e->sig || g->rip != e->at.ip)
		return replay_fail(p, t, EILSEQ, "signal %u was at %#llx, and there is %s at %#llx",
				   e->sig, (unsigned long long)e->at.ip,
				   r ? replay_call_name(g->orig_rax) : "another",
				   (unsigned long long)g->rip);
	return 0;
}

int replay_to_end(struct replayer *p, struct rthread *t, const struct rr_ev_exit *e)
{
	const int status = (int)e->code, by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	const bool fault = by == SIGSEGV || by == SIGBUS || by == SIGFPE || by == SIGILL ||
			   by == SIGTRAP;
	int got, r = rthread_enter(t, p->err);

	/* Only the first of a process to end can have met it by what it did. */
	if (!r && fault && !t->at_call && !t->forced && t->tid == p->running) {
		t->after_call = false;
		r = replay_run_on(p, t, &got);
		t->at_call = r > 0;
	}
	return r < 0 ? r : p->opts->debug->end(p->opts->debug, p, t, status);
}

/* It met it when its last call ended, or was broken off. */
static bool at_call_end(const struct rthread *t, const struct rr_ev_signal *e)
{
	const struct user_regs_struct *g = t->space->in == t ? &t->space->t.regs : &t->regs;

	return !t->at_call && t->after_call && e->head.bytes == sizeof(*e) &&
	       g->rip == e->at.ip && g->rsp == e->at.sp;
}

int replay_signal(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_signal *e = (const void *)h;
	int r;

	if (h->bytes < sizeof(*e) || !e->sig || e->sig > 64)
		return replay_damaged(p, "a signal");
	if (t->forced || (!is_fault(e) && at_call_end(t, e)))
		r = rthread_enter(t, p->err);
	else
		r = is_fault(e) ? run_to_fault(p, t, e) :
				  replay_to_place(p, t, h, &e->at, sizeof(*e));
	if (!r && p->opts->debug)
		r = p->opts->debug->signal(p->opts->debug, p, t, (int)e->sig);
	if (r)
		return r;
	/* The kernel looks at these two when it was in a call. */
	if (t->broken) {
		t->space->t.regs.orig_rax = t->broken_nr;
		r = tracee_set_regs(&t->space->t, p->err);
	}
	t->broken = t->after_call = false;
	r = r ? r : tracee_signal(&t->space->t, e, p->err);
	t->forced = r > 0;
	return r < 0 ? r : 0;
}
