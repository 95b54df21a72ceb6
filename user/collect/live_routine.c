/* SPDX-License-Identifier: MIT */
/* --start-routine: when a thread's start routine began, and its name. */
#include "collect/live_routine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/live_state.h"
#include "collect/privilege.h"
#include "collect/seen.h"
#include "collect/startprobe.h"
#include "out/perfetto.h"

#define SPACES_SEEN ((size_t)1 << 16)
#define BEGUN_MAX ((size_t)1 << 18)	/* threads that live, and those whose end was lost */

struct routine_key { uint64_t addr; uint32_t space, pad; };
struct begun { uint64_t ts; uint32_t routine; };

struct live_routines {
	struct startprobe *probe;
	struct seen *spaces;		/* numbers of those whose process was looked at */
	struct map *numbers;		/* struct routine_key → uint32_t, 1 + index in .row */
	struct map *begun;		/* thread id → struct begun */
	struct routine_key row[LIVE_ROUTINES];
	uint64_t threads[LIVE_ROUTINES];
	uint32_t nrow;
	uint64_t entry_ns;		/* least time from an instruction to its probe */
};

int live_routine_open(struct live *l, struct bpf_program *prog, struct err *err)
{
	struct live_routines *q = calloc(1, sizeof(*q));

	if (!q)
		return err_sys(err, ENOMEM, "cannot set up the trace");
	l->routines = q;
	q->entry_ns = UINT64_MAX;
	q->spaces = seen_new(sizeof(uint32_t), SPACES_SEEN);
	q->numbers = map_new(sizeof(struct routine_key), sizeof(uint32_t));
	q->begun = map_new(sizeof(uint32_t), sizeof(struct begun));
	if (!q->spaces || !q->numbers || !q->begun)
		return err_sys(err, ENOMEM, "cannot set up the trace");
	q->probe = startprobe_new(prog, err);
	return q->probe ? 0 : -err->code;
}

void live_routine_detach(struct live *l)
{
	if (l->routines && l->routines->probe)
		startprobe_detach(l->routines->probe);
}

void live_routine_free(struct live *l)
{
	struct live_routines *q = l->routines;

	if (!q)
		return;
	startprobe_free(q->probe);
	seen_free(q->spaces);
	map_free(q->numbers);
	map_free(q->begun);
	free(q);
	l->routines = NULL;
}

void live_routine_look(struct live *l, pid_t pid)
{
	privilege_lower();
	if (l->routines && live_may_look(pid))
		startprobe_look(l->routines->probe, pid);
	privilege_raise();
}

void live_routine_command(struct live *l, const char *command)
{
	if (l->routines)
		startprobe_command(l->routines->probe, command);
}

/* ---- events ---- */

static uint32_t number_of(struct live *l, const struct live_routine *e)
{
	struct live_routines *q = l->routines;
	struct routine_key key = { .addr = e->addr, .space = e->space };
	uint32_t *n = map_get(q->numbers, &key);

	if (n)
		return *n;
	if (q->nrow == LIVE_ROUTINES)
		return 0;
	n = map_put(q->numbers, &key);
	if (!n)
		return 0;
	q->row[q->nrow++] = key;
	*n = q->nrow;
	live_snapshot(l, e->space, (pid_t)e->tgid);
	return q->nrow;
}

static void began(struct live *l, const struct live_routine *e)
{
	struct begun *b;

	if (e->flags & THREAD_CALIB) {
		if (e->head.ts - e->addr < l->routines->entry_ns)
			l->routines->entry_ns = e->head.ts - e->addr;
		return;
	}
	if (map_count(l->routines->begun) >= BEGUN_MAX)
		map_clear(l->routines->begun);
	b = map_put(l->routines->begun, &e->head.tid);
	if (b)
		*b = (struct begun){ e->head.ts, number_of(l, e) };
}

void live_routine_event(struct live *l, const struct live_head *head)
{
	const struct live_birth *birth = (const void *)head;
	const struct live_exec *exec = (const void *)head;

	if (!l->routines)
		return;
	if (head->type == EV_ROUTINE) {
		began(l, (const void *)head);
	} else if (head->type == EV_EXEC) {
		live_routine_look(l, (pid_t)exec->tgid);
	} else if (head->type == EV_BIRTH && !(birth->flags & THREAD_PROCESS) &&
		   seen_first(l->routines->spaces, &birth->space)) {
		/* By now its libraries are mapped. */
		live_routine_look(l, (pid_t)birth->tgid);
		live_snapshot(l, birth->space, (pid_t)birth->tgid);
	}
}

uint32_t live_routine_of(struct live *l, const struct live_thread *e)
{
	struct live_routines *q = l->routines;
	const struct begun *b = q ? map_get(q->begun, &e->head.tid) : NULL;
	uint32_t n = 0;

	if (!b)
		return 0;
	/* The id may have been another thread's, whose end was lost. */
	if (b->ts >= e->start_ns) {
		n = b->routine;
		if (n)
			q->threads[n - 1]++;
	}
	map_del(q->begun, &e->head.tid);
	return n;
}

/* ---- summary ---- */

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Of two processes, or of two addresses with no name, one row each where they differ. */
static size_t find_row(const struct sum_threads *t, const struct sum_routine *r)
{
	size_t i;

	for (i = 0; i < t->nroutine; i++)
		if (same(t->routine[i].symbol, r->symbol) &&
		    same(t->routine[i].module, r->module) &&
		    (r->symbol || t->routine[i].addr == r->addr))
			break;
	return i;
}

static char *copy(const char *s)
{
	return s ? strdup(s) : NULL;
}

/* A stripped file has no name for it, but is one itself. */
static void name_routine(struct live *l, const struct routine_key *key, struct sum_routine *r)
{
	struct sym_regs at = { .ip = key->addr };
	struct sym_frame frame;
	struct sym_name name;

	if (!sym_code(l->sym, key->space, key->addr, &name)) {
		r->symbol = copy(name.symbol);
		r->module = copy(name.module);
	} else if (sym_unwind(l->sym, key->space, &at, NULL, 0, &frame, 1) == 1) {
		r->module = copy(frame.module);
	}
}

static void add_routine(struct live *l, struct sum_threads *t, uint32_t number, uint32_t *index)
{
	const struct routine_key *key = &l->routines->row[number];
	struct sum_routine r = { .addr = key->addr, .threads = l->routines->threads[number] };
	size_t i;

	if (!r.threads)
		return;
	name_routine(l, key, &r);
	i = find_row(t, &r);
	if (i == t->nroutine) {
		t->routine[t->nroutine++] = r;
	} else {
		t->routine[i].threads += r.threads;
		free(r.symbol);
		free(r.module);
	}
	index[number] = (uint32_t)i + 1;
}

static void sort_routines(struct sum_threads *t, uint32_t *rank)
{
	size_t i, j, best;

	for (i = 0; i < t->nroutine; i++)
		rank[i] = (uint32_t)i;
	/* A handful of them: by selection, which tells where each went. */
	for (i = 0; i < t->nroutine; i++) {
		struct sum_routine r;
		uint32_t was;

		for (best = i, j = i + 1; j < t->nroutine; j++)
			if (t->routine[j].threads > t->routine[best].threads)
				best = j;
		r = t->routine[i];
		t->routine[i] = t->routine[best];
		t->routine[best] = r;
		was = rank[i];
		rank[i] = rank[best];
		rank[best] = was;
	}
}

/* On a thread's track, from its routine's first instruction to its end. */
static void draw(struct live *l, const struct sum_threads *t, const struct sum_thread *row)
{
	const struct sum_routine *r = row->routine ? &t->routine[row->routine - 1] : NULL;
	uint64_t before = row->stage_ns[SUM_STAGE_WAKEUP] + row->stage_ns[SUM_STAGE_START] +
			  row->stage_ns[SUM_STAGE_SETUP] + row->stage_ns[SUM_STAGE_ROUTINE];
	struct trace_arg arg = { .key = "routine", .kind = TRACE_HEX, .u64 = r ? r->addr : 0 };

	if (row->start_ns + before < l->started_ns || before > row->lifetime_ns)
		return;
	trace_slice(l->timeline, row->tgid, row->tid, "thread",
		    r && r->symbol ? r->symbol : "start routine",
		    row->start_ns + before - l->started_ns, row->lifetime_ns - before, &arg, !!r);
}

int live_fill_routines(struct live *l, struct summary *s)
{
	struct live_routines *q = l->routines;
	struct sum_threads *t = &s->threads;
	uint32_t *index, *rank, n;
	size_t i;

	if (!q)
		return 0;
	t->routines_asked = true;
	s->overhead.ns_in_routine_stage = q->entry_ns < UINT64_MAX ? q->entry_ns : 0;
	index = calloc(q->nrow + 1, sizeof(*index));
	rank = calloc(q->nrow + 1, sizeof(*rank));
	t->routine = calloc(q->nrow + 1, sizeof(*t->routine));
	if (!index || !rank || !t->routine) {
		free(index);
		free(rank);
		return -ENOMEM;
	}
	for (n = 0; n < q->nrow; n++)
		add_routine(l, t, n, index);
	sort_routines(t, rank);
	for (n = 0; n < q->nrow; n++)
		for (i = 0; index[n] && i < t->nroutine; i++)
			if (rank[i] == index[n] - 1) {
				index[n] = (uint32_t)i + 1;
				break;
			}
	for (i = 0; i < l->nthread; i++) {
		n = l->thread[i].routine;
		l->thread[i].routine = n ? index[n - 1] : 0;
		if (l->timeline && l->thread[i].stage_ns[SUM_STAGE_ROUTINE])
			draw(l, t, &l->thread[i]);
	}
	free(index);
	free(rank);
	return 0;
}
