/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a point between calls is found by code that the replay puts into the process, and by
 * going back to the best of the passes that it saw. GDB is to see neither. So a fork is sent ahead,
 * which tells how much of the memory fits there; the process itself takes the first pass that fits
 * as well, by stops alone. That is slow, and seldom needed: a second fork is sent with GDB's
 * breakpoints, and when it meets none on the way it becomes the process.
 */
#include <stddef.h>
#include <string.h>

#include "rr/gdb_state.h"
#include "rr/place.h"

#define CODE_BYTES 32		/* around the place, that are looked at or changed */

/* What GDB waits for in a run of @t: nothing, breakpoints alone, or more. */
enum interest { NOTHING, BREAKPOINTS, MORE };

static enum interest interest(const struct gdb *g, const struct rthread *t)
{
	const struct gdb_link *l = gdb_goal_link(g);
	const bool points = g->mode == GDB_LIVE || g->mode == GDB_SCAN;
	enum interest most = NOTHING;

	if (gdb_wants_step(g, t) || (l && l->kind != GDB_BREAK && l->kind != GDB_SIGNAL &&
				     l->kind != GDB_END))
		return MORE;
	if (l && (l->kind == GDB_BREAK || g->mode == GDB_ANCHORS || g->mode == GDB_COUNT))
		most = l->kind == GDB_END && g->mode == GDB_COUNT ? MORE : BREAKPOINTS;
	for (size_t i = 0; points && i < g->npoints; i++) {
		if (g->point[i].id.type >= '2')
			return MORE;
		most = BREAKPOINTS;
	}
	return most;
}

/* A fork of @t as it is. */
static int send(struct tracee *scout, struct tracee *t, struct err *err)
{
	int r = tracee_fork(scout, t, err);

	if (r)
		return r;
	scout->regs = t->regs;
	return tracee_set_regs(scout, err);
}

/* Whether GDB has a breakpoint where the replay is to put code of its own. */
static bool is_in_the_way(const struct gdb *g, uint64_t ip)
{
	for (size_t i = 0; i < g->narmed; i++)
		if (g->armed[i] + CODE_BYTES > ip && g->armed[i] < ip + CODE_BYTES)
			return true;
	return false;
}

/* 1: there is no breakpoint on the way, and @t is at the place; 0: there may be. */
static int try_without(struct gdb *g, struct tracee *t, const struct place *p,
		       const struct place_how *known, const struct user_regs_struct *end,
		       struct err *err)
{
	struct place_how how = { 0 };
	struct tracee scout;
	struct err unused = { 0 };
	bool same = false;
	int sig, r = send(&scout, t, err);

	if (r)
		return r;
	r = gdb_arm(g, &scout, err);
	if (!r && !is_in_the_way(g, p->at->ip)) {
		r = place_hunt(&scout, p, &how, &sig, &unused);
		same = r == 1 && how.equal == known->equal &&
		       !memcmp(&scout.regs, end, sizeof(*end));
		r = 0;
	}
	if (scout.pid > 0)
		gdb_lift(g, &scout);
	if (r || !same) {
		tracee_kill(&scout);
		return r;
	}
	scout.hook = t->hook;
	tracee_kill(t);
	*t = scout;
	return 1;
}

/* As if nobody looked on. */
static int run_alone(struct gdb *g, struct tracee *t, const struct place *p,
		     struct place_how *how, int *sig, struct err *err)
{
	struct tracee_hook *hook = t->hook;
	int r;

	/* A page that is watched is no matter of the run. */
	r = gdb_guard_lift(g, t, err);
	t->hook = NULL;
	r = r ? r : place_hunt(t, p, how, sig, err);
	t->hook = hook;
	return r;
}

static int run_watched(struct gdb *g, struct tracee *t, const struct place *p,
		       enum interest what, int *sig, struct err *err)
{
	struct place_how how = { 0 };
	struct user_regs_struct end;
	struct tracee scout;
	int r = send(&scout, t, err);

	if (r)
		return r;
	r = place_hunt(&scout, p, &how, sig, err);
	end = scout.regs;
	tracee_kill(&scout);
	/* Where it does not come there, the process itself is to show that. */
	if (r <= 0)
		return r < 0 ? r : run_alone(g, t, p, &how, sig, err);
	r = what == BREAKPOINTS ? try_without(g, t, p, &how, &end, err) : 0;
	if (r)
		return r;
	how.by_stops = how.settle = true;
	return place_hunt(t, p, &how, sig, err);
}

int gdb_on_place(struct tracee_hook *hook, struct tracee *t, const struct place *p, int *sig,
		 struct err *err)
{
	struct gdb *g = (struct gdb *)(void *)((char *)hook - offsetof(struct gdb, hook));
	const enum interest what = g->begun ? interest(g, gdb_in(t)) : NOTHING;
	struct place_how how = { 0 };
	int r;

	r = what == NOTHING ? run_alone(g, t, p, &how, sig, err) :
	    run_watched(g, t, p, what, sig, err);
	if (r < 0)
		return r;
	g->moved = g->ran_free = true;
	gdb_ran(g, t, !r);
	return r;
}
