/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel side keeps each thread's figures in a slot of memory that is
 * mapped here (shared/live.h, struct live_seen): a look goes through the slots, and
 * asks the kernel for nothing. A slot has its row until another thread has the slot;
 * of one that sleeps on as before only time passes. What a thread did between its
 * last look and its end comes with the event of its end.
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

/* ---- processes ---- */

static size_t process_of(struct watch *w, pid_t tgid)
{
	struct now *n = &w->now;
	size_t *at = map_get(w->by_tgid, &tgid);
	struct now_process *grown;

	if (at)
		return *at;
	grown = watch_grow(n->process, &w->process_cap, n->nprocess, sizeof(*grown));
	if (!grown)
		return SIZE_MAX;
	n->process = grown;
	at = map_put(w->by_tgid, &tgid);
	if (!at)
		return SIZE_MAX;
	memset(&n->process[n->nprocess], 0, sizeof(*n->process));
	n->process[n->nprocess].tgid = tgid;
	*at = n->nprocess;
	return n->nprocess++;
}

static void process_drop(struct watch *w, size_t i)
{
	struct now *n = &w->now;
	pid_t tgid = n->process[i].tgid;
	size_t *at;

	map_del(w->by_tgid, &tgid);
	if (i == --n->nprocess)
		return;
	n->process[i] = n->process[n->nprocess];
	tgid = n->process[i].tgid;
	at = map_get(w->by_tgid, &tgid);
	if (at)
		*at = i;
}

static void add_step(struct now_count *c, uint64_t step)
{
	c->step += step;
	c->total += step;
}

/* What threads that have ended leave to their process, for this interval. */
static void bury(struct now_process *p, const struct watch_dead *d)
{
	add_step(&p->cpu_ns, d->cpu_ns);
	add_step(&p->runnable_ns, d->runnable_ns);
	add_step(&p->blocked_ns, d->blocked_ns);
	add_step(&p->lock_ns, d->lock_ns);
	add_step(&p->switches, d->switches);
	add_step(&p->calls, d->calls);
	add_step(&p->born, d->born);
	add_step(&p->ended, d->ended);
	if (!p->comm[0])
		memcpy(p->comm, d->comm, LIVE_COMM);
}

static void reset_process(struct now_process *p)
{
	p->threads = p->running = p->runnable = p->blocked = 0;
	p->born.step = p->ended.step = 0;
	p->cpu_ns.step = p->runnable_ns.step = p->blocked_ns.step = 0;
	p->lock_ns.step = p->switches.step = p->calls.step = 0;
	p->age_ns = 0;
}

/* Those that had nobody left the last time are not shown again. */
static int begin_processes(struct watch *w)
{
	struct now *n = &w->now;
	const void *tgid;
	void *dead;
	size_t i, at, it = 0;

	for (i = n->nprocess; i-- > 0;)
		if (!n->process[i].threads)
			process_drop(w, i);
	for (i = 0; i < n->nprocess; i++)
		reset_process(&n->process[i]);
	while (map_next(w->dead, &it, &tgid, &dead)) {
		at = process_of(w, *(const pid_t *)tgid);
		if (at == SIZE_MAX)
			return -ENOMEM;
		bury(&n->process[at], dead);
	}
	map_clear(w->dead);
	return 0;
}

static void add_thread(struct now_process *p, const struct now_thread *t, bool born)
{
	p->threads++;
	p->running += t->state == NOW_RUNNING;
	p->runnable += t->state == NOW_RUNNABLE;
	p->blocked += t->state == NOW_BLOCKED;
	add_step(&p->cpu_ns, t->cpu_ns.step);
	add_step(&p->runnable_ns, t->runnable_ns.step);
	add_step(&p->blocked_ns, t->blocked_ns.step);
	add_step(&p->lock_ns, t->lock_ns.step);
	add_step(&p->switches, t->switches.step);
	add_step(&p->calls, t->calls.step);
	add_step(&p->born, born);
	if (t->age_ns > p->age_ns)
		p->age_ns = t->age_ns;
	if (t->tid == t->tgid || !p->comm[0])
		memcpy(p->comm, t->comm, sizeof(p->comm));
}

static float share(uint64_t part, uint64_t whole)
{
	return whole ? (float)part / (float)whole : 0;
}

static int sum_processes(struct watch *w)
{
	struct now *n = &w->now;
	size_t i, at = SIZE_MAX;
	pid_t tgid = 0;

	for (i = 0; i < n->nthread; i++) {
		const struct now_thread *t = &n->thread[i];

		if (t->tgid != tgid || at == SIZE_MAX)
			at = process_of(w, t->tgid);
		if (at == SIZE_MAX)
			return -ENOMEM;
		tgid = t->tgid;
		add_thread(&n->process[at], t, t->new_row && t->created);
	}
	n->cpu_ns.step = n->runnable_ns.step = n->switches.step = 0;
	for (i = 0; i < n->nprocess; i++) {
		struct now_process *p = &n->process[i];

		p->past[n->tick % NOW_PAST] = share(p->cpu_ns.step, n->interval_ns);
		add_step(&n->cpu_ns, p->cpu_ns.step);
		add_step(&n->runnable_ns, p->runnable_ns.step);
		add_step(&n->switches, p->switches.step);
	}
	return 0;
}

/* ---- threads ---- */

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

	if (tgid)
		*tgid = t ? t->tgid : known ? name->tgid : 0;
	return t ? t->comm : known ? name->comm : "";
}

static struct watch_gone seen_last(const struct now_thread *t)
{
	return (struct watch_gone){
		.began_ns = t->began_ns, .cpu_ns = t->cpu_ns.total,
		.runnable_ns = t->runnable_ns.total, .blocked_ns = t->blocked_ns.total,
		.lock_ns = t->lock_ns.total, .switches = t->switches.total,
		.calls = t->calls.total,
	};
}

/* What was seen last of the thread that has ended now. */
static bool find_last(const struct watch *w, const struct live_thread *e, struct watch_gone *out)
{
	pid_t tid = (pid_t)e->head.tid;
	const struct now_thread *t = watch_thread(w, tid);
	const struct watch_gone *gone;

	if (t && t->began_ns == e->start_ns) {
		*out = seen_last(t);
		return true;
	}
	gone = map_get(w->gone, &tid);
	if (gone && gone->began_ns == e->start_ns) {
		*out = *gone;
		return true;
	}
	return false;
}

static uint64_t beyond(uint64_t total, uint64_t seen)
{
	return total > seen ? total - seen : 0;
}

void watch_thread_ended(struct watch *w, const struct live_thread *e)
{
	struct watch_gone last = { 0 };
	struct watch_name *name = &w->name[e->head.tid % WATCH_NAMES];
	pid_t tgid = (pid_t)e->tgid;
	struct watch_dead *d;
	bool known;

	if (e->flags & THREAD_CALIB)
		return;
	name->tid = (pid_t)e->head.tid;
	name->tgid = (pid_t)e->tgid;
	memcpy(name->comm, e->comm, LIVE_COMM);
	name->comm[LIVE_COMM - 1] = '\0';
	known = find_last(w, e, &last);
	d = map_put(w->dead, &tgid);
	if (!d)
		return;
	d->cpu_ns += beyond(e->oncpu_ns, last.cpu_ns);
	d->runnable_ns += beyond(e->runnable_ns, last.runnable_ns);
	d->blocked_ns += beyond(e->blocked_ns, last.blocked_ns);
	d->lock_ns += beyond(e->futex_wait_ns, last.lock_ns);
	d->switches += beyond(e->voluntary + e->involuntary, last.switches);
	d->calls += beyond(e->calls, last.calls);
	d->ended++;
	d->born += !known && (e->flags & THREAD_CREATED);
	if (!d->comm[0] || name->tid == tgid)
		memcpy(d->comm, name->comm, LIVE_COMM);
}

static const char *wait_name(uint32_t nr)
{
	return nr == LIVE_NR_OTHER ? "page fault/other" : sysname(nr);
}

/* The row leaves the table: the last one takes its place. */
static int leaves(struct watch *w, size_t i)
{
	struct now *n = &w->now;
	struct now_thread *t = &n->thread[i], *last = &n->thread[n->nthread - 1];
	struct watch_gone *gone = map_put(w->gone, &t->tid);
	size_t *at;

	if (!gone)
		return -ENOMEM;
	*gone = seen_last(t);
	at = map_get(w->by_tid, &t->tid);
	if (at && *at == i)
		map_del(w->by_tid, &t->tid);
	w->row_of[t->slot] = 0;
	if (t != last) {
		*t = *last;
		w->row_of[t->slot] = (uint32_t)i + 1;
		at = map_get(w->by_tid, &t->tid);
		if (at)
			*at = i;
	}
	n->nthread--;
	return 0;
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

static void still_so(struct now_thread *t, uint64_t more)
{
	t->cpu_ns.step = t->runnable_ns.step = t->switches.step = 0;
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

static void take_row(struct now_thread *t, struct live_seen *e, uint64_t now_ns)
{
	add_since(e, now_ns);
	t->tgid = (pid_t)e->tgid;
	memcpy(t->comm, e->comm, LIVE_COMM);
	t->comm[LIVE_COMM - 1] = '\0';
	t->state = (enum now_state)e->state;
	t->wait = t->state == NOW_BLOCKED ? wait_name(e->block_nr) : NULL;
	t->lock_addr = t->state == NOW_BLOCKED ? e->lock_addr : 0;
	t->space = e->space;
	t->since_ns = e->since_ns;
	t->created = (e->flags & SEEN_CREATED) != 0;
	watch_count(&t->cpu_ns, e->oncpu_ns);
	watch_count(&t->runnable_ns, e->runnable_ns);
	watch_count(&t->blocked_ns, e->blocked_ns);
	watch_count(&t->lock_ns, e->lock_ns);
	watch_count(&t->switches, e->switches);
}

static void look_at(struct watch *w, struct now_thread *t, const volatile struct live_seen *seen,
		    uint64_t now_ns)
{
	struct live_seen e;

	if (!t->new_row && t->state == NOW_BLOCKED && seen->state == SEEN_BLOCKED &&
	    seen->since_ns == t->since_ns && !seen->woken_ns) {
		still_so(t, now_ns > t->looked_ns ? now_ns - t->looked_ns : 0);
		t->calls.step = 0;
	} else {
		memcpy(&e, (const void *)seen, sizeof(e));
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

	map_clear(w->gone);
	for (slot = 1; slot <= used; slot++) {
		const volatile struct live_seen *s = &seen[slot];
		uint32_t tid = s->tid, row = w->row_of[slot];
		struct now_thread *t = row ? &w->now.thread[row - 1] : NULL;

		if (t && (t->tid != (pid_t)tid || t->began_ns != s->start_ns)) {
			if (leaves(w, row - 1))
				return -ENOMEM;
			t = NULL;
		} else if (t) {
			t->new_row = false;
		}
		if (!tid)
			continue;
		if (!t) {
			struct live_seen e;

			memcpy(&e, (const void *)s, sizeof(e));
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

int watch_threads(struct watch *w, uint64_t now_ns)
{
	int r = begin_processes(w);

	if (!r)
		r = watch_look(w, w->l->seen, live_seen_used(w->l), now_ns);
	return r ? r : sum_processes(w);
}
