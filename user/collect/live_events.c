/* SPDX-License-Identifier: MIT */
/* The ring's events: threads that ended, joins, stacks, and the timeline. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/live_routine.h"
#include "collect/live_tapes.h"
#include "collect/live_state.h"
#include "collect/live_timeline.h"
#include "collect/privilege.h"
#include "collect/proc.h"
#include "collect/watch_state.h"

_Static_assert((int)LIVE_STAGES == (int)SUM_STAGES && (int)STAGE_JOIN == (int)SUM_STAGE_JOIN &&
	       (int)STAGE_SETUP == (int)SUM_STAGE_SETUP, "stages are the same on both sides");

static struct sum_thread *thread_row(struct live *l)
{
	struct sum_thread *t;
	size_t cap;

	if (l->nthread >= LIVE_THREAD_ROWS) {
		l->thread_cut++;
		return NULL;
	}
	if (l->nthread == l->thread_cap) {
		cap = l->thread_cap ? l->thread_cap * 2 : 64;
		t = realloc(l->thread, cap * sizeof(*t));
		if (!t) {
			l->thread_cut++;
			return NULL;
		}
		l->thread = t;
		l->thread_cap = cap;
	}
	t = &l->thread[l->nthread++];
	memset(t, 0, sizeof(*t));
	return t;
}

static void copy_comm(char to[SUM_COMM + 1], const char from[LIVE_COMM])
{
	memcpy(to, from, LIVE_COMM);
	to[LIVE_COMM] = '\0';
}

const char *live_comm(const struct live *l, pid_t tid, pid_t *tgid)
{
	uint32_t key = (uint32_t)tid;
	const struct live_who *w;

	if (l->watch)
		return watch_comm(l->watch, tid, tgid);
	w = map_get(l->who, &key);
	if (tgid)
		*tgid = w ? w->tgid : 0;
	return w ? w->comm : "";
}

static void who_is(struct live *l, uint32_t tid, uint32_t tgid, uint32_t row,
		   const char comm[LIVE_COMM])
{
	struct live_who *w = map_put(l->who, &tid);

	if (!w)
		return;
	w->tgid = (pid_t)tgid;
	w->row = row;
	memcpy(w->comm, comm, LIVE_COMM);
	w->comm[LIVE_COMM - 1] = '\0';
}

/* A futex wait that was still on when its thread was last seen. */
static void note_pending(struct live *l, const struct live_thread *e)
{
	struct live_futex_key key = { .addr = e->call_addr, .space = e->space };
	struct live_pending *p = map_count(l->waiting) < LIVE_WAITS ? map_put(l->waiting, &key) :
								      map_get(l->waiting, &key);
	uint64_t end = e->end_ns ? e->end_ns : e->head.ts;

	if (!p) {
		l->waits_lost++;
		return;
	}
	p->count++;
	p->tgid = (pid_t)e->tgid;
	if (end > e->call_enter_ns)
		p->wait_ns += end - e->call_enter_ns;
}

static void add_totals(struct live *l, const struct live_thread *e)
{
	l->oncpu_ns += e->oncpu_ns;
	l->runnable_ns += e->runnable_ns;
	l->blocked_ns += e->blocked_ns;
	l->voluntary += e->voluntary;
	l->involuntary += e->involuntary;
}

/* The whole cost of a thread that has a row is known when its join has come. */
static void add_costs(struct live *l, const struct live_thread *e, uint64_t cost, bool has_row)
{
	int i;

	if (!(e->flags & THREAD_CREATED) || (e->flags & THREAD_PROCESS))
		return;
	if (!has_row)
		hist_add(&l->cost, cost);
	/* A join comes by an event of its own; in wait mode calls are not seen. */
	for (i = 0; i < LIVE_STAGES; i++)
		if (i != STAGE_JOIN && i != STAGE_ROUTINE &&
		    /* Ended with its process, it made no call to exit. */
		    (i != STAGE_EXIT || e->stage_ns[i]) &&
		    (l->mode == SUM_EXACT || i == STAGE_WAKEUP))
			hist_add(&l->stage[i], e->stage_ns[i]);
	if (l->routines && e->stage_ns[STAGE_ROUTINE])
		hist_add(&l->stage[STAGE_ROUTINE], e->stage_ns[STAGE_ROUTINE]);
	if (e->end_ns > e->start_ns)
		hist_add(&l->lifetime, e->end_ns - e->start_ns);
}

static void add_join(struct sum_thread *t, uint64_t latency_ns)
{
	if (!t->created || t->stage_ns[SUM_STAGE_JOIN])
		return;
	t->stage_ns[SUM_STAGE_JOIN] = latency_ns;
	t->cost_ns += latency_ns;
}

/* Whom each joiner waited for, as long as they are few enough to be named. */
static void keep_join_edge(struct live *l, const struct live_join *e)
{
	struct live_edge_key key = { .addr = e->addr, .space = e->space, .waker = e->dead,
				     .waiter = e->head.tid };
	uint64_t *n = map_count(l->joins) < LIVE_JOIN_EDGES ? map_put(l->joins, &key) :
							      map_get(l->joins, &key);

	if (n)
		++*n;
}

/*
 * The joiner may be back before its thread is all gone: a row that ended before
 * the joiner was woken is of an earlier thread with the same id.
 */
static void join_came(struct live *l, const struct live_join *e)
{
	const struct live_who *w = map_get(l->who, &e->dead);
	uint64_t woken_ns = e->head.ts - e->latency_ns;
	struct live_joined *j;
	struct sum_thread *t;

	keep_join_edge(l, e);
	/* In wait mode stages but the wake-up are not seen, and their sum means that alone. */
	if (l->mode != SUM_EXACT || !(l->collect & SUM_THREADS))
		return;
	hist_add(&l->stage[SUM_STAGE_JOIN], e->latency_ns);
	if (w && w->row < l->nthread) {
		t = &l->thread[w->row];
		if (t->start_ns + t->lifetime_ns > woken_ns) {
			add_join(t, e->latency_ns);
			return;
		}
	}
	j = map_put(l->joined, &e->dead);
	if (j)
		*j = (struct live_joined){ woken_ns, e->latency_ns };
}

/* A join that came before its thread's end. */
static void take_join(struct live *l, const struct live_thread *e, struct sum_thread *t)
{
	const struct live_joined *j = map_get(l->joined, &e->head.tid);

	if (!j)
		return;
	if (e->end_ns > j->woken_ns && e->start_ns < j->woken_ns)
		add_join(t, j->latency_ns);
	map_del(l->joined, &e->head.tid);
}

void live_thread_event(struct live *l, const struct live_thread *e)
{
	struct sum_thread *t;
	uint64_t cost = 0;
	uint32_t routine;
	int i;

	if (e->flags & THREAD_CALIB)
		return;
	routine = live_routine_of(l, e);
	if (l->timeline)
		live_timeline(l, &e->head);
	add_totals(l, e);
	if (!(e->flags & THREAD_ENDED))
		l->still_running++;
	else if (e->head.ts > l->last_exit_ns)
		l->last_exit_ns = e->head.ts;
	if ((e->flags & THREAD_IN_CALL) && e->call_addr)
		note_pending(l, e);
	for (i = 0; i < LIVE_STAGES; i++)
		cost += e->stage_ns[i];
	t = thread_row(l);
	add_costs(l, e, cost, t);
	who_is(l, e->head.tid, e->tgid, t ? (uint32_t)(t - l->thread) : UINT32_MAX, e->comm);
	if (!t)
		return;
	t->tid = (pid_t)e->head.tid;
	t->tgid = (pid_t)e->tgid;
	t->parent = (pid_t)e->parent;
	copy_comm(t->comm, e->comm);
	t->is_process = e->flags & THREAD_PROCESS;
	t->exited = e->flags & THREAD_ENDED;
	t->created = e->flags & THREAD_CREATED;
	t->start_ns = e->start_ns;	/* made relative in the summary */
	t->lifetime_ns = (e->end_ns ? e->end_ns : e->head.ts) - e->start_ns;
	if (t->created)
		t->cost_ns = cost;
	memcpy(t->stage_ns, e->stage_ns, sizeof(t->stage_ns));
	t->routine = routine;
	t->calls = e->calls;
	t->futex_calls = e->futex_calls;
	t->futex_wait_ns = e->futex_wait_ns;
	t->oncpu_ns = e->oncpu_ns;
	t->runnable_ns = e->runnable_ns;
	t->blocked_ns = e->blocked_ns;
	t->voluntary = e->voluntary;
	t->involuntary = e->involuntary;
	take_join(l, e, t);
}

static void exec_came(struct live *l, const struct live_exec *e)
{
	who_is(l, e->head.tid, e->tgid, UINT32_MAX, e->comm);
	if (!l->command_ns && (pid_t)e->tgid == l->own)
		l->command_ns = e->head.ts;
}

static uint64_t next_random(struct live *l)
{
	l->rng ^= l->rng << 13;
	l->rng ^= l->rng >> 7;
	l->rng ^= l->rng << 17;
	return l->rng;
}

struct live_sample *live_sample_slot(struct live *l, const struct live_futex_key *key)
{
	struct live_reservoir *r = l->nsample < LIVE_SAMPLES ? map_put(l->reservoirs, key) :
							       map_get(l->reservoirs, key);
	uint64_t at;

	if (!l->sample)
		l->sample = malloc(LIVE_SAMPLES * sizeof(*l->sample));
	if (!r || !l->sample)
		return NULL;
	r->seen++;
	if (r->kept < LIVE_SAMPLES_LOCK && l->nsample < LIVE_SAMPLES) {
		r->slot[r->kept++] = (uint32_t)l->nsample;
		return &l->sample[l->nsample++];
	}
	at = next_random(l) % r->seen;
	return at < r->kept ? &l->sample[r->slot[at]] : NULL;
}

bool live_may_look(pid_t tgid)
{
	struct proc_info info;
	struct err ignored;

	return !getuid() || !proc_look(tgid, &info, &ignored);
}

int live_snapshot(struct live *l, uint32_t space, pid_t tgid)
{
	int r = -EPERM;

	/*
	 * With CAP_PERFMON the kernel shows us the mappings of others' processes too,
	 * and @tgid may become one between a look and the next: without it, it checks
	 * what it opens.
	 */
	privilege_lower();
	if (live_may_look(tgid))
		r = sym_snapshot(l->sym, space, tgid);
	privilege_raise();

	if (r == -ENOSPC)
		l->stacks_lost++;
	return r;
}

void live_sample_kernel(struct live_sample *s, const uint64_t *ip, uint32_t n)
{
	s->nkernel = n < LIVE_KERNEL_FRAMES ? n : LIVE_KERNEL_FRAMES;
	memcpy(s->kernel, ip, s->nkernel * sizeof(*ip));
}

static void stack_came(struct live *l, const struct live_stack *e)
{
	struct live_futex_key key = { .addr = e->addr, .space = e->space };
	struct live_sample *s;

	if (l->sym)
		live_snapshot(l, e->space, (pid_t)e->tgid);
	if (!e->bytes || e->woke)
		return;
	s = live_sample_slot(l, &key);
	if (!s)
		return;
	s->wait_ns = e->wait_ns;
	s->space = e->space;
	s->bytes = e->bytes < LIVE_STACK_BYTES ? e->bytes : LIVE_STACK_BYTES;
	s->regs = e->regs;
	live_sample_kernel(s, e->kernel, e->nkernel);
	memcpy(s->stack, e->stack, s->bytes);
}

/* Length of each type: what comes in another is not decoded, and counted. */
static const uint32_t event_bytes[EV_TYPES] = {
	[EV_THREAD] = sizeof(struct live_thread),
	[EV_EXEC] = sizeof(struct live_exec),
	[EV_JOIN] = sizeof(struct live_join),
	[EV_STACK] = sizeof(struct live_stack),
	[EV_SLICE] = sizeof(struct live_slice),
	[EV_BIRTH] = sizeof(struct live_birth),
	[EV_ROUTINE] = sizeof(struct live_routine),
};

static void exec_may_be_tape(struct live *l, const struct live_exec *e)
{
	char comm[LIVE_COMM + 1] = "";

	memcpy(comm, e->comm, LIVE_COMM);
	live_tapes_look(l, comm);
}

void live_batch(void *ctx, const struct ring_event *ev, size_t n)
{
	struct live *l = ctx;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct live_head *head = ev[i].data;

		if (ev[i].len < sizeof(*head) || head->type == EV_NONE ||
		    head->type >= EV_TYPES || event_bytes[head->type] != ev[i].len ||
		    head->len != ev[i].len) {
			l->unknown++;
			continue;
		}
		if (l->watch) {
			watch_event(l->watch, head);
			continue;
		}
		if (l->timeline && head->type != EV_THREAD)
			live_timeline(l, head);
		live_routine_event(l, head);
		switch (head->type) {
		case EV_THREAD:
			live_thread_event(l, ev[i].data);
			break;
		case EV_EXEC:
			exec_came(l, ev[i].data);
			exec_may_be_tape(l, ev[i].data);
			break;
		case EV_JOIN:
			join_came(l, ev[i].data);
			break;
		case EV_STACK:
			stack_came(l, ev[i].data);
			break;
		}
	}
}
