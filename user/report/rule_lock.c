/* SPDX-License-Identifier: MIT */
/* Rules over single futexes and who waits there for whom. */
#include "report/rule.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "stats/units.h"

/* Edges of one lock that are looked at, most frequent first. */
#define MOST_EDGES 64
/* The part of the waiting in which a holder must sleep to be told not to, and that at least. */
#define HOLDER_ASLEEP 0.4
#define SURELY_ASLEEP 0.1

/*
 * What a turn lasts: with n threads in the queue everyone waits for n - 1
 * others, each of which holds the lock and hands it on. The median, since on a
 * busy machine a few turns last as long as a preempted holder's time slice.
 */
static double turn_ns(const struct sum_lock *l)
{
	size_t waiters = rule_waiters(l);

	return (double)hist_quantile(&l->wait, 0.5) / (waiters > 2 ? (double)(waiters - 1) : 1);
}

/*
 * Waiting as a part of waiting and running. Time on a run queue is left out:
 * another load on the machine must not hide a lock.
 */
static double wait_part(const struct summary *s, const struct sum_lock *l)
{
	return rule_part((double)l->wait.sum, (double)l->wait.sum + rule_cpu_ns(s));
}

/* Common to contended-lock and convoy: a lock, waited for much, and not by timeout. */
static bool lock_is_fought_over(const struct rule *r, const struct summary *s,
				const struct sum_lock *l)
{
	return l->waits >= r->limit.count && wait_part(s, l) >= r->limit.part &&
	       (double)l->timeouts <= r->limit.other * (double)l->waits &&
	       rule_worth(r, s, (double)l->wait.sum) && rule_wait_kind(l) == RULE_WAIT_LOCK;
}

/*
 * ", most often in FUNCTION": the first in the most frequent stack that is of
 * another file than the innermost, which is the lock's library.
 */
static struct rule_text lock_site(const struct sum_lock *l)
{
	const struct sum_site *site = l->nsite ? &l->site[0] : NULL;
	struct rule_text t = { "" };
	const char *library;
	size_t i;

	if (!site || !site->nframe || !site->frame[0].module)
		return t;
	library = site->frame[0].module;
	for (i = 1; i < site->nframe; i++) {
		const struct sum_frame *f = &site->frame[i];

		if (!f->symbol || f->inlined || !f->module || !strcmp(f->module, library))
			continue;
		snprintf(t.s, sizeof(t.s), ", most often in %.120s", f->symbol);
		break;
	}
	return t;
}

static const char preempted_advice[] =
	"The holder is often ready but not running, and all wait for it meanwhile: run fewer "
	"threads than CPUs, and do less while holding the lock.";

/* What @t sleeps outside of futex waits. */
static double sleep_ns(const struct sum_thread *t)
{
	return t->blocked_ns > t->futex_wait_ns ? (double)(t->blocked_ns - t->futex_wait_ns) : 0;
}

/*
 * The part of the holder's time in which it waits for a CPU. Its time in futex
 * waits is left out: there it holds nothing. What it sleeps elsewhere is not: a
 * holder that sleeps in calls is ready for a moment after each.
 */
static double holder_preempted(struct verdict *v, const struct summary *s,
			       const struct sum_lock *l)
{
	const struct sum_thread *t = l->holder ? verdict_thread(v, s, l->holder) : NULL;
	double ready;

	if (!t)
		return 0;
	ready = (double)t->runnable_ns;
	return ready > sleep_ns(t) ?
	       rule_part(ready, ready + (double)t->oncpu_ns + sleep_ns(t)) : 0;
}

/* Times of all who use a lock, together. */
struct lock_users { double running, ready, asleep; };

/* Adds up each thread of the lock's edges once; false: not all of them are known. */
static bool lock_users(struct verdict *v, const struct summary *s, const struct sum_lock *l,
		       struct lock_users *u)
{
	pid_t seen[2 * MOST_EDGES];
	size_t i, j, n = 0;

	if (l->nedge > MOST_EDGES)
		return false;
	for (i = 0; i < 2 * l->nedge; i++) {
		const struct sum_edge *e = &l->edge[i / 2];
		pid_t tid = i % 2 ? e->waker : e->waiter;
		const struct sum_thread *t;

		for (j = 0; j < n && seen[j] != tid; j++)
			;
		if (j < n || !tid)
			continue;
		seen[n++] = tid;
		t = verdict_thread(v, s, tid);
		if (!t)
			return false;
		u->running += (double)t->oncpu_ns;
		u->ready += (double)t->runnable_ns;
		u->asleep += sleep_ns(t);
	}
	return n > 0;
}

/*
 * The part of the waiting in which the holder sleeps. While one waits another
 * holds the lock: had no holder ever slept, those who use it would together have
 * run, or been ready to, for as long as each of them waits. Where they have not,
 * what is not running is shared out between sleeping and being ready, as they
 * do both: who is ready may also be one that was just given the lock.
 */
static double holder_asleep(struct verdict *v, const struct summary *s, const struct sum_lock *l)
{
	const double waited = rule_part((double)l->wait.sum, (double)rule_waiters(l));
	struct lock_users u = { 0 };

	if (!lock_users(v, s, l, &u) || u.running + u.ready > waited * (1 - SURELY_ASLEEP))
		return 0;
	return (1 - u.running / waited) * rule_part(u.asleep, u.asleep + u.ready);
}

/* The call that threads sleep in most, futex waits aside, if it explains @asleep_ns. */
static const char *sleeps_in(const struct summary *s, double asleep_ns)
{
	const struct sum_block *most = NULL;
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < s->sched.nblock; i++) {
		const struct sum_block *b = &s->sched.block[i];

		if (!strncmp(b->name, "futex", 5) || !strcmp(b->name, SUM_BLOCK_OTHER) ||
		    !strcmp(b->name, SUM_BLOCK_STOPPED))
			continue;
		all += b->total_ns;
		if (!most || b->total_ns > most->total_ns)
			most = b;
	}
	return most && (double)most->total_ns >= asleep_ns / 2 && most->total_ns >= all / 2 ?
	       most->name : NULL;
}

static struct rule_text asleep_advice(const struct summary *s, const struct sum_lock *l,
				      double asleep)
{
	const double waited = rule_part((double)l->wait.sum, (double)rule_waiters(l));
	const char *call = sleeps_in(s, asleep * waited);
	struct rule_text t;

	snprintf(t.s, sizeof(t.s), "The holder sleeps while it holds the lock%s%.40s: wait, read "
		 "and write before taking it or after giving it back; --stacks shows who takes it.",
		 call ? ", most likely in " : "", call ? call : "");
	return t;
}

/* A lock held so long that others wait for it instead of working. */
int rule_contended_lock(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nlock && !ret; i++) {
		const struct sum_lock *l = &s->lock[i];

		/* Short turns are a convoy's. */
		if (!lock_is_fought_over(r, s, l) || turn_ns(l) < (double)r->limit.ns)
			continue;
		const double preempted = holder_preempted(v, s, l);
		const double asleep = holder_asleep(v, s, l);
		const struct rule_text sleeps = asleep_advice(s, l, asleep);
		const struct sum_evidence evidence[] = {
			{ "addr", (double)l->addr },
			{ "waits", (double)l->waits },
			{ "wait_ns", (double)l->wait.sum },
			{ "wait_p99_ns", (double)hist_quantile(&l->wait, 0.99) },
			{ "wait_part", wait_part(s, l) },
			{ "waiters", (double)rule_waiters(l) },
			{ "holder", (double)l->holder },
			{ "holder_runnable_part", preempted },
			{ "holder_asleep_part", asleep },
		};
		const struct rule_case c = {
			(double)l->wait.sum, l->waits, RULE_EVIDENCE(evidence),
			.advice = asleep >= HOLDER_ASLEEP ? sleeps.s :
				  preempted >= r->limit.ratio ? preempted_advice : NULL,
		};

		ret = verdict_add(v, r, &c, "threads wait %s for %s in %s waits (p99 %s)%s: %s of "
				  "the time in which they wait there or run",
				  units_time((double)l->wait.sum).s, rule_lock_name(l).s,
				  units_count(l->waits).s,
				  units_time((double)hist_quantile(&l->wait, 0.99)).s,
				  lock_site(l).s, units_percent(wait_part(s, l)).s);
	}
	return ret;
}

/* A wait as long as the trace began before it; the rest is what finding the threads took. */
#define ALL_THE_TIME 0.95

/*
 * A lock that threads still wait for when the trace ends, and have for long. It
 * rests on no counts, so nothing that was lost can change it: the threads were
 * looked at where they slept. Only a stack says that it is a lock: an idle
 * worker at a condition variable waits as long.
 */
int rule_stuck_lock(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nlock && !ret; i++) {
		const struct sum_lock *l = &s->lock[i];
		const double each = rule_part((double)l->pending_ns, (double)l->pending);
		const bool always = each >= ALL_THE_TIME * (double)s->duration_ns;
		enum sum_lock_use use = sum_lock_use(l);

		if (l->pending < r->limit.count || each < (double)r->limit.ns ||
		    (use != SUM_USE_MUTEX && use != SUM_USE_RWLOCK) ||
		    !rule_worth(r, s, (double)l->pending_ns))
			continue;
		const struct sum_evidence evidence[] = {
			{ "addr", (double)l->addr },
			{ "waiters", (double)l->pending },
			{ "pending_ns", (double)l->pending_ns },
			{ "duration_part", rule_part(each, (double)s->duration_ns) },
		};
		const struct rule_case c = {
			(double)l->pending_ns, UINT64_MAX, RULE_EVIDENCE(evidence), .advice = NULL,
		};

		ret = verdict_add(v, r, &c, "%s thread%s for %s%s, %s%s, and nobody has given it "
				  "back", units_count(l->pending).s,
				  l->pending == 1 ? " waits" : "s wait",
				  rule_lock_name(l).s, lock_site(l).s,
				  always ? "since before the trace began" : "for the last ",
				  always ? "" : units_time(each).s);
	}
	return ret;
}

/* A lock handed from sleeper to sleeper: everyone queues for a short section. */
int rule_convoy(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nlock && !ret; i++) {
		const struct sum_lock *l = &s->lock[i];

		if (!lock_is_fought_over(r, s, l) || turn_ns(l) >= (double)r->limit.ns)
			continue;
		const struct sum_evidence evidence[] = {
			{ "addr", (double)l->addr },
			{ "waits", (double)l->waits },
			{ "wakes", (double)l->wakes },
			{ "wait_ns", (double)l->wait.sum },
			{ "wait_p50_ns", (double)hist_quantile(&l->wait, 0.5) },
			{ "turn_ns", turn_ns(l) },
			{ "waiters", (double)rule_waiters(l) },
		};
		const struct rule_case c = {
			(double)l->wait.sum, l->waits, RULE_EVIDENCE(evidence), .advice = NULL,
		};

		ret = verdict_add(v, r, &c, "%s is handed from sleeper to sleeper %s times%s: a "
				  "turn lasts %s, not much more than it takes to wake the next, "
				  "and the threads wait %s in all", rule_lock_name(l).s,
				  units_count(l->waits).s, lock_site(l).s,
				  units_time(turn_ns(l)).s,
				  units_time((double)l->wait.sum).s);
	}
	return ret;
}

/* Wakes of one pair of threads, over all futexes but locks. */
struct pair_key { pid_t a, b; };	/* a < b */
struct pair {
	uint64_t ab, ba;	/* a woke b, b woke a */
	const struct sum_edge *edge;
};

static int pairs_collect(const struct summary *s, struct map *pairs)
{
	size_t i, j;

	for (i = 0; i < s->nlock; i++) {
		const struct sum_lock *l = &s->lock[i];
		enum rule_wait kind = rule_wait_kind(l);

		/* A lock's turns are a convoy's; a barrier lets all go on at once. */
		if (kind == RULE_WAIT_LOCK || kind == RULE_WAIT_BARRIER || kind == RULE_WAIT_JOIN)
			continue;
		for (j = 0; j < l->nedge && j < MOST_EDGES; j++) {
			const struct sum_edge *e = &l->edge[j];
			bool up = e->waker < e->waiter;
			struct pair_key key = { .a = up ? e->waker : e->waiter,
						.b = up ? e->waiter : e->waker };
			struct pair *p;

			if (!e->waker || e->waker == e->waiter)
				continue;
			p = map_put(pairs, &key);
			if (!p)
				return -ENOMEM;
			*(up ? &p->ab : &p->ba) += e->count;
			p->edge = e;
		}
	}
	return 0;
}

static int judge_pair(const struct rule *r, const struct summary *s, struct verdict *v,
		      const struct pair *p)
{
	const uint64_t less = p->ab < p->ba ? p->ab : p->ba, turns = p->ab + p->ba;
	const double cost = (double)turns * rule_switch_ns(s);
	const struct sum_evidence evidence[] = {
		{ "first", (double)p->edge->waker },
		{ "second", (double)p->edge->waiter },
		{ "handoffs", (double)turns },
		{ "cost_ns", cost },
	};
	const struct rule_case c = { cost, turns, RULE_EVIDENCE(evidence), NULL };

	if (less < r->limit.count || (double)less < r->limit.part * (double)(turns - less) ||
	    !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s and %s wake each other %s times by turns: one of them "
			   "always sleeps, and the sleeping and waking alone take about %s",
			   rule_comm(p->edge->waker_comm, p->edge->waker).s,
			   rule_comm(p->edge->waiter_comm, p->edge->waiter).s,
			   units_count(turns).s, units_time(cost).s);
}

/* Two threads that hand each other the turn through condition variables or semaphores. */
int rule_lock_step(const struct rule *r, const struct summary *s, struct verdict *v)
{
	struct map *pairs = map_new(sizeof(struct pair_key), sizeof(struct pair));
	const void *key;
	void *value;
	size_t it = 0;
	int ret;

	if (!pairs)
		return -ENOMEM;
	ret = pairs_collect(s, pairs);
	while (!ret && map_next(pairs, &it, &key, &value))
		ret = judge_pair(r, s, v, value);
	map_free(pairs);
	return ret;
}

/* CPU time a waiter of @l uses for each of its waits. */
static double work_per_wait_ns(struct verdict *v, const struct summary *s,
			       const struct sum_lock *l)
{
	double cpu = 0;
	size_t i, j;

	for (i = 0; i < l->nedge && i < MOST_EDGES; i++) {
		const struct sum_thread *t = verdict_thread(v, s, l->edge[i].waiter);

		for (j = 0; j < i && l->edge[j].waiter != l->edge[i].waiter; j++)
			;
		if (j == i && t)
			cpu += (double)t->oncpu_ns;
	}
	return rule_part(cpu, (double)l->waits);
}

/* Wakes that wake many who wait again, and not since a barrier lets all go on. */
static bool lock_wakes_herds(const struct rule *r, const struct sum_lock *l, uint64_t useful)
{
	enum rule_wait kind;

	if (l->woken < r->limit.count ||
	    rule_part((double)l->woken, (double)useful) < r->limit.ratio ||
	    (double)l->waits < r->limit.part * (double)l->woken ||
	    (double)l->requeued > r->limit.other * (double)l->woken)
		return false;
	kind = rule_wait_kind(l);
	return kind != RULE_WAIT_BARRIER && kind != RULE_WAIT_JOIN;
}

/* Each wake wakes many, of which all but one go back to sleep. */
int rule_thundering_herd(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nlock && !ret; i++) {
		const struct sum_lock *l = &s->lock[i];
		uint64_t useful = l->wakes > l->wasted_wakes ? l->wakes - l->wasted_wakes : 0;
		double each = rule_part((double)l->woken, (double)useful), work, cost;

		if (!lock_wakes_herds(r, l, useful))
			continue;
		cost = (double)(l->woken - useful) * rule_switch_ns(s);
		work = work_per_wait_ns(v, s, l);
		/* Those who work after each wake were woken for it. */
		if (work <= 0 || work >= (double)r->limit.ns || !rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "addr", (double)l->addr },
			{ "wakes", (double)useful },
			{ "woken", (double)l->woken },
			{ "waits", (double)l->waits },
			{ "work_per_wait_ns", work },
			{ "cost_ns", cost },
		};
		const struct rule_case c = { cost, l->woken, RULE_EVIDENCE(evidence), NULL };

		ret = verdict_add(v, r, &c, "each wake of %s wakes %.1f threads, which run %s "
				  "and wait again: %s wakes woke %s threads, the needless ones "
				  "cost about %s", rule_lock_name(l).s, each, units_time(work).s,
				  units_count(useful).s, units_count(l->woken).s,
				  units_time(cost).s);
	}
	return ret;
}
