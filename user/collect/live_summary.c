/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/live_progs.h"
#include "collect/live_routine.h"
#include "collect/live_tapes.h"
#include "collect/live_state.h"

static int by_cost(const void *a, const void *b)
{
	const struct sum_thread *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	if (x->lifetime_ns != y->lifetime_ns)
		return x->lifetime_ns < y->lifetime_ns ? 1 : -1;
	return x->tid - y->tid;
}

static void fill_threads(struct live *l, struct summary *s, uint64_t begin_ns)
{
	const struct live_counts *c = live_counts(l);
	struct sum_threads *t = &s->threads;
	size_t i;

	t->created = c->threads_created;
	t->exited = c->threads_exited;
	t->processes_created = c->procs_created;
	t->processes_exited = c->procs_exited;
	t->live_peak = c->live_peak;
	t->cost = l->cost;
	t->lifetime = l->lifetime;
	memcpy(t->stage, l->stage, sizeof(t->stage));
	t->by_thread_cap = LIVE_THREAD_ROWS;
	t->by_thread_cut = l->thread_cut;
	t->by_thread = l->thread;
	t->nby_thread = l->nthread;
	l->thread = NULL;
	l->nthread = 0;
	for (i = 0; i < t->nby_thread; i++) {
		struct sum_thread *row = &t->by_thread[i];

		if (row->created && !row->is_process)
			hist_add(&t->cost, row->cost_ns);
		/* Who was there already was there from the start, not since it was found. */
		if (!row->created && row->start_ns <= l->found_ns)
			row->start_ns = begin_ns;
		row->start_ns = row->start_ns > begin_ns ? row->start_ns - begin_ns : 0;
	}
	if (t->nby_thread)
		qsort(t->by_thread, t->nby_thread, sizeof(*t->by_thread), by_cost);
}

void live_fill_overhead(const struct live *l, struct sum_overhead *o)
{
	struct cost added;

	o->consumer_cpu_ns = clock_process_cpu_ns() - l->cpu_at_start_ns;
	if (!l->has_cost)
		return;
	o->measured = true;
	o->bare_call_ns = l->bare.call_ns;
	cost_added(&l->bare, &l->traced, &added);
	o->ns_per_start_routine = added.routine_ns;
	/* In wait mode no program runs at a call: what was measured is the machine's noise. */
	if (l->mode == SUM_WAIT)
		return;
	o->ns_per_syscall = added.call_ns;
	o->ns_per_futex = added.futex_ns;
	o->ns_per_pipe_chunk = added.chunk_ns;
}

void live_fill_loss(const struct live *l, struct sum_loss *loss)
{
	const struct live_counts *c = live_counts(l);

	loss->ring_full = c->ring_full;
	loss->map_full = c->map_full + l->waits_lost;
	loss->recursion = live_missed_ever(l) - l->missed_before;
	loss->unpaired = c->unpaired;
	loss->stacks = c->stacks + l->stacks_lost;
	loss->unknown = l->unknown;
	loss->total = loss->ring_full + loss->map_full + loss->recursion + loss->unpaired +
		      loss->stacks + loss->unknown;
}

static int fill_ways(const struct live *l, struct summary *s)
{
	static const struct sum_collector routine = { "start-routine", "uprobe" };
	size_t i;

	s->collector = calloc(live_ncollectors + 1, sizeof(*s->collector));
	if (!s->collector)
		return -ENOMEM;
	for (i = 0; i < live_ncollectors; i++) {
		if (!(l->collect & live_collectors[i].bit))
			continue;
		s->collector[s->ncollector].name = live_collectors[i].name;
		s->collector[s->ncollector++].way =
			live_collector_way(&live_collectors[i], l->mode, l->way);
	}
	if (l->routines)
		s->collector[s->ncollector++] = routine;
	return 0;
}

/* What the user did not ask for was not collected on purpose: leave it out. */
static void drop_unasked(struct summary *s)
{
	if (!(s->collected & SUM_SYSCALLS))
		while (s->nsyscall)
			free(s->syscall[--s->nsyscall].by_errno);
	if (!(s->collected & SUM_SCHED))
		s->sched.nblock = 0;
}

static uint32_t online_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (uint32_t)n : 0;
}

int live_summary(struct live *l, struct summary *s, struct err *err)
{
	uint64_t begin = l->command_ns ? l->command_ns : l->started_ns;
	uint64_t end = l->stopped_ns;
	int r = 0;

	s->mode = l->mode;
	s->collected = l->collect;
	/* A run ends with its last thread, not when we noticed. */
	if (l->command_ns && !l->still_running && l->last_exit_ns > begin)
		end = l->last_exit_ns;
	s->duration_ns = end > begin ? end - begin : 0;
	s->started_realtime_ns = l->started_real_ns + (begin - l->started_ns);
	s->still_running = l->still_running;
	s->compat_calls = live_counts(l)->compat;
	s->hidden = live_counts(l)->hidden;
	s->mmap_bytes = live_counts(l)->mmap_bytes;
	s->sched.cpus = online_cpus();
	r = live_fill_routines(l, s);
	fill_threads(l, s, begin);
	if (!r)
		r = live_fill_calls(l, s);
	if (!r && (l->collect & SUM_FUTEX))
		r = live_fill_futexes(l, s);
	if (!r && (l->collect & SUM_PIPES))
		r = live_fill_pipes(l, s);
	if (!r && (l->collect & SUM_PIPES))
		r = live_fill_tapes(l, s);
	if (!r && (l->collect & SUM_SCHED))
		r = live_fill_sched(l, s);
	if (!r)
		r = fill_ways(l, s);
	live_fill_overhead(l, &s->overhead);
	live_fill_loss(l, &s->loss);
	drop_unasked(s);
	return r ? err_sys(err, -r, "cannot read what was counted") : 0;
}
