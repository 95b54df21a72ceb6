/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a futex word says nothing of what it is for, and a thread pool that
 * idles on a condition variable waits as long as one that fights for a mutex.
 * The innermost library function in the sampled stacks tells them apart. Where
 * no stack could be read, the roles do: those who fight for a lock wake each
 * other, while those who wait for work are woken by somebody else.
 */
#include "report/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Edges looked at, most frequent first. */
#define MOST_EDGES 64
/* The part of the wakes that must come from threads which also wait. */
#define MUTUAL_PART 0.8

static bool edge_waits(const struct sum_lock *l, size_t nedge, pid_t tid)
{
	size_t i;

	for (i = 0; i < nedge; i++)
		if (l->edge[i].waiter == tid)
			return true;
	return false;
}

static size_t edges_of(const struct sum_lock *l)
{
	return l->nedge < MOST_EDGES ? l->nedge : MOST_EDGES;
}

size_t rule_waiters(const struct sum_lock *l)
{
	size_t i, n = 0, nedge = edges_of(l);

	for (i = 0; i < nedge; i++)
		n += !edge_waits(l, i, l->edge[i].waiter);
	return n;
}

/* Whether those who wait are woken by others who wait. */
static bool wakes_each_other(const struct sum_lock *l)
{
	uint64_t mutual = 0, all = 0;
	size_t i, nedge = edges_of(l);

	for (i = 0; i < nedge; i++) {
		if (!l->edge[i].waker)
			continue;
		all += l->edge[i].count;
		if (edge_waits(l, nedge, l->edge[i].waker))
			mutual += l->edge[i].count;
	}
	return rule_waiters(l) >= 2 && rule_part((double)mutual, (double)all) >= MUTUAL_PART;
}

enum rule_wait rule_wait_kind(const struct sum_lock *l)
{
	switch (sum_lock_use(l)) {
	case SUM_USE_MUTEX:
	case SUM_USE_RWLOCK:
		return RULE_WAIT_LOCK;
	case SUM_USE_CONDVAR:
	case SUM_USE_SEMAPHORE:
		return RULE_WAIT_CONDITION;
	case SUM_USE_BARRIER:
		return RULE_WAIT_BARRIER;
	case SUM_USE_JOIN:
		return RULE_WAIT_JOIN;
	default:
		return wakes_each_other(l) ? RULE_WAIT_LOCK : RULE_WAIT_UNKNOWN;
	}
}

struct rule_text rule_lock_name(const struct sum_lock *l)
{
	struct rule_text t;

	if (l->symbol)
		snprintf(t.s, sizeof(t.s), "%s lock %.150s", sum_lock_kind_name(l->kind),
			 l->symbol);
	else
		snprintf(t.s, sizeof(t.s), "%s lock 0x%" PRIx64 " of %s",
			 sum_lock_kind_name(l->kind), l->addr, rule_comm(l->comm, l->tgid).s);
	return t;
}
