/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: as many events as a process can do by itself are given to it as a script. It stops
 * behind them, or at a call that is not among them; what they did to threads is then noted here,
 * event by event, and the registers are taken over.
 */
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "rr/replay_script.h"

/* Who is in a slot, as of the steps that were done. */
struct cast { struct rthread *at[SCRIPT_SLOTS]; };

static void set_places(struct replayer *p, const struct sites *sites)
{
	struct inproc_place at[INPROC_NPLACES / 2];
	size_t n = 0;

	if (p->inproc.places == sites->version)
		return;
	for (size_t i = 0; i < sites->n && n < INPROC_NPLACES / 2; i++)
		if (sites->at[i].patched)
			at[n++] = (struct inproc_place){ sites->at[i].ip, sites->at[i].go_on };
	inproc_set_places(&p->inproc, at, n);
	p->inproc.places = sites->version;
}

/*
 * It stopped by itself; or a step met memory that is not there: it is not done, and what it did
 * of it can be done again.
 */
static bool is_stop(int sig, uint64_t ip)
{
	return (sig == SIGTRAP && ip == inproc_stop()) ||
	       ((sig == SIGSEGV || sig == SIGBUS) && inproc_is_code(ip));
}

/* Where it has come to: behind the last step; to a call that is not for itself; to a fault. */
enum end { AT_STOP, AT_CALL, AT_FAULT };

/* An enum end; -errno. */
static int run(struct replayer *p, struct rspace *s)
{
	struct tracee *t = &s->t;
	int sig, r;

	for (;;) {
		inproc_data(&p->inproc)->blocked = t->blocks;
		r = t->blocks ? tracee_run_blocked(t, &sig, p->err) : tracee_run(t, &sig, p->err);
		inproc_data(&p->inproc)->blocked = 0;
		if (r < 0)
			return r;
		if (!r && is_stop(sig, t->regs.rip))
			return AT_STOP;
		if (!r && !inproc_is_code(t->regs.rip))
			return AT_FAULT;
		if (!r)
			return replay_fail(p, NULL, EILSEQ, "signal %d at %#llx was not recorded",
					   sig, (unsigned long long)t->regs.rip);
		if (t->regs.orig_rax != SYS_rt_sigreturn)
			return AT_CALL;
		r = tracee_sigreturn(t, p->err);
		if (r)
			return r;
	}
}

int replay_passed(struct replayer *p, struct rthread *t)
{
	struct tracee *s = &t->space->t;

	return t->space->inproc && script_takes(s->regs.orig_rax) ?
	       tracee_passed(s, s->regs.rip, p->err) : 0;
}

/* ---- what the steps did -------------------------------------------------------------------- */

static int note_fork(struct replayer *p, struct cast *c, const struct script_step *step)
{
	const struct rr_ev_fork *e = (const void *)step->event;
	struct rthread *parent = c->at[step->slot], *t;
	const struct inproc_slot *slot = inproc_slot(&p->inproc, step->other);

	t = rthreads_add(&p->all, e->child, parent->space);
	if (!t)
		return err_sys(p->err, ENOMEM, "cannot replay");
	/* Of one that has ended since, another's may be there, which makes no difference. */
	if (slot->flags & CLONE_THREAD)
		t->pid = parent->pid;
	t->clear_tid = slot->clear_tid;
	t->own = e->child_own;
	t->born = true;
	c->at[step->other] = t;
	return 0;
}

static int note_step(struct replayer *p, struct cast *c, const struct script_step *step)
{
	struct rthread *t = c->at[step->slot];

	switch (step->kind) {
	case INPROC_BORN: t->born = false; break;
	case INPROC_CALL: replay_note(p, t, (const void *)step->event); break;
	case INPROC_FORK: return note_fork(p, c, step);
	case INPROC_EXIT:
		replay_note_exit(p, t, (const void *)step->event);
		rthreads_remove(&p->all, t);
		c->at[step->slot] = NULL;
		break;
	default: p->running = ((const struct rr_ev_switch *)(const void *)step->event)->next;
	}
	return 0;
}

/* Of one that does not run. */
static int take_registers(struct replayer *p, struct rthread *t, size_t slot)
{
	const struct inproc_slot *s = inproc_slot(&p->inproc, slot);

	t->regs = s->regs;
	t->at_call = s->state == INPROC_AT_CALL;
	t->after_call = s->state == INPROC_AFTER_CALL;
	return rthread_set_xstate(t, inproc_xstate(&p->inproc, slot), p->inproc.xstate_bytes) ?
	       err_sys(p->err, ENOMEM, "cannot replay") : 0;
}

/* A fault is met again, and told of, where the event that it is in the way of is at hand. */
static int take_running(struct replayer *p, struct rspace *space, struct rthread *t, size_t slot,
			enum end end)
{
	const struct inproc_slot *s = inproc_slot(&p->inproc, slot);

	space->in = t;
	if (!t)
		return 0;
	t->at_call = end == AT_CALL || (end == AT_STOP && s->state == INPROC_AT_CALL);
	t->after_call = end == AT_STOP && s->state == INPROC_AFTER_CALL;
	if (end == AT_CALL)
		return replay_passed(p, t);
	if (end == AT_FAULT)
		return 0;
	space->t.regs = s->regs;
	return tracee_set_regs(&space->t, p->err);
}

/* The replayed program can write there. */
static int wrong(const struct replayer *p)
{
	return replay_fail(p, NULL, EPROTO, "the process says that it did what it was not to do");
}

static int take_over(struct replayer *p, struct script *s, size_t done, enum end end)
{
	const size_t slot = inproc_data(&p->inproc)->slot;
	struct cast c = { 0 };
	int r = 0;

	for (size_t i = 0; i < s->nparts; i++)
		c.at[i] = s->first[i];
	for (size_t i = 0; !r && i < done; i++)
		r = note_step(p, &c, &s->step[i]);
	if (r)
		return r;
	if (slot >= s->nparts)
		return wrong(p);
	for (size_t i = 0; !r && i < s->nparts; i++)
		if (i != slot && c.at[i])
			r = take_registers(p, c.at[i], i);
	return r ? r : take_running(p, s->space, c.at[slot], slot, end);
}

/* Its registers are in slot 0; those of the process lead to the code that puts them there. */
static int begin(struct replayer *p, struct script *s)
{
	struct tracee *t = &s->space->t;
	int r = s->calls ? tracee_block(t, true, p->err) : 0;

	if (r)
		return r;
	set_places(p, &t->sites);
	inproc_start(&p->inproc, 0, s->stop);
	t->regs.rip = inproc_steps();
	t->regs.orig_rax = (unsigned long long)-1;
	return tracee_set_regs(t, p->err);
}

/* The first step may be that a call is made of which the process knows nothing as yet. */
static bool may_be(const struct rthread *t, const struct rr_head *h)
{
	return t && t->space && t->space->inproc && script_begins(h) &&
	       (t->at_call || sites_any(&t->space->t.sites));
}

int replay_batch(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	struct script *s = p->script;
	size_t done;
	int r, end;

	if (!may_be(t, h))
		return 0;
	r = rthread_enter(t, p->err);
	if (r || !script_write(p, s, t, h))
		return r;
	r = begin(p, s);
	/* The kernel does not know how: only steps without calls from now on. */
	if (r == -ENOSYS) {
		s->no_calls = true;
		return 0;
	}
	end = r ? r : run(p, s->space);
	done = (size_t)inproc_data(&p->inproc)->next;
	if (end >= 0)
		r = done > s->n ? wrong(p) : take_over(p, s, done, (enum end)end);
	inproc_end(&p->inproc);
	script_learn(s, done);
	if (end < 0 || r)
		return end < 0 ? end : r;
	if (!done)
		return 0;
	p->ahead = done - 1;
	return 1;
}
