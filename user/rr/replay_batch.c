/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: calls of one thread that follow each other in the recording, with no other event
 * between them, are given to the process as a whole. It goes on to the call behind them; or
 * it stops behind the last, when what is next may be a point between calls.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "rr/replay_state.h"

#define LEAST 2		/* calls with a stop behind them: it costs as much as one */

/* Whether the event is at another call of the thread. */
static bool at_next_call(const struct rr_head *h, uint32_t tid)
{
	if (!h || h->tid != tid)
		return false;
	switch (h->type) {
	case RR_EV_CALL:
	case RR_EV_PIECES:
	case RR_EV_FORK: return true;
	case RR_EV_SWITCH:
		return h->bytes >= RR_SWITCH_SHORT && ((const struct rr_ev_switch *)
						       (const void *)h)->in_call;
	}
	return false;
}

/* Puts them into the area. Whether they are enough; *stop, whether to stop behind them. */
static bool gather(struct replayer *p, const struct rr_head *h, bool *stop)
{
	const uint32_t tid = h->tid;

	inproc_begin(&p->inproc);
	while (h && h->tid == tid && replay_is_plain(h) && inproc_add(&p->inproc, h))
		h = recread_behind(p->file, h);
	*stop = !at_next_call(h, tid);
	return p->inproc.n >= (*stop ? LEAST : 1);
}

/* Behind the last of them. */
static int stand_behind(struct replayer *p, struct rthread *t)
{
	const struct site *s = sites_at(&t->space->t.sites, inproc_last_site(&p->inproc));

	if (!s)
		return replay_fail(p, t, EPROTO, "its calls ended at no place that is known");
	t->space->t.regs.rip = s->ip;
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	t->after_call = true;
	t->at_call = false;
	return tracee_set_regs(&t->space->t, p->err);
}

/* To behind the last, or to a call that is not for the process itself. */
static int run(struct replayer *p, struct rthread *t)
{
	struct tracee *s = &t->space->t;
	int sig, r;

	for (;;) {
		r = tracee_run(s, &sig, p->err);
		if (r < 0)
			return r;
		if (!r && sig == SIGTRAP && s->regs.rip == inproc_stop())
			return stand_behind(p, t);
		if (!r)
			return replay_fail(p, t, EILSEQ, "signal %d at %#llx was not recorded",
					   sig, (unsigned long long)s->regs.rip);
		if (s->regs.orig_rax != SYS_rt_sigreturn)
			break;
		r = tracee_sigreturn(s, p->err);
		if (r)
			return r;
	}
	t->at_call = true;
	return 0;
}

int replay_batch(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	size_t done;
	bool stop;
	int r;

	if (t->at_call || t->broken || !t->space->inproc ||
	    !sites_any(&t->space->t.sites) || !gather(p, &e->head, &stop))
		return 0;
	t->after_call = false;
	r = rthread_enter(t, p->err);
	if (r)
		return r;
	inproc_start(&p->inproc, stop);
	r = run(p, t);
	inproc_end(&p->inproc);
	if (r)
		return r;
	/* The replayed program can write there. */
	done = inproc_done(&p->inproc);
	if (done > p->inproc.n)
		return replay_fail(p, t, EPROTO, "it says that it made more calls than it was to");
	if (!done)
		return 0;
	p->ahead = done - 1;
	return 1;
}
