/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel side keeps each thread's figures in a slot of memory that is
 * mapped here (shared/live.h, struct live_seen): a look goes through the slots, and
 * asks the kernel for nothing. A slot has its row until another thread has the slot;
 * of one that sleeps on as before only time passes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sysnames.h"
#include "collect/watch_state.h"

void *watch_grow(void *array, size_t *cap, size_t n, size_t bytes)
{
	size_t more = *cap ? *cap * 2 : 64;
	void *grown;

	if (n < *cap)
		return array;
	grown = realloc(array, more * bytes);
	if (grown)
		*cap = more;
	return grown;
}

static float share(uint64_t part, uint64_t whole)
{
	return whole ? (float)part / (float)whole : 0;
}

const struct now_thread *watch_thread(const struct watch *w, pid_t tid)
{
	const size_t *at = map_get(w->by_tid, &tid);

	return at ? &w->now.thread[*at] : NULL;
}

const char *watch_comm(const struct watch *w, pid_t tid, pid_t *tgid)
{
	const struct now_thread *t = watch_thread(w, tid);
	const struct watch_name *name = &w->name[(uint32_t)tid % WATCH_NAMES];
	bool known = t || (tid && name->tid == tid);
	const size_t *process = known ? NULL : map_get(w->by_tgid, &tid);

	/* A first thread that came and went between two looks: its process tells. */
	if (process) {
		if (tgid)
			*tgid = tid;
		return w->now.process[*process].comm;
	}
	if (tgid)
		*tgid = t ? t->tgid : known ? name->tgid : 0;
	return t ? t->comm : known ? name->comm : "";
}

uint64_t watch_still_ns(const struct watch *w, pid_t tid, uint64_t since_ns, uint64_t now_ns)
{
	const struct now_thread *t = watch_thread(w, tid);

	/* Woken, and not yet on a CPU: the wait is over. */
	if (t && t->state == NOW_RUNNABLE && t->since_ns >= since_ns && t->since_ns < now_ns)
		now_ns = t->since_ns;
	if (t && t->state == NOW_RUNNING)
		return 0;
	/* It may have begun since somebody looked at the clock. */
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

/* The row leaves the table: the last one takes its place. */
static void leaves(struct watch *w, size_t i)
{
	struct now *n = &w->now;
	size_t end = n->nthread - 1, *at;
	struct now_thread *t = &n->thread[i], *last = &n->thread[end];
	struct watch_name *name = &w->name[(uint32_t)t->tid % WATCH_NAMES];

	name->tid = t->tid;
	name->tgid = t->tgid;
	memcpy(name->comm, t->comm, LIVE_COMM);
	at = map_get(w->by_tid, &t->tid);
	if (at && *at == i)
		map_del(w->by_tid, &t->tid);
	w->row_of[t->slot] = 0;
	if (t != last) {
		*t = *last;
		w->row_of[t->slot] = (uint32_t)i + 1;
		/* Another thread may have its id by now. */
		at = map_get(w->by_tid, &t->tid);
		if (at && *at == end)
			*at = i;
	}
	n->nthread = end;
}

static struct now_thread *row_new(struct watch *w, uint32_t slot, const struct live_seen *e)
{
	struct now *n = &w->now;
	struct now_thread *t = watch_grow(n->thread, &w->thread_cap, n->nthread, sizeof(*t));
	pid_t tid = (pid_t)e->tid;
	size_t *at;

	if (!t)
		return NULL;
	n->thread = t;
	at = map_put(w->by_tid, &tid);
	if (!at)
		return NULL;
	*at = n->nthread;
	t += n->nthread++;
	memset(t, 0, sizeof(*t));
	t->tid = tid;
	t->began_ns = e->start_ns;
	t->slot = slot;
	t->new_row = true;
	w->row_of[slot] = (uint32_t)n->nthread;
	return t;
}

/*
 * The kernel side writes .since_ns before it adds up what was until then: while it is
 * the same after all has been read as before, nothing is in both.
 */
static void read_slot(struct live_seen *e, const volatile struct live_seen *seen)
{
	int tries = 4;

	do {
		memcpy(e, (const void *)seen, sizeof(*e));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (e->since_ns != seen->since_ns && --tries);
}

/* It sleeps as it did at the last look, under the same name. */
static bool sleeps_on(const struct now_thread *t, const volatile struct live_seen *seen)
{
	return !t->new_row && !t->ahead && t->state == NOW_BLOCKED && seen->state == SEEN_BLOCKED &&
	       seen->since_ns == t->since_ns && !seen->woken_ns &&
	       !memcmp((const void *)seen->comm, t->comm, LIVE_COMM - 1);
}

static void no_steps(struct now_thread *t)
{
	t->cpu_ns.step = t->runnable_ns.step = t->blocked_ns.step = 0;
	t->lock_ns.step = t->switches.step = t->calls.step = 0;
}

static void still_so(struct now_thread *t, uint64_t more)
{
	no_steps(t);
	t->blocked_ns.step = more;
	t->blocked_ns.total += more;
	t->lock_ns.step = t->lock_addr ? more : 0;
	t->lock_ns.total += t->lock_ns.step;
}

/* What is on since the thread's last switch, added to what is over. */
static void add_since(struct live_seen *e, uint64_t now_ns)
{
	uint64_t woken = e->state == SEEN_BLOCKED && e->woken_ns > e->since_ns ? e->woken_ns : 0;
	uint64_t until = woken && woken < now_ns ? woken : now_ns;
	uint64_t passed = until > e->since_ns ? until - e->since_ns : 0;

	switch (e->state) {
	case SEEN_RUNNING:
		e->oncpu_ns += passed;
		break;
	case SEEN_BLOCKED:
		e->blocked_ns += passed;
		if (e->lock_addr)
			e->lock_ns += passed;
		if (woken) {
			e->state = SEEN_RUNNABLE;
			e->since_ns = woken;
			e->runnable_ns += now_ns - until;
		}
		break;
	default:
		e->runnable_ns += passed;
		e->state = SEEN_RUNNABLE;
	}
}

#define CLOCKS_NS 1000000	/* more than the CPUs' clocks are apart */

/*
 * Who is new in the table and has a past all the same, as a filter let it in again or it
 * took its leader's place by an exec: only what is on since its last switch is a step.
 */
static void begin_figures(struct now_thread *t, const struct live_seen *e, uint64_t last_ns)
{
	uint64_t past = e->oncpu_ns + e->runnable_ns + e->blocked_ns;
	uint64_t lived = e->since_ns > e->start_ns ? e->since_ns - e->start_ns : 0;

	if (e->start_ns >= last_ns && past <= lived + CLOCKS_NS)
		return;
	t->cpu_ns.total = e->oncpu_ns;
	t->runnable_ns.total = e->runnable_ns;
	t->blocked_ns.total = e->blocked_ns;
	t->lock_ns.total = e->lock_ns;
	t->switches.total = e->switches;
	t->calls.total = e->calls;
}

/*
 * A switch after the clock was read, while the slots were gone through, has added what is
 * later than @now_ns: that is the next look's.
 */
static void count_time(struct now_thread *t, struct now_count *c, uint64_t total, uint64_t now_ns)
{
	/* An exec may have begun it anew since its last switch. */
	uint64_t began = t->since_ns < t->began_ns ? t->since_ns : t->began_ns;
	uint64_t from = t->new_row ? began : t->looked_ns;
	uint64_t most = now_ns > from ? now_ns - from : 0;

	if (total > c->total && total - c->total > most) {
		total = c->total + most;
		t->ahead = true;
	}
	watch_count(c, total);
}

static void take_row(struct now_thread *t, struct live_seen *e, uint64_t now_ns)
{
	add_since(e, now_ns);
	t->ahead = false;
	t->tgid = (pid_t)e->tgid;
	memcpy(t->comm, e->comm, LIVE_COMM);
	t->comm[LIVE_COMM - 1] = '\0';
	t->state = (enum now_state)e->state;
	t->wait = t->state == NOW_BLOCKED ? live_block_name(e->block_nr) : NULL;
	t->lock_addr = t->state == NOW_BLOCKED ? e->lock_addr : 0;
	t->lock_val = t->lock_addr ? e->lock_val : 0;
	t->space = e->space;
	t->since_ns = e->since_ns;
	t->created = (e->flags & SEEN_CREATED) != 0;
	count_time(t, &t->cpu_ns, e->oncpu_ns, now_ns);
	count_time(t, &t->runnable_ns, e->runnable_ns, now_ns);
	count_time(t, &t->blocked_ns, e->blocked_ns, now_ns);
	count_time(t, &t->lock_ns, e->lock_ns, now_ns);
	watch_count(&t->switches, e->switches);
}

static void look_at(struct watch *w, struct now_thread *t, const volatile struct live_seen *seen,
		    uint64_t now_ns)
{
	struct live_seen e;

	if (sleeps_on(t, seen)) {
		still_so(t, now_ns > t->looked_ns ? now_ns - t->looked_ns : 0);
	} else {
		read_slot(&e, seen);
		if (t->new_row)
			begin_figures(t, &e, now_ns - w->now.interval_ns);
		take_row(t, &e, now_ns);
		watch_count(&t->calls, e.calls);
	}
	t->looked_ns = now_ns;
	t->state_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	t->age_ns = now_ns > t->began_ns ? now_ns - t->began_ns : 0;
	t->past[w->now.tick % NOW_PAST] = share(t->cpu_ns.step, w->now.interval_ns);
}

int watch_look(struct watch *w, const volatile struct live_seen *seen, uint32_t used,
	       uint64_t now_ns)
{
	uint32_t slot;

	for (slot = 1; slot <= used; slot++) {
		const volatile struct live_seen *s = &seen[slot];
		uint32_t tid = s->tid, row = w->row_of[slot];
		struct now_thread *t = row ? &w->now.thread[row - 1] : NULL;

		if (t && (t->tid != (pid_t)tid || t->began_ns != s->start_ns)) {
			leaves(w, row - 1);
			t = NULL;
		} else if (t) {
			t->new_row = false;
		}
		if (!tid)
			continue;
		if (!t) {
			struct live_seen e;

			read_slot(&e, s);
			if (e.tid != tid)
				continue;	/* changes hands just now */
			t = row_new(w, slot, &e);
		}
		if (!t)
			return -ENOMEM;
		look_at(w, t, s, now_ns);
	}
	return 0;
}
