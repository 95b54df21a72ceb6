/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: where a computation passes no call for long, the way to a point is too long for single
 * steps. What the point looks like is known, so of any state it can be said whether it is before
 * it: a fork comes there, or does not. Forks run for a while, and those that are before the point
 * are gone on from, until a few thousand instructions are left. How far the point is is told by how
 * long a fork took to come there, which is some times what the program itself takes.
 */
#include <signal.h>
#include <sys/time.h>

#include "base/clock.h"
#include "rr/gdb_state.h"
#include "rr/place.h"

#define TRIES 100
#define LEAST_NS 4000		/* of a run */
#define FIRST_NS 600000000000u	/* that the way may take */
#define MORE_NS 10000000	/* that a fork may need beyond what was needed before */
#define SETUP_NS 4000000	/* for coming to a point that is near */

static volatile pid_t running;

static void on_alarm(int sig)
{
	(void)sig;
	if (running > 0)
		kill(running, SIGSTOP);
}

/* While this lasts, @pid is stopped every @ns. */
static void set_alarm(pid_t pid, uint64_t ns)
{
	const struct timeval v = { (time_t)(ns / 1000000000), (suseconds_t)(ns / 1000 % 1000000) };
	const struct itimerval t = { .it_interval = v, .it_value = v };

	running = pid;
	setitimer(ITIMER_REAL, &t, NULL);
}

static void take_alarm(void)
{
	const struct itimerval none = { { 0, 0 }, { 0, 0 } };

	running = 0;
	setitimer(ITIMER_REAL, &none, NULL);
}

static int copy(struct tracee *to, struct tracee *from, struct err *err)
{
	int r = tracee_copy(to, from, err);

	if (r)
		return r;
	to->regs = from->regs;
	return tracee_set_regs(to, err);
}

/* Whether a fork of @t comes to the point; *ns is how long it may take, and took. */
static bool is_before(struct tracee *t, const struct place *p, uint64_t *ns)
{
	const uint64_t begin = clock_mono_ns();
	struct err unused = { 0 };
	struct tracee scout;
	size_t equal;
	bool there;
	int sig;

	if (place_is_here(t, p) || copy(&scout, t, &unused))
		return false;
	set_alarm(scout.pid, *ns);
	there = place_hunt(&scout, p, &equal, &sig, &unused) == 1;
	take_alarm();
	there = there && scout.pid > 0 && place_is_here(&scout, p);
	tracee_kill(&scout);
	*ns = clock_mono_ns() - begin;
	return there;
}

/* Runs it for about so long. Whether nothing else stopped it. */
static bool run_for(struct tracee *t, uint64_t ns)
{
	struct err unused = { 0 };
	int sig = 0, r;

	set_alarm(t->pid, ns);
	r = tracee_resume(t, false, &sig, &unused);
	take_alarm();
	return !r && sig == SIGSTOP;
}

/* A fork of @lo that has run for @ns and is before the point takes its place. */
static bool go_on_by(struct tracee *lo, const struct place *p, uint64_t ns, uint64_t *far)
{
	struct err unused = { 0 };
	struct tracee_hook *hook = lo->hook;
	struct tracee next;
	uint64_t need = *far + *far / 4 + MORE_NS;

	if (copy(&next, lo, &unused))
		return false;
	if (!run_for(&next, ns) || !is_before(&next, p, &need)) {
		tracee_kill(&next);
		return false;
	}
	*far = need;
	next.hook = hook;
	tracee_kill(lo);
	*lo = next;
	return true;
}

int gdb_near(struct gdb *g, struct tracee *t)
{
	const struct place p = { &g->near.place, (const char *)&g->near.stack,
				 g->near.stack_bytes };
	const struct sigaction act = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
	uint64_t far = FIRST_NS, ns;
	bool moved = false;
	int r = gdb_guard_lift(g, t, g->err);

	if (r)
		return r;
	sigaction(SIGALRM, &act, NULL);
	if (!is_before(t, &p, &far))
		return 0;
	ns = far / 32 + SETUP_NS;
	for (int i = 0; i < TRIES && ns > LEAST_NS && !gdbconn_wants_stop(&g->conn); i++) {
		const uint64_t was = far;

		if (!go_on_by(t, &p, ns, &far)) {
			ns /= 2;
			continue;
		}
		moved = true;
		/* The rest, at the pace of this. */
		if (far > SETUP_NS && was > far)
			ns = (uint64_t)((double)ns * (double)far / (double)(was - far) * 0.9);
	}
	if (!moved)
		return 0;
	gdb_make_place(&g->near, t);
	g->near_used = true;
	g->count = 0;
	return 0;
}
