/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A process is the sum of what its ended threads came to, which the kernel
 * side keeps, and of its threads alive. The first is read before the second: a thread
 * that ends meanwhile is missed once; totals stand still for that long, and go on. For
 * the same reason a process that nobody is left of goes only when the next refresh has
 * not found any more ends of it.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

enum { CPU, RUNNABLE, BLOCKED, LOCK, SWITCHES, CALLS };

static size_t process_of(struct watch *w, pid_t tgid)
{
	struct now *n = &w->now;
	size_t *at = map_get(w->by_tgid, &tgid);
	struct watch_process_row *row;
	struct now_process *grown;
	size_t cap = w->process_cap;

	if (at)
		return *at;
	grown = watch_grow(n->process, &cap, n->nprocess, sizeof(*grown));
	if (!grown)
		return SIZE_MAX;
	n->process = grown;
	row = watch_grow(w->process_row, &w->process_cap, n->nprocess, sizeof(*row));
	if (!row)
		return SIZE_MAX;
	w->process_row = row;
	memset(&row[n->nprocess], 0, sizeof(*row));
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
	w->process_row[i] = w->process_row[n->nprocess];
	tgid = n->process[i].tgid;
	at = map_get(w->by_tgid, &tgid);
	if (at)
		*at = i;
}

void watch_processes_begin(struct watch *w)
{
	struct now *n = &w->now;
	size_t i;

	for (i = 0; i < n->nprocess; i++) {
		struct now_process *p = &n->process[i];
		bool empty = !p->threads;

		p->threads = p->running = p->runnable = p->blocked = 0;
		p->ended.step = 0;
		p->age_ns = 0;
		memset(&w->process_row[i], 0, sizeof(w->process_row[i]));
		w->process_row[i].empty = empty;
	}
}

/* Those that had nobody left the last time are not shown again. */
static void drop_ended(struct watch *w)
{
	struct now *n = &w->now;
	size_t i;

	for (i = n->nprocess; i-- > 0;) {
		struct now_process *p = &n->process[i];

		if (p->threads || p->ended.step || !w->process_row[i].empty)
			continue;
		if (w->ended_fd >= 0)
			(void)bpf_map_delete_elem(w->ended_fd, &p->tgid);
		process_drop(w, i);
	}
}

int watch_ended(void *ctx, const void *tgid, const void *ended)
{
	struct watch *w = ctx;
	const struct live_ended *d = ended;
	size_t at = process_of(w, *(const pid_t *)tgid);
	struct watch_process_row *row;
	struct now_process *p;

	if (at == SIZE_MAX)
		return -ENOMEM;
	p = &w->now.process[at];
	row = &w->process_row[at];
	row->sum[CPU] = d->oncpu_ns;
	row->sum[RUNNABLE] = d->runnable_ns;
	row->sum[BLOCKED] = d->blocked_ns;
	row->sum[LOCK] = d->lock_ns;
	row->sum[SWITCHES] = d->switches;
	row->sum[CALLS] = d->calls;
	row->created = d->created;
	watch_count(&p->ended, d->ended);
	/* Its first thread's name comes over it while that is alive; an exec may change it. */
	memcpy(p->comm, d->comm, LIVE_COMM);
	p->comm[LIVE_COMM - 1] = '\0';
	return 0;
}

static void add_thread(struct now_process *p, struct watch_process_row *row,
		       const struct now_thread *t)
{
	p->threads++;
	p->running += t->state == NOW_RUNNING;
	p->runnable += t->state == NOW_RUNNABLE;
	p->blocked += t->state == NOW_BLOCKED;
	row->sum[CPU] += t->cpu_ns.total;
	row->sum[RUNNABLE] += t->runnable_ns.total;
	row->sum[BLOCKED] += t->blocked_ns.total;
	row->sum[LOCK] += t->lock_ns.total;
	row->sum[SWITCHES] += t->switches.total;
	row->sum[CALLS] += t->calls.total;
	row->created += t->created;
	if (t->age_ns > p->age_ns)
		p->age_ns = t->age_ns;
	if (t->tid == t->tgid || !p->comm[0])
		memcpy(p->comm, t->comm, sizeof(p->comm));
}

static void add_step(struct now_count *c, uint64_t step)
{
	c->step += step;
	c->total += step;
}

static void finish_process(struct now *n, struct now_process *p,
			   const struct watch_process_row *row)
{
	watch_count(&p->cpu_ns, row->sum[CPU]);
	watch_count(&p->runnable_ns, row->sum[RUNNABLE]);
	watch_count(&p->blocked_ns, row->sum[BLOCKED]);
	watch_count(&p->lock_ns, row->sum[LOCK]);
	watch_count(&p->switches, row->sum[SWITCHES]);
	watch_count(&p->calls, row->sum[CALLS]);
	watch_count(&p->born, row->created);
	p->past[n->tick % NOW_PAST] = n->interval_ns ?
		(float)p->cpu_ns.step / (float)n->interval_ns : 0;
	add_step(&n->cpu_ns, p->cpu_ns.step);
	add_step(&n->runnable_ns, p->runnable_ns.step);
	add_step(&n->switches, p->switches.step);
}

int watch_processes_end(struct watch *w)
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
		add_thread(&n->process[at], &w->process_row[at], t);
	}
	drop_ended(w);
	n->cpu_ns.step = n->runnable_ns.step = n->switches.step = 0;
	for (i = 0; i < n->nprocess; i++)
		finish_process(n, &n->process[i], &w->process_row[i]);
	return 0;
}
