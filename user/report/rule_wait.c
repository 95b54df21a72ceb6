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

/* Frames looked at, innermost first: the library's own, not their callers. */
#define LIBRARY_FRAMES 6
/* Edges looked at, most frequent first. */
#define MOST_EDGES 64
/* The part of the wakes that must come from threads which also wait. */
#define MUTUAL_PART 0.8

/*
 * Parts of function names. Order matters: a condition variable's wait names the
 * mutex among its arguments, and takes the mutex back in pthread_mutex_cond_lock.
 */
static const struct { const char *part; enum rule_wait kind; } functions[] = {
	{ "condition_variable", RULE_WAIT_CONDITION },
	{ "Condvar", RULE_WAIT_CONDITION },
	{ "barrier", RULE_WAIT_BARRIER },
	{ "mutex", RULE_WAIT_LOCK },
	{ "Mutex", RULE_WAIT_LOCK },
	{ "lll_lock", RULE_WAIT_LOCK },
	{ "rwlock", RULE_WAIT_LOCK },
	{ "RwLock", RULE_WAIT_LOCK },
	{ "lock_contended", RULE_WAIT_LOCK },
	{ "cond_wait", RULE_WAIT_CONDITION },
	{ "cond_timedwait", RULE_WAIT_CONDITION },
	{ "cond_clockwait", RULE_WAIT_CONDITION },
	{ "cnd_wait", RULE_WAIT_CONDITION },
	{ "cnd_timedwait", RULE_WAIT_CONDITION },
	{ "sem_wait", RULE_WAIT_CONDITION },
	{ "sem_timedwait", RULE_WAIT_CONDITION },
	{ "sem_clockwait", RULE_WAIT_CONDITION },
	{ "pthread_join", RULE_WAIT_JOIN },
	{ "clockjoin", RULE_WAIT_JOIN },
};

static enum rule_wait wait_of_site(const struct sum_site *site)
{
	size_t i, j;

	for (i = 0; i < site->nframe && i < LIBRARY_FRAMES; i++) {
		if (!site->frame[i].symbol)
			continue;
		for (j = 0; j < sizeof(functions) / sizeof(functions[0]); j++)
			if (strstr(site->frame[i].symbol, functions[j].part))
				return functions[j].kind;
	}
	return RULE_WAIT_UNKNOWN;
}

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
	uint64_t votes[RULE_WAIT_JOIN + 1] = { 0 }, most = 0;
	enum rule_wait best = RULE_WAIT_UNKNOWN;
	size_t i;

	if (l->kind == SUM_LOCK_JOIN)
		return RULE_WAIT_JOIN;
	if (l->kind == SUM_LOCK_PI)
		return RULE_WAIT_LOCK;
	for (i = 0; i < l->nsite; i++)
		votes[wait_of_site(&l->site[i])] += l->site[i].samples;
	/* Stacks that say nothing have no vote. */
	for (i = RULE_WAIT_LOCK; i <= RULE_WAIT_JOIN; i++) {
		if (votes[i] <= most)
			continue;
		most = votes[i];
		best = (enum rule_wait)i;
	}
	if (best == RULE_WAIT_UNKNOWN && wakes_each_other(l))
		return RULE_WAIT_LOCK;
	return best;
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
