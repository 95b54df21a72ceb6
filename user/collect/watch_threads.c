/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel's iterator tells the threads in ascending order of their ids,
 * and so are the rows: a look is a merge of what comes with what is there, in
 * place, without a table of ids. New rows wait aside until its end. Of a thread that
 * sleeps on as before only that much is said, and its row is carried forward.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/sysnames.h"
#include "collect/watch_state.h"

#define LOOK_BYTES (64 << 10)

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

/* Index of the first row whose tid is not below @tid. */
static size_t lower_bound(const struct now_thread *row, size_t n, pid_t tid)
{
	size_t low = 0, half;

	while (n) {
		half = n / 2;
		if (row[low + half].tid < tid) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return low;
}

const struct now_thread *watch_thread(const struct watch *w, pid_t tid)
{
	size_t i = lower_bound(w->now.thread, w->now.nthread, tid);

	return i < w->now.nthread && w->now.thread[i].tid == tid ? &w->now.thread[i] : NULL;
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
		.tid = t->tid, .began_ns = t->began_ns, .cpu_ns = t->cpu_ns.total,
		.runnable_ns = t->runnable_ns.total, .blocked_ns = t->blocked_ns.total,
		.lock_ns = t->lock_ns.total, .switches = t->switches.total,
		.calls = t->calls.total,
	};
}

static int by_gone_tid(const void *a, const void *b)
{
	const struct watch_gone *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* What was seen last of the thread that has ended now. */
static bool find_last(const struct watch *w, const struct live_thread *e, struct watch_gone *out)
{
	struct watch_gone key = { .tid = (pid_t)e->head.tid }, *gone;
	const struct now_thread *t = watch_thread(w, key.tid);

	if (t && t->began_ns == e->start_ns) {
		*out = seen_last(t);
		return true;
	}
	gone = w->ngone ? bsearch(&key, w->gone, w->ngone, sizeof(key), by_gone_tid) : NULL;
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

static int leaves(struct watch *w, const struct now_thread *t)
{
	struct watch_gone *gone = watch_grow(w->gone, &w->gone_cap, w->ngone, sizeof(*gone));

	if (!gone)
		return -ENOMEM;
	w->gone = gone;
	gone[w->ngone++] = seen_last(t);
	return 0;
}

static const char *wait_name(uint32_t nr)
{
	return nr == LIVE_NR_OTHER ? "page fault/other" : sysname(nr);
}

static void still_so(struct now_thread *t, uint64_t now_ns)
{
	uint64_t more = now_ns > t->looked_ns ? now_ns - t->looked_ns : 0;

	t->cpu_ns.step = t->runnable_ns.step = t->switches.step = t->calls.step = 0;
	t->blocked_ns.step = more;
	t->blocked_ns.total += more;
	t->lock_ns.step = t->lock_addr ? more : 0;
	t->lock_ns.total += t->lock_ns.step;
}

static void take_row(struct now_thread *t, const struct live_seen *e)
{
	t->tgid = (pid_t)e->tgid;
	memcpy(t->comm, e->comm, LIVE_COMM);
	t->comm[LIVE_COMM - 1] = '\0';
	t->state = (enum now_state)(e->state < NOW_STATES ? e->state : NOW_UNSEEN);
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
	watch_count(&t->calls, e->calls);
}

static void finish_row(struct watch *w, struct now_thread *t, uint64_t now_ns)
{
	t->looked_ns = now_ns;
	t->state_ns = now_ns > t->since_ns ? now_ns - t->since_ns : 0;
	t->age_ns = now_ns > t->began_ns ? now_ns - t->began_ns : 0;
	t->past[w->now.tick % NOW_PAST] = share(t->cpu_ns.step, w->now.interval_ns);
}

static int add_row(struct watch *w, const struct live_seen *e, uint64_t now_ns)
{
	struct now_thread *t = watch_grow(w->born, &w->born_cap, w->nborn, sizeof(*t));

	if (!t)
		return -ENOMEM;
	w->born = t;
	t += w->nborn++;
	memset(t, 0, sizeof(*t));
	t->tid = (pid_t)e->tid;
	t->began_ns = e->start_ns;
	t->new_row = true;
	take_row(t, e);
	finish_row(w, t, now_ns);
	return 0;
}

/* Old rows before @tid have not come: their threads are gone. */
static int skip_to(struct watch *w, pid_t tid)
{
	while (w->at < w->now.nthread && w->now.thread[w->at].tid < tid)
		if (leaves(w, &w->now.thread[w->at++]))
			return -ENOMEM;
	return 0;
}

static int take_seen(struct watch *w, const struct live_seen *e, uint64_t now_ns)
{
	struct now_thread *old;
	bool same = e->flags & SEEN_SAME;

	if (skip_to(w, (pid_t)e->tid))
		return -ENOMEM;
	old = w->at < w->now.nthread ? &w->now.thread[w->at] : NULL;
	if (!old || old->tid != (pid_t)e->tid)
		return same ? 0 : add_row(w, e, now_ns);
	w->at++;
	if (!same && old->began_ns != e->start_ns)	/* the id is used again */
		return leaves(w, old) ? -ENOMEM : add_row(w, e, now_ns);
	if (same)
		still_so(old, now_ns);
	else
		take_row(old, e);
	old->new_row = false;
	finish_row(w, old, now_ns);
	if (w->kept != w->at - 1)
		w->now.thread[w->kept] = *old;
	w->kept++;
	return 0;
}

static int merge_born(struct watch *w)
{
	struct now *n = &w->now;
	size_t a = w->kept, b = w->nborn, to = a + b, cap = w->thread_cap;
	struct now_thread *row = n->thread;

	n->nthread = a;
	if (!b)
		return 0;
	while (cap < to)
		cap = cap ? cap * 2 : 64;
	if (cap != w->thread_cap) {
		row = realloc(n->thread, cap * sizeof(*row));
		if (!row)
			return -ENOMEM;
		n->thread = row;
		w->thread_cap = cap;
	}
	n->nthread = to;
	while (b)
		row[--to] = a && row[a - 1].tid > w->born[b - 1].tid ? row[--a] : w->born[--b];
	w->nborn = 0;
	return 0;
}

static int read_all(struct watch *w, int fd, uint64_t now_ns)
{
	char *b = malloc(LOOK_BYTES);
	size_t have = 0, at, need;
	struct live_seen e;
	pid_t last = 0;
	ssize_t n = 0;
	int r = b ? 0 : -ENOMEM;

	while (!r && (n = read(fd, b + have, LOOK_BYTES - have)) != 0) {
		if (n < 0) {
			r = errno == EINTR || errno == EAGAIN ? 0 : -errno;
			continue;
		}
		have += (size_t)n;
		for (at = 0; !r && have - at >= LIVE_SEEN_SAME_BYTES; at += need) {
			memcpy(&e, b + at, LIVE_SEEN_SAME_BYTES);
			need = e.flags & SEEN_SAME ? LIVE_SEEN_SAME_BYTES : sizeof(e);
			if (have - at < need)
				break;
			memcpy(&e, b + at, need);
			/* One in the middle of an exec has its old id: it is there the next time. */
			if ((pid_t)e.tid > last)
				r = take_seen(w, &e, now_ns);
			if ((pid_t)e.tid > last)
				last = (pid_t)e.tid;
		}
		memmove(b, b + at, have - at);
		have -= at;
	}
	free(b);
	return r;
}

static int look(struct watch *w, uint64_t now_ns, struct err *err)
{
	int fd = live_watch_open(w->l, w->last_ns), r;

	if (fd < 0)
		return err_sys(err, -fd, "cannot look through the threads");
	w->at = w->kept = w->nborn = w->ngone = 0;
	r = read_all(w, fd, now_ns);
	close(fd);
	if (!r)
		r = skip_to(w, INT32_MAX);
	if (!r)
		r = merge_born(w);
	return r ? err_sys(err, -r, "cannot look through the threads") : 0;
}

int watch_threads(struct watch *w, uint64_t now_ns, struct err *err)
{
	if (begin_processes(w))
		return err_sys(err, ENOMEM, "cannot keep the processes");
	if (look(w, now_ns, err))
		return -err->code;
	return sum_processes(w) ? err_sys(err, ENOMEM, "cannot keep the processes") : 0;
}
