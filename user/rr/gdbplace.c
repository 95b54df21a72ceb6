/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a point between calls is found by code that the replay puts into the process, and by
 * going back to the best of the passes that it saw. GDB is to see neither. So a fork with GDB's
 * breakpoints is sent ahead. When it comes to the point and has met none, it becomes the process;
 * else the process itself runs, to what was met, and the next fork is sent from there. Where GDB
 * steps, each instant is compared with the point; where too much is met, each pass of it.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "rr/evidence.h"
#include "rr/gdb_state.h"
#include "rr/place.h"

#define SCOUTS_MOST 64		/* then each pass of the point is a stop */

struct way {
	struct gdb *g;
	struct tracee *t;
	const struct place *p;
	struct evidence e;
	size_t equal;		/* words that are as there at the point */
	bool known;		/* .equal is */
	unsigned int scouts;	/* that met something */
	int *sig;
	struct err *err;
};

/* Whether GDB waits for anything in a run of @t. */
static bool is_awaited(const struct gdb *g, const struct rthread *t)
{
	const struct gdb_link *l = gdb_goal_link(g);

	/* A place on the way to a goal is run to by itself. */
	if (gdb_wants_step(g, t) || (g->npoints && (g->mode == GDB_LIVE || g->mode == GDB_SCAN)))
		return true;
	return l && (g->at_link + 1 < g->goal.n ? l->kind == GDB_BREAK || l->kind == GDB_WATCH :
		     g->mode == GDB_ANCHORS || g->mode == GDB_COUNT ||
		     (l->kind != GDB_SIGNAL && l->kind != GDB_END && l->kind != GDB_PLACE));
}

/* A fork of the process as it is. */
static int send(struct way *w, struct tracee *scout)
{
	int r = tracee_copy(scout, w->t, w->err);

	if (r)
		return r;
	scout->regs = w->t->regs;
	return tracee_set_regs(scout, w->err);
}

/* How much of the memory fits at the point: of passes that fit so well, the first is it. */
static int ask(struct way *w)
{
	struct err unused = { 0 };
	struct tracee scout;
	int sig, r;

	if (w->known)
		return 0;
	r = send(w, &scout);
	if (r)
		return r;
	/* Where it does not come there, the process itself is to show that. */
	place_hunt(&scout, w->p, &w->equal, &sig, &unused);
	tracee_kill(&scout);
	w->known = true;
	return 0;
}

static bool is_there(struct way *w)
{
	return !place_differs(w->t, w->p) && evidence_look(&w->e, w->t) >= w->equal;
}

/* Whether GDB has a breakpoint where the replay is to put code of its own. */
static bool is_in_the_way(const struct gdb *g, uint64_t ip)
{
	for (size_t i = 0; i < g->narmed; i++)
		if (g->armed[i] - ip < GDB_PLACE_CODE)
			return true;
	return false;
}

enum { MET, CAME, UNSURE };

/*
 * Runs a fork with what GDB waits for in place: it came to the point without that, or met it; or
 * it came to where less of the memory fits than could.
 */
static int run_scout(struct way *w, struct tracee *scout)
{
	struct err unused = { 0 };
	size_t equal = 0;
	int sig, r;

	r = gdb_guard(w->g, scout, &unused);
	r = r ? r : gdb_arm(w->g, scout, &unused);
	/* No code of ours can be there, or all is stepped through: each pass is to be a stop. */
	if (w->g->guard_by_steps || is_in_the_way(w->g, w->p->at->ip))
		w->scouts = SCOUTS_MOST;
	else if (!r)
		r = place_hunt(scout, w->p, &equal, &sig, &unused);
	if (scout->pid <= 0)
		return MET;
	gdb_lift(w->g, scout);
	/* It may be a copy by now. */
	if (w->g->guarded)
		w->g->guarded = scout->pid;
	if (gdb_guard_lift(w->g, scout, &unused) || r != 1)
		return MET;
	return equal >= w->equal ? CAME : w->known ? MET : UNSURE;
}

/* 1: nothing is on the way, and the process is at the point; 0: something may be. */
static int try_ahead(struct way *w)
{
	struct tracee scout;
	int r, how;

	r = send(w, &scout);
	if (r)
		return r;
	how = run_scout(w, &scout);
	if (how != CAME) {
		tracee_kill(&scout);
		r = how == UNSURE ? ask(w) : 0;
		return how != UNSURE || r ? r : try_ahead(w);
	}
	scout.hook = w->t->hook;
	tracee_kill(w->t);
	*w->t = scout;
	return 1;
}

/* As if nobody looked on. */
static int run_alone(struct way *w)
{
	struct tracee_hook *hook = w->t->hook;
	size_t equal;
	/* A page that is watched is no matter of the run. */
	int r = gdb_guard_lift(w->g, w->t, w->err);

	w->t->hook = NULL;
	r = r ? r : place_hunt(w->t, w->p, &equal, w->sig, w->err);
	w->t->hook = hook;
	return r;
}

/* As place_run_to(). With @to_link, the point is the goal's link at hand. */
static int go(struct way *w, bool to_link)
{
	const struct rthread *in = gdb_in(w->t);
	int r;

	for (;;) {
		r = to_link ? 0 : gdb_run_to_link(w->g, w->t, w->sig, w->err);
		if (r) {
			r = r < 0 ? r : gdb_instant(w->g, w->t);
			if (r)
				return r;
			continue;
		}
		if (!w->g->begun || !is_awaited(w->g, in))
			return run_alone(w);
		if (gdb_wants_step(w->g, in))
			r = ask(w);
		if (r || is_there(w))
			return r ? r : 1;
		r = gdb_instant(w->g, w->t);
		if (r)
			return r;
		if (!gdb_wants_step(w->g, in) && w->scouts < SCOUTS_MOST) {
			w->scouts++;
			r = try_ahead(w);
			if (r)
				return r;
		}
		r = w->scouts < SCOUTS_MOST ? 0 : ask(w);
		if (r)
			return r;
		w->g->stop_at = w->scouts < SCOUTS_MOST ? 0 : w->p->at->ip;
		r = gdb_run_once(w->g, w->t, false, w->sig, w->err);
		if (r == 1 && w->t->regs.orig_rax == SYS_rt_sigreturn)
			r = tracee_sigreturn(w->t, w->err);
		else if (r <= 1)
			return r < 0 ? r : 0;
		if (r < 0)
			return r;
	}
}

int gdb_on_place(struct tracee_hook *hook, struct tracee *t, const struct place *p, int *sig,
		 struct err *err)
{
	struct way w = { .g = (struct gdb *)(void *)((char *)hook - offsetof(struct gdb, hook)),
			 .t = t, .p = p, .sig = sig, .err = err };
	int r = evidence_new(&w.e, p, err);

	w.equal = w.e.n;
	w.g->place_at = p->at->ip;
	*sig = 0;
	r = r ? r : go(&w, false);
	w.g->stop_at = w.g->place_at = 0;
	evidence_release(&w.e);
	if (r < 0)
		return r;
	w.g->moved = w.g->ran_free = true;
	gdb_ran(w.g, t, !r);
	return r;
}

int gdb_run_to_link(struct gdb *g, struct tracee *t, int *sig, struct err *err)
{
	const struct gdb_link *l = gdb_goal_link(g);
	struct gdb_link at;
	struct place p;
	struct way w = { .g = g, .t = t, .p = &p, .sig = sig, .err = err };
	int r;

	if (!l || l->kind != GDB_PLACE)
		return 0;
	at = *l;
	p = (struct place){ &at.place, (const char *)&at.stack, at.stack_bytes };
	if (place_is_here(t, &p))
		return 0;
	r = evidence_new(&w.e, &p, err);
	/* It is known as a whole. */
	w.equal = w.e.n;
	w.known = true;
	r = r ? r : go(&w, true);
	g->stop_at = 0;
	evidence_release(&w.e);
	if (r <= 0)
		return r < 0 ? r : err_set(err, EILSEQ, "a point that gdb was at is not met again");
	g->moved = g->ran_free = true;
	return 1;
}
