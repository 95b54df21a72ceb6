/* SPDX-License-Identifier: MIT */
#include "collect/live.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "collect/live_routine.h"
#include "collect/live_tapes.h"
#include "collect/live_state.h"
#include "collect/refusal.h"
#include "out/perfetto.h"

/* An event younger than this may have an older one on its way on another CPU. */
#define SETTLE_NS 200000
#define FIND_TRIES 5
#define TICK_MIN_MS 1
#define TICK_WATCH_MS 100
#define WATCH_ANSWER_MS 1500

/* A ring that fills in a burst must be emptied before the burst goes on. */
#define CONSUMER_NICE (-15)

int live_init_tables(struct live *l)
{
	l->rng = 0x9e3779b97f4a7c15;
	l->who = map_new(sizeof(uint32_t), sizeof(struct live_who));
	l->reservoirs = map_new(sizeof(struct live_futex_key), sizeof(struct live_reservoir));
	l->waiting = map_new(sizeof(struct live_futex_key), sizeof(struct live_pending));
	l->joined = map_new(sizeof(uint32_t), sizeof(struct live_joined));
	l->joins = map_new(sizeof(struct live_edge_key), sizeof(uint64_t));
	if (!l->who || !l->reservoirs || !l->waiting || !l->joined || !l->joins)
		return -ENOMEM;
	return 0;
}

void live_release_tables(struct live *l)
{
	map_free(l->who);
	map_free(l->tracks);
	map_free(l->reservoirs);
	map_free(l->waiting);
	map_free(l->joined);
	map_free(l->joins);
	free(l->thread);
	free(l->sample);
	free(l->still);
}

static int live_init(struct live *l, const struct live_setup *setup, struct err *err)
{
	const struct sym_opts so = { .libexec_dir = setup->libexec_dir,
			       .debuginfod = setup->debuginfod,
			       /* Who watches a screen would rather do without a name. */
			       .answer_ms = setup->watch ? WATCH_ANSWER_MS : 0 };
	unsigned int nrings;

	l->mode = setup->mode;
	l->collect = setup->collect;
	l->timeline = setup->timeline;
	l->by_user = setup->user;
	l->ncpus = libbpf_num_possible_cpus();
	if (l->ncpus < 1)
		return err_sys(err, -l->ncpus, "cannot count the CPUs");
	if (live_init_tables(l))
		return err_sys(err, ENOMEM, "cannot set up the trace");
	l->sym_opts = so;
	l->sym = sym_new(&so, err);
	if (!l->sym)
		return -err->code;
	/* The kernel may count CPUs as possible that this machine has no place for. */
	nrings = ring_cpus((unsigned int)l->ncpus);
	l->ring = ring_new(nrings, ring_total(nrings, setup->ring_bytes ? setup->ring_bytes :
							LIVE_RING_BYTES), err);
	if (!l->ring)
		return err->code == EPERM ? refusal_err(err, EPERM, "cannot make the event rings",
							"", NULL) : -err->code;
	return 0;
}

struct live *live_open(const struct live_setup *setup, struct err *err)
{
	struct live *l = calloc(1, sizeof(*l));

	if (!l) {
		err_sys(err, ENOMEM, "cannot set up the trace");
		return NULL;
	}
	if (live_init(l, setup, err) || live_load(l, setup, err)) {
		live_free(l);
		return NULL;
	}
	return l;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	live_unload(l);
	free(l->fresh_bss);
	live_routine_free(l);
	ring_free(l->ring);
	sym_free(l->sym);
	live_release_tables(l);
	free(l);
}

int live_trouble(const struct live *l, struct err *why)
{
	return sym_trouble(l->sym, why);
}

int live_target(struct live *l, pid_t pid, bool own, struct err *err)
{
	if (own)
		l->own = pid;
	else
		live_routine_look(l, pid);
	return live_target_put(l, (uint32_t)pid, own, err);
}

void live_command(struct live *l, char *const *argv)
{
	live_routine_command(l, argv[0]);
	for (size_t i = 0; argv[i]; i++)
		live_tapes_look(l, argv[i]);
}

/*
 * A thread gets no state while a preempted one on the same CPU is getting its
 * own: look again for those that were passed over. Nothing is lost by it.
 */
static int find_threads(struct live *l, struct err *err)
{
	uint64_t before = live_counts(l)->map_full, passed;
	int tries, r = 0;

	for (tries = 0; tries < FIND_TRIES && !r; tries++) {
		r = live_iterate(l, false, err);
		passed = live_counts(l)->map_full - before;
		if (!passed)
			break;
		if (tries < FIND_TRIES - 1)
			live_forget_full(l, passed);
	}
	return r;
}

/* Processes have moved between cgroups, or may be another user's: which threads match now? */
static int look_again(struct live *l)
{
	uint64_t moved = __atomic_load_n(&live_counts(l)->moved, __ATOMIC_RELAXED);
	struct err err = { 0 };

	if (moved == l->moved)
		return 0;
	l->moved = moved;
	return find_threads(l, &err) ? -err.code : 0;
}

long live_start(struct live *l, struct err *err)
{
	/* Refused without the privilege; then losses are likelier, and shown. */
	l->nice_before = getpriority(PRIO_PROCESS, 0);
	l->hurries = !setpriority(PRIO_PROCESS, 0, CONSUMER_NICE);
	l->started_ns = clock_mono_ns();
	l->started_real_ns = clock_real_ns();
	l->cpu_at_start_ns = clock_process_cpu_ns();
	if (find_threads(l, err))
		return -err->code;
	l->found_ns = clock_mono_ns();
	return (long)live_threads(l);
}

uint64_t live_threads(const struct live *l)
{
	return __atomic_load_n(&live_counts(l)->live, __ATOMIC_RELAXED);
}

void live_set_cost(struct live *l, const struct cost *bare, const struct cost *traced)
{
	l->has_cost = true;
	l->bare = *bare;
	l->traced = *traced;
}

int live_tick(struct live *l, int timeout_ms, int other)
{
	int ms = ring_pause_ms(l->ring), woken;
	long n;

	/* A new C library waits to be probed, its threads do not wait. */
	if (l->routines)
		ms = TICK_MIN_MS;
	/* A view wants its stacks by the next refresh: a ring a quarter full wakes it before. */
	else if (l->watch && ms < TICK_WATCH_MS)
		ms = TICK_WATCH_MS;
	if (timeout_ms >= 0 && ms > timeout_ms)
		ms = timeout_ms;
	woken = ring_wait(l->ring, ms, other);
	if (woken < 0)
		return woken;
	n = ring_drain(l->ring, clock_mono_ns() - SETTLE_NS, live_batch, l);
	if (n < 0)
		return (int)n;
	n = look_again(l);
	return n ? (int)n : woken;
}

int live_stop(struct live *l, struct err *err)
{
	long n;
	int r;

	if (l->stopped)
		return 0;
	l->stopped_ns = clock_mono_ns();
	/*
	 * While all is still attached, so that each thread is told of once, as
	 * ended or as alive; those that ended before it come first.
	 */
	live_close(l);
	n = ring_drain(l->ring, UINT64_MAX, live_batch, l);
	r = live_iterate(l, true, err);
	/* Who lives on would be counted in the next trace. */
	if (!l->fresh_bss || live_threads(l))
		live_detach(l);
	l->stopped = true;
	if (n >= 0)
		n = ring_drain(l->ring, UINT64_MAX, live_batch, l);
	/* Nobody's events wait for what is left to do, names and printing. */
	if (l->hurries)
		(void)setpriority(PRIO_PROCESS, 0, l->nice_before);
	live_still_read(l);
	return n < 0 ? err_sys(err, (int)-n, "cannot read the event ring") : r;
}
