/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include "rr/gdb_state.h"

#define MINE(d) ((struct gdb *)(void *)((char *)(d) - offsetof(struct gdb, debug)))

static int no_memory(const struct gdb *g)
{
	return err_sys(g->err, ENOMEM, "cannot serve gdb");
}

/* Its last image is there. */
bool gdb_ready(const struct gdb *g)
{
	if (!g->pid || g->image_busy)
		return false;
	for (size_t i = 0; i < g->p->all.n; i++)
		if (g->p->all.at[i]->pid == g->pid)
			return g->begun || g->execed || g->opts->from_fork || !g->opts->pid;
	return false;
}

bool gdb_wants_step(const struct gdb *g, const struct rthread *t)
{
	const struct gdb_link *l = gdb_goal_link(g);

	if (g->mode == GDB_LIVE)
		return t && t->tid == g->tid_c && (g->want.kind == 's' || g->want.kind == 'r');
	return (g->mode == GDB_COUNT && g->counting) || (l && l->kind == GDB_STEPS);
}

void gdb_make_place(struct gdb_link *l, const struct tracee *t)
{
	const struct user_regs_struct *r = &t->regs;

	l->place = (struct rr_place){
		.r15 = r->r15, .r14 = r->r14, .r13 = r->r13, .r12 = r->r12, .bp = r->rbp,
		.bx = r->rbx, .r11 = r->r11, .r10 = r->r10, .r9 = r->r9, .r8 = r->r8,
		.ax = r->rax, .cx = r->rcx, .dx = r->rdx, .si = r->rsi, .di = r->rdi,
		.ip = r->rip, .flags = r->eflags, .sp = r->rsp,
	};
	l->stack.piece = (struct rr_piece){ .addr = r->rsp - RR_STACK_BELOW,
					    .bytes = GDB_PLACE_STACK };
	if (!tracee_read(t, l->stack.bytes, l->stack.piece.addr, GDB_PLACE_STACK))
		l->stack_bytes = sizeof(l->stack);
}

/* How the instant at hand is found again: by the point that was met, else by steps or state. */
static int set_here(struct gdb *g, const struct tracee *t, const struct gdb_point *hit)
{
	struct gdb_link l = { .kind = GDB_PLACE, .count = 1, .addr = t->regs.rip };
	int r = 0;

	if (hit) {
		l.kind = hit->id.type >= '2' ? GDB_WATCH : GDB_BREAK;
		l.type = hit->id.type;
		l.addr = hit->id.addr;
		l.bytes = hit->id.bytes;
		l.count = hit->hits;
		g->here.n = hit->base;
		r = gdb_pos_add(&g->here, &l);
	} else if (!g->ran_free) {
		r = gdb_pos_add_steps(&g->here, g->steps);
	} else {
		/* Told well enough without the way so far. */
		gdb_make_place(&l, t);
		g->here.n = 0;
		r = gdb_pos_add(&g->here, &l);
	}
	for (size_t i = 0; i < g->npoints; i++) {
		if (&g->point[i] == hit || g->point[i].base < g->here.n)
			continue;
		g->point[i].base = g->here.n;
		g->point[i].hits = 0;
	}
	g->steps = 0;
	g->moved = g->ran_free = false;
	return r ? no_memory(g) : 0;
}

static bool in_range(const struct gdb *g, uint64_t ip)
{
	return g->want.kind == 'r' && ip >= g->want.low && ip < g->want.high;
}

static int stop_here(struct gdb *g, struct rthread *t, const struct gdb_point *hit,
		     const struct gdb_stop *stop)
{
	int r = set_here(g, &t->space->t, hit);

	return r ? r : gdb_serve(g, t, stop);
}

int gdb_instant(struct gdb *g, struct tracee *t)
{
	struct rthread *in = gdb_in(t);
	const bool stepped = g->stepped || (g->step_pending && in->tid == g->tid_c);
	const struct gdb_point *hit = g->same ? NULL : gdb_points_see(g, t->regs.rip);
	struct gdb_stop stop = { .reason = GDB_TRAP };

	g->stepped = false;
	if (stepped)
		g->step_pending = false;
	if (!g->same)
		gdb_cursor_see(g, t, stepped);
	g->same = false;
	gdb_guard_seen(g);
	if (g->mode != GDB_LIVE)
		return gdb_back_instant(g, in, hit, stepped);
	g->steps += stepped;
	if (hit) {
		stop.reason = hit->id.type >= '2' ? GDB_AT_WATCH : GDB_AT_BREAK;
		stop.type = hit->id.type;
		stop.addr = hit->id.addr;
		return stop_here(g, in, hit, &stop);
	}
	if (gdbconn_wants_stop(&g->conn)) {
		stop.reason = GDB_AT_SIGNAL;
		stop.sig = SIGINT;
		return g->moved ? stop_here(g, in, NULL, &stop) : gdb_serve(g, in, &stop);
	}
	if (stepped && !in_range(g, t->regs.rip))
		return stop_here(g, in, NULL, &stop);
	return 0;
}

void gdb_ran(struct gdb *g, struct tracee *t, bool call)
{
	const struct rthread *in = gdb_in(t);

	if (g->mode == GDB_FIND && in->tid == g->back_tid) {
		g->ran_event = g->event;
		g->ran_ip = call ? t->regs.rip - 2 : 0;
	}
	gdb_points_note(g, t);
}

/* ---- before an event -------------------------------------------------------- */

static int begin_event(struct gdb *g, const struct rr_head *h)
{
	struct rthread *t = rthreads_find(&g->p->all, h->tid);
	bool mine;
	int r = 0;

	g->event = g->here.event = recread_number(g->p->file);
	g->here.n = 0;
	g->steps = 0;
	g->moved = g->ran_free = g->same = false;
	gdb_guard_seen(g);
	if (g->counting)
		g->count += g->stepped;
	if (g->mode != GDB_LIVE)
		g->stepped = false;
	gdb_points_restart(g);
	gdb_cursor_restart(g);
	if (!g->pid)
		g->pid = h->tid;
	mine = (t ? t->pid : h->tid) == g->pid;
	/* A child of vfork() is in its parent's space, and not shown. */
	if (t && t->space && !mine && t->space->t.hook)
		r = gdb_guard_lift(g, &t->space->t, g->err);
	if (t && t->space)
		t->space->t.hook = mine ? &g->hook : NULL;
	if (h->type == RR_EV_EXEC) {
		g->image_busy |= mine;
		g->exec_seen |= mine && g->begun && g->mode == GDB_LIVE;
		g->execed |= mine;
	} else if (h->type != RR_EV_MAP && h->type != RR_EV_MEMORY) {
		g->image_busy = false;
	}
	gdb_image_see(g, h);
	return r;
}

/* A thread to be shown before the event at hand. */
static struct rthread *shown(struct gdb *g, uint32_t tid)
{
	struct rthread *t = gdb_thread_find(g, tid);

	t = t ? t : gdb_thread_find(g, g->tid_stop);
	for (size_t i = 0; !t && i < g->p->all.n; i++)
		if (g->p->all.at[i]->pid == g->pid)
			t = g->p->all.at[i];
	return t;
}

static int begin(struct gdb *g, struct rthread *t)
{
	const struct gdb_stop stop = { .reason = GDB_TRAP };
	const struct gdb_pos to = { .event = g->opts->event };

	g->begun = true;
	g->start = g->event;
	g->execed = true;
	if (g->opts->event > g->event)
		return gdb_seek(g, &to, &stop);
	return gdb_serve(g, t, &stop);
}

/* Whether the step that GDB asked for has ended by what its thread's last event did. */
static bool step_ended(struct gdb *g)
{
	const struct rthread *t = gdb_thread_find(g, g->tid_c);
	const struct user_regs_struct *r;

	if (!g->step_pending && !g->stepped)
		return false;
	if (!t || t->at_call || t->broken)
		return false;
	g->step_pending = g->stepped = false;
	r = t->space->in == t ? &t->space->t.regs : &t->regs;
	return !in_range(g, r->rip);
}

static int live_event(struct gdb *g, struct rthread *t)
{
	struct gdb_stop stop = { .reason = GDB_TRAP };
	const struct gdb_point *hit;
	struct rthread *last;

	if (!g->begun)
		return begin(g, t);
	if (g->exec_seen) {
		g->exec_seen = false;
		stop.reason = GDB_EXEC;
		if (g->exec_events)
			return gdb_serve(g, t, &stop);
	}
	hit = gdb_points_changed(g, &t->space->t);
	last = shown(g, g->tid_c);
	if (hit) {
		stop.reason = GDB_AT_WATCH;
		stop.type = hit->id.type;
		stop.addr = hit->id.addr;
		return gdb_serve(g, shown(g, g->event_tid), &stop);
	}
	if (step_ended(g))
		return gdb_serve(g, last, &stop);
	if (!gdbconn_wants_stop(&g->conn))
		return 0;
	stop.reason = GDB_AT_SIGNAL;
	stop.sig = SIGINT;
	return gdb_serve(g, t, &stop);
}

/* The recording ends before the program does. */
static int at_end(struct gdb *g)
{
	const struct gdb_stop stop = { .reason = GDB_AT_END };
	struct rthread *t;
	int r;

	if (!g->pid || g->ended)
		return 0;
	t = shown(g, 0);
	if (!t)
		return 0;
	g->event = g->here.event = recread_number(g->p->file) + 1;
	g->here.n = 0;
	gdb_cursor_restart(g);
	if (g->mode != GDB_LIVE)
		r = gdb_back_event(g);
	else
		r = gdb_serve(g, t, &stop);
	while (!r && g->mode == GDB_LIVE)
		r = gdb_serve(g, t, &stop);
	return r;
}

int gdb_on_event(struct replay_debug *d, struct replayer *p, const struct rr_head *h)
{
	struct gdb *g = MINE(d);
	struct rthread *t;
	int r;

	g->p = p;
	if (!h)
		return at_end(g);
	r = begin_event(g, h);
	if (r || !gdb_ready(g))
		return r;
	t = shown(g, h->tid);
	if (h->type != RR_EV_MAP && h->type != RR_EV_MEMORY && g->begun)
		gdb_mark_event(g, g->mode != GDB_LIVE && g->event == g->goal.event);
	r = g->mode == GDB_LIVE ? live_event(g, t) : gdb_back_event(g);
	if (r)
		return r;
	g->event_tid = h->tid;
	gdb_points_note(g, &t->space->t);
	return 0;
}

/* ---- signals and ends --------------------------------------------------------- */

static int mark_signal(struct gdb *g)
{
	const struct gdb_link l = { .kind = GDB_SIGNAL, .count = 1 };

	g->here.n = 0;
	g->moved = g->ran_free = false;
	g->steps = 0;
	return gdb_pos_add(&g->here, &l) ? no_memory(g) : 0;
}

/* At the goal, when that is where a signal or the end meets a thread. */
static int back_signal(struct gdb *g, struct rthread *t)
{
	const struct gdb_link *l = gdb_goal_link(g);

	if (!l || l->kind != GDB_SIGNAL)
		return 0;
	g->at_link++;
	g->count += g->stepped;
	g->stepped = false;
	return gdb_arrived(g, t);
}

int gdb_on_signal(struct replay_debug *d, struct replayer *p, struct rthread *t, int sig)
{
	struct gdb *g = MINE(d);
	const struct gdb_stop stop = { .reason = GDB_AT_SIGNAL, .sig = sig };
	int r;

	(void)p;
	if (t->pid != g->pid || !g->begun || !gdb_ready(g))
		return 0;
	if (g->mode != GDB_LIVE)
		return back_signal(g, t);
	if (t->tid == g->tid_c && g->want.kind != 'c')
		g->step_pending = true;
	if (g->pass & 1ull << (sig - 1))
		return 0;
	r = mark_signal(g);
	return r ? r : gdb_serve(g, t, &stop);
}

static bool is_last(const struct gdb *g, const struct rthread *t)
{
	for (size_t i = 0; i < g->p->all.n; i++)
		if (g->p->all.at[i] != t && g->p->all.at[i]->pid == g->pid)
			return false;
	return true;
}

/* A death is told of at the process's first thread, an end at its last. */
static int before_end(struct gdb *g, struct rthread *t, int status, bool last)
{
	struct gdb_stop stop = { .reason = GDB_AT_END };
	int r;

	/* It was to go on to an event that is not to come. */
	if (g->mode == GDB_SEEK && last && g->goal.event > g->event)
		g->mode = GDB_LIVE;
	if (g->mode != GDB_LIVE)
		return back_signal(g, t);
	if (g->died || (!last && !WIFSIGNALED(status)))
		return 0;
	if (WIFSIGNALED(status)) {
		stop.reason = GDB_AT_SIGNAL;
		stop.sig = WTERMSIG(status);
	}
	g->died = g->event;
	r = mark_signal(g);
	return r ? r : gdb_serve(g, t, &stop);
}

int gdb_on_end(struct replay_debug *d, struct replayer *p, struct rthread *t, int status)
{
	struct gdb *g = MINE(d);
	const struct gdb_stop stop = { .reason = GDB_EXITED, .status = status };
	bool last;
	int r;

	(void)p;
	if (t->pid != g->pid || !g->begun || !gdb_ready(g))
		return 0;
	last = is_last(g, t);
	r = before_end(g, t, status, last);
	if (r || !last || g->mode != GDB_LIVE)
		return r;
	g->ended = true;
	do
		r = gdb_serve(g, t, &stop);
	while (!r);
	return r;
}
