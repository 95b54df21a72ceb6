/* SPDX-License-Identifier: MIT */
/* System calls as a summary has them, each beside what it was the last time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

/* Names are the tables' own: a call has one pointer. */
static struct now_call *call_of(struct watch *w, const char *name)
{
	struct now *n = &w->now;
	struct now_call *c;
	size_t i;

	for (i = 0; i < n->ncall; i++)
		if (n->call[i].name == name || !strcmp(n->call[i].name, name))
			return &n->call[i];
	c = watch_grow(n->call, &w->call_cap, n->ncall, sizeof(*c));
	if (!c)
		return NULL;
	n->call = c;
	c += n->ncall++;
	memset(c, 0, sizeof(*c));
	c->name = name;
	c->nr = -1;
	return c;
}

/* The values of the last interval alone; which is the largest is known if it is of all. */
static void interval_quantiles(struct now_call *c, const struct hist *all, const struct hist *was)
{
	struct hist h = { .max = !was || all->max > was->max ? all->max : 0 };
	size_t i;

	c->p50_ns = c->p99_ns = 0;
	if (!c->calls.step)
		return;
	for (i = 0; i < HIST_BUCKETS; i++) {
		h.bucket[i] = all->bucket[i] - (was ? was->bucket[i] : 0);
		h.count += h.bucket[i];
	}
	watch_quantiles(&h, all->max, &c->p50_ns, &c->p99_ns);
}

static const struct hist *wall_before(const struct summary *before, int nr)
{
	size_t i;

	for (i = 0; i < before->nsyscall; i++)
		if (before->syscall[i].nr == nr)
			return &before->syscall[i].wall;
	return NULL;
}

static int take_calls(struct watch *w, const struct summary *s, const struct summary *before)
{
	size_t i;

	for (i = 0; i < s->nsyscall; i++) {
		const struct sum_syscall *from = &s->syscall[i];
		struct now_call *c = call_of(w, from->name);

		if (!c)
			return -ENOMEM;
		c->nr = from->nr;
		watch_count(&c->calls, from->calls);
		watch_count(&c->errors, from->errors);
		watch_count(&c->wall_ns, from->wall.sum);
		c->max_ns = from->wall.max;
		interval_quantiles(c, &from->wall, wall_before(before, from->nr));
	}
	return 0;
}

/* Waits that came back, by call, and those that last. */
static int take_blocked(struct watch *w, const struct summary *s, uint64_t *inside_ns)
{
	struct now *n = &w->now;
	struct now_call *c = NULL;
	size_t i;

	for (i = 0; i < s->sched.nblock; i++) {
		c = call_of(w, s->sched.block[i].name);
		if (!c)
			return -ENOMEM;
		watch_count(&c->blocked, s->sched.block[i].count);
		inside_ns[c - n->call] = s->sched.block[i].total_ns;
	}
	for (i = 0; i < n->nthread; i++) {
		const struct now_thread *t = &n->thread[i];

		if (!t->wait)
			continue;
		if (!c || c->name != t->wait)
			c = call_of(w, t->wait);
		if (!c)
			return -ENOMEM;
		c->inside++;
		inside_ns[c - n->call] += t->state_ns;
	}
	return 0;
}

static void begin_calls(struct watch *w)
{
	size_t i;

	for (i = 0; i < w->now.ncall; i++) {
		struct now_call *c = &w->now.call[i];

		c->inside = 0;
		c->calls.step = c->errors.step = c->wall_ns.step = 0;
		c->blocked.step = c->blocked_ns.step = 0;
		c->p50_ns = c->p99_ns = 0;
	}
}

int watch_take_calls(struct watch *w, const struct summary *s)
{
	/* One for each number and the waits outside a call. */
	uint64_t inside_ns[LIVE_NR_CALLS + 1] = { 0 };
	size_t i;
	int r;

	begin_calls(w);
	r = take_calls(w, s, &w->calls);
	if (!r)
		r = take_blocked(w, s, inside_ns);
	for (i = 0; !r && i < w->now.ncall; i++) {
		struct now_call *c = &w->now.call[i];

		watch_count(&c->blocked_ns, inside_ns[i]);
		c->past[w->now.tick % NOW_PAST] = w->now.interval_ns ?
			(float)(w->now.mode == SUM_EXACT ? c->wall_ns.step : c->blocked_ns.step) /
			(float)w->now.interval_ns : 0;
	}
	return r;
}

int watch_calls(struct watch *w)
{
	struct summary s;
	int r;

	summary_init(&s);
	s.mode = w->now.mode;
	r = live_fill_calls(w->l, &s);
	if (!r)
		r = watch_take_calls(w, &s);
	summary_release(&w->calls);
	w->calls = s;
	return r;
}
