/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: to go back, a checkpoint is restored and the replay runs forward to a goal. What is to be
 * found on the way there decides the mode; at the goal the next one begins, until one ends at what
 * GDB is shown.
 *
 * Reverse-continue: the last breakpoint or watchpoint that is met between a checkpoint and here; if
 * there is none, between the checkpoint before and that one. A step back: the instruction before a
 * point has no name, so the way there is counted in single steps, at its end alone: from the last
 * pass of a call that is on the stack, and where none was passed from the link before. A write
 * that a watchpoint sees is shown before it is made, so it is found and stepped back from.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "rr/gdb_state.h"
#include "rr/place.h"

#define NEAR_STEPS 20000	/* more are not made to count an instruction's place */

static int no_memory(const struct gdb *g)
{
	return err_sys(g->err, ENOMEM, "cannot serve gdb");
}

const struct gdb_link *gdb_goal_link(const struct gdb *g)
{
	if (g->mode == GDB_LIVE || g->goal.event != g->event || g->at_link >= g->goal.n)
		return NULL;
	return &g->goal.link[g->at_link];
}

bool gdb_at_goal(const struct gdb *g)
{
	return g->mode != GDB_LIVE && g->goal.event == g->event && g->goal.n &&
	       g->at_link == g->goal.n;
}

void gdb_cursor_restart(struct gdb *g)
{
	const struct gdb_link *l;

	g->at_link = 0;
	g->link_done = g->counting = false;
	l = gdb_goal_link(g);
	g->left = l ? l->count : 0;
	if (g->mode == GDB_ANCHORS && g->event == g->goal.event) {
		g->anchor_hits = 0;
		g->last_anchor = GDB_ANCHORS_MAX;
		for (size_t i = 0; i < g->nanchors; i++)
			g->anchor[i].hits = 0;
	}
}

static bool is_met(const struct gdb *g, const struct gdb_link *l, const struct tracee *t,
		   bool stepped)
{
	const struct gdb_point_id id = { l->type, l->addr, l->bytes };
	const struct place place = { &l->place, (const char *)&l->stack, l->stack_bytes };

	switch (l->kind) {
	case GDB_STEPS: return stepped;
	case GDB_BREAK: return t->regs.rip == l->addr;
	case GDB_WATCH: return gdb_watch_hit(g, &id);
	case GDB_PLACE: return place_is_here(t, &place);
	case GDB_SIGNAL:
	case GDB_END: return false;
	}
	return false;
}

void gdb_cursor_see(struct gdb *g, const struct tracee *t, bool stepped)
{
	const struct gdb_link *l = gdb_goal_link(g);

	g->link_done = false;
	if (!l || !is_met(g, l, t, stepped) || --g->left)
		return;
	g->at_link++;
	g->link_done = true;
	l = gdb_goal_link(g);
	g->left = l ? l->count : 0;
}

/* ---- plans -------------------------------------------------------------------- */

static int go(struct gdb *g, enum gdb_mode mode)
{
	g->mode = mode;
	return -ECANCELED;
}

int gdb_seek(struct gdb *g, const struct gdb_pos *to, const struct gdb_stop *stop)
{
	const bool ahead = g->mode == GDB_LIVE && !g->ended && to->event > g->event;

	g->goal_stop = *stop;
	if (gdb_pos_copy(&g->goal, to))
		return no_memory(g);
	g->mode = GDB_SEEK;
	return ahead ? 0 : -ECANCELED;
}

static int to_start(struct gdb *g)
{
	const struct gdb_pos start = { .event = g->start };
	const struct gdb_stop stop = { .reason = GDB_AT_BEGIN };

	return gdb_seek(g, &start, &stop);
}

int gdb_back_abort(struct gdb *g)
{
	const struct gdb_stop stop = { .reason = GDB_AT_SIGNAL, .sig = SIGINT };

	g->conn.interrupt = false;
	return gdb_seek(g, &g->from, &stop);
}

int gdb_back_continue(struct gdb *g)
{
	if (gdb_pos_copy(&g->from, &g->here) || gdb_pos_copy(&g->goal, &g->here))
		return no_memory(g);
	g->found_any = false;
	return go(g, GDB_SCAN);
}

/* A step back from .here, at which thread .back_tid is. */
static int step_back(struct gdb *g)
{
	struct gdb_link *l = g->here.n ? &g->here.link[g->here.n - 1] : NULL;
	struct gdb_link one;

	if (gdb_pos_copy(&g->goal, &g->here))
		return no_memory(g);
	if (!l || g->back_tid != g->tid_stop) {
		g->goal.n = 0;
		g->ran_event = 0;
		return go(g, GDB_FIND);
	}
	l = &g->goal.link[g->goal.n - 1];
	if (l->kind == GDB_STEPS) {
		g->goal.n -= !--l->count;
		return gdb_seek(g, &g->goal, &g->back_stop);
	}
	one = *l;
	/* Between the pass before and this one. */
	if ((l->kind == GDB_BREAK || l->kind == GDB_WATCH) && l->count > 1) {
		l->count--;
		one.count = 1;
		if (gdb_pos_add(&g->goal, &one))
			return no_memory(g);
	}
	gdb_anchors_find(g, gdb_thread_find(g, g->back_tid), 0);
	return go(g, GDB_ANCHORS);
}

int gdb_back_step(struct gdb *g, uint32_t tid, const struct gdb_stop *stop)
{
	g->back_tid = tid;
	g->back_stop = *stop;
	return gdb_pos_copy(&g->from, &g->here) ? no_memory(g) : step_back(g);
}

/* At an instant of @t, or before an event where that is NULL. */
static int note_found(struct gdb *g, const struct rthread *t, const struct gdb_point *hit)
{
	const bool watch = hit->id.type >= '2';
	const struct gdb_link l = { .kind = watch ? GDB_WATCH : GDB_BREAK, .type = hit->id.type,
				    .addr = hit->id.addr, .bytes = hit->id.bytes,
				    .count = hit->hits };

	if (g->event < g->start)
		return 0;
	g->found.event = g->event;
	g->found.n = 0;
	g->found_any = true;
	g->found_tid = t ? t->tid : g->event_tid;
	g->found_stop = (struct gdb_stop){ .reason = watch ? GDB_AT_WATCH : GDB_AT_BREAK,
					   .type = hit->id.type, .addr = hit->id.addr };
	return t && gdb_pos_add(&g->found, &l) ? no_memory(g) : 0;
}

/* ---- on the way --------------------------------------------------------------- */

static void see_anchors(struct gdb *g, uint64_t ip)
{
	for (size_t i = 0; i < g->nanchors; i++) {
		if (g->anchor[i].addr != ip)
			continue;
		g->anchor[i].hits++;
		g->last_anchor = i;
		g->anchor_hits = g->anchor[i].hits;
	}
}

/* Whether the counting of steps begins here. */
static bool count_begins(struct gdb *g, uint64_t ip)
{
	if (g->last_anchor == GDB_ANCHORS_MAX)
		return true;
	if (g->link_done || ip != g->anchor[g->last_anchor].addr)
		return false;
	return ++g->anchor[g->last_anchor].hits == g->anchor_hits;
}

int gdb_back_instant(struct gdb *g, struct rthread *t, const struct gdb_point *hit, bool stepped)
{
	const uint64_t ip = t->space->t.regs.rip;

	if (g->counting)
		g->count += stepped;
	if (g->counting && g->count == NEAR_STEPS && g->near_known && !g->near_tried) {
		g->near_tried = true;
		return gdb_near(g, &t->space->t);
	}
	/* What is written by the last instruction before the goal is before it. */
	if (hit && g->mode == GDB_SCAN && (hit->id.type >= '2' || !gdb_at_goal(g))) {
		const int r = note_found(g, t, hit);

		if (r)
			return r;
	}
	if (gdb_at_goal(g))
		return gdb_arrived(g, t);
	if (g->mode != GDB_SEEK && gdbconn_wants_stop(&g->conn))
		return gdb_back_abort(g);
	if (g->event != g->goal.event || g->at_link + 1 != g->goal.n)
		return 0;
	if (g->mode == GDB_ANCHORS && !g->link_done)
		see_anchors(g, ip);
	if (g->mode == GDB_COUNT && !g->counting)
		g->counting = count_begins(g, ip);
	return 0;
}

/* Without the point: a replay is exact, so it was not told well enough. */
static int is_lost(struct gdb *g, struct rthread *t)
{
	const struct gdb_stop stop = { .reason = GDB_TRAP };

	g->mode = GDB_LIVE;
	gdb_tell(g, "the point was not met again; this is event %llu\n",
		 (unsigned long long)g->event);
	return gdb_serve(g, t, &stop);
}

int gdb_back_event(struct gdb *g)
{
	const struct gdb_stop stop = { .reason = GDB_AT_SIGNAL, .sig = SIGINT };
	struct rthread *t = gdb_thread_find(g, 0);
	const struct gdb_point *hit;
	int r;

	if (g->goal.event < g->event && g->goal.n && g->goal.link[g->goal.n - 1].kind == GDB_END &&
	    g->mode >= GDB_ANCHORS)
		return gdb_arrived(g, t);
	if (g->goal.event < g->event)
		return is_lost(g, t);
	hit = g->mode == GDB_SCAN ? gdb_points_changed(g, &t->space->t) : NULL;
	r = hit ? note_found(g, NULL, hit) : 0;
	if (r)
		return r;
	if (g->goal.event == g->event && !g->goal.n)
		return gdb_arrived(g, t);
	if (g->met && gdbconn_wants_stop(&g->conn)) {
		if (g->mode != GDB_SEEK)
			return gdb_back_abort(g);
		g->mode = GDB_LIVE;
		return gdb_serve(g, t, &stop);
	}
	return 0;
}

/* ---- at the goal --------------------------------------------------------------- */

static int sought(struct gdb *g, struct rthread *t)
{
	struct rthread *was = gdb_thread_find(g, g->back_tid);

	if (gdb_pos_copy(&g->here, &g->goal))
		return no_memory(g);
	g->mode = GDB_LIVE;
	g->steps = 0;
	g->moved = g->ran_free = false;
	for (size_t i = 0; i < g->npoints; i++) {
		g->point[i].base = g->here.n;
		g->point[i].hits = 0;
	}
	/* Before an event, what is shown is who went back. */
	if (!g->here.n && was)
		t = was;
	if (!g->then_back)
		return gdb_serve(g, t, &g->goal_stop);
	g->then_back = false;
	g->tid_stop = g->back_tid;
	return step_back(g);
}

/* On to what is before the checkpoint that this began at; false: there is nothing. */
static bool go_before(struct gdb *g)
{
	g->goal.event = g->restored;
	g->goal.n = 0;
	return g->restored > g->start;
}

static int scanned(struct gdb *g, struct rthread *t)
{
	(void)t;
	if (!g->found_any)
		return go_before(g) ? go(g, GDB_SCAN) : to_start(g);
	g->back_tid = g->found_tid;
	if (g->found_stop.reason == GDB_AT_WATCH) {
		g->then_back = true;
		g->back_stop = g->found_stop;
	}
	return gdb_seek(g, &g->found, &g->found_stop);
}

static int found_run(struct gdb *g, struct rthread *t)
{
	static const struct gdb_link end = { .kind = GDB_END, .count = 1 };
	struct rthread *back = gdb_thread_find(g, g->back_tid);

	if (!g->ran_event)
		return go_before(g) ? go(g, GDB_FIND) : to_start(g);
	if (g->ran_event < g->start)
		return to_start(g);
	g->goal.event = g->ran_event;
	g->goal.n = 0;
	if (gdb_pos_add(&g->goal, &end))
		return no_memory(g);
	gdb_anchors_find(g, back ? back : t, g->ran_ip);
	return go(g, GDB_ANCHORS);
}

static int anchored(struct gdb *g, struct rthread *t)
{
	const struct rthread *in = gdb_thread_find(g, g->back_tid);

	(void)t;
	if (in && in->space->in != in)
		in = NULL;
	g->count = 0;
	g->near_used = g->near_tried = false;
	g->near_known = in;
	g->near = (struct gdb_link){ .kind = GDB_PLACE, .count = 1 };
	if (in)
		gdb_make_place(&g->near, &in->space->t);
	g->near.addr = g->near.place.ip;
	if (g->last_anchor < GDB_ANCHORS_MAX)
		g->anchor[g->last_anchor].hits = 0;
	return go(g, GDB_COUNT);
}

/* One instruction less than were counted, from where they were. */
static int counted(struct gdb *g, struct rthread *t)
{
	int r = 0;

	(void)t;
	g->goal.n--;
	if (g->last_anchor < GDB_ANCHORS_MAX) {
		const struct gdb_link l = { .kind = GDB_BREAK, .count = g->anchor_hits,
					    .addr = g->anchor[g->last_anchor].addr };

		r = gdb_pos_add(&g->goal, &l);
	}
	if (!r && g->near_used)
		r = gdb_pos_add(&g->goal, &g->near);
	r = r ? r : gdb_pos_add_steps(&g->goal, g->count ? g->count - 1 : 0);
	return r ? no_memory(g) : gdb_seek(g, &g->goal, &g->back_stop);
}

int gdb_arrived(struct gdb *g, struct rthread *t)
{
	static int (*const next[])(struct gdb *g, struct rthread *t) = {
		[GDB_SEEK] = sought, [GDB_SCAN] = scanned, [GDB_FIND] = found_run,
		[GDB_ANCHORS] = anchored, [GDB_COUNT] = counted,
	};

	return next[g->mode](g, t);
}

int gdb_rewind(struct replay_debug *d, struct replayer *p)
{
	struct gdb *g = (struct gdb *)(void *)((char *)d - offsetof(struct gdb, debug));
	/* What ends at an event has to begin before it. */
	const bool ends_there = !g->goal.n && (g->mode == GDB_SCAN || g->mode == GDB_FIND);
	struct checkpoint *c = gdb_mark_before(g, g->goal.event - ends_there);
	int r;

	if (g->quit) {
		p->stop = true;
		return 1;
	}
	g->stepped = g->step_pending = g->same = g->ended = g->image_busy = false;
	g->counting = g->exec_seen = false;
	g->died = 0;
	g->guarded = 0;
	if (g->mem_pid)
		close(g->mem);
	g->mem_pid = 0;
	g->restored = c ? checkpoint_event(c) : 0;
	r = checkpoint_restore(p, c, g->err);
	return r ? r : 1;
}
