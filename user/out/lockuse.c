/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A futex word says nothing of what it is for. The innermost library
 * function in the stacks that wait for it does: each kept stack has a vote.
 */
#include <string.h>

#include "out/summary.h"

/* Functions looked at, innermost first: the library's own, not their callers. */
#define LIBRARY_FRAMES 6

/*
 * Parts of function names. Order matters: a condition variable's wait names the
 * mutex among its arguments, and takes the mutex back in pthread_mutex_cond_lock.
 */
static const struct { const char *part; enum sum_lock_use use; } functions[] = {
	{ "condition_variable", SUM_USE_CONDVAR },
	{ "Condvar", SUM_USE_CONDVAR },
	{ "barrier", SUM_USE_BARRIER },
	{ "mutex", SUM_USE_MUTEX },
	{ "Mutex", SUM_USE_MUTEX },
	{ "lll_lock", SUM_USE_MUTEX },
	{ "rwlock", SUM_USE_RWLOCK },
	{ "RwLock", SUM_USE_RWLOCK },
	{ "lock_contended", SUM_USE_MUTEX },
	{ "cond_wait", SUM_USE_CONDVAR },
	{ "cond_timedwait", SUM_USE_CONDVAR },
	{ "cond_clockwait", SUM_USE_CONDVAR },
	{ "cnd_wait", SUM_USE_CONDVAR },
	{ "cnd_timedwait", SUM_USE_CONDVAR },
	{ "sem_wait", SUM_USE_SEMAPHORE },
	{ "sem_timedwait", SUM_USE_SEMAPHORE },
	{ "sem_clockwait", SUM_USE_SEMAPHORE },
	{ "pthread_join", SUM_USE_JOIN },
	{ "clockjoin", SUM_USE_JOIN },
};

static const char *const names[] = {
	[SUM_USE_UNKNOWN] = "",
	[SUM_USE_MUTEX] = "mutex",
	[SUM_USE_RWLOCK] = "rwlock",
	[SUM_USE_CONDVAR] = "condvar",
	[SUM_USE_SEMAPHORE] = "semaphore",
	[SUM_USE_BARRIER] = "barrier",
	[SUM_USE_JOIN] = "join",
};

static enum sum_lock_use use_of_site(const struct sum_site *site)
{
	size_t i, j, looked = 0;

	for (i = 0; i < site->nframe && looked < LIBRARY_FRAMES; i++) {
		looked += !site->frame[i].inlined;
		if (!site->frame[i].symbol)
			continue;
		for (j = 0; j < sizeof(functions) / sizeof(functions[0]); j++)
			if (strstr(site->frame[i].symbol, functions[j].part))
				return functions[j].use;
	}
	return SUM_USE_UNKNOWN;
}

enum sum_lock_use sum_lock_use(const struct sum_lock *l)
{
	uint64_t votes[SUM_USES] = { 0 }, most = 0;
	enum sum_lock_use best = SUM_USE_UNKNOWN;
	size_t i;

	if (l->kind == SUM_LOCK_JOIN)
		return SUM_USE_JOIN;
	if (l->kind == SUM_LOCK_PI)
		return SUM_USE_MUTEX;
	for (i = 0; i < l->nsite; i++)
		votes[use_of_site(&l->site[i])] += l->site[i].samples;
	/* Stacks that say nothing have no vote. */
	for (i = SUM_USE_UNKNOWN + 1; i < SUM_USES; i++) {
		if (votes[i] <= most)
			continue;
		most = votes[i];
		best = (enum sum_lock_use)i;
	}
	return best;
}

const char *sum_lock_use_name(enum sum_lock_use use)
{
	return use < SUM_USES ? names[use] : "";
}

struct sum_shares sum_lock_shares(const struct sum_lock *l)
{
	struct sum_shares shares = { .lock = l };
	size_t i;

	for (i = 0; i < l->nsite; i++)
		if (__builtin_add_overflow(shares.all, l->site[i].samples, &shares.all))
			return (struct sum_shares){ .lock = l };
	return shares;
}

/* Of @total, what falls to samples @from to @to of @all. */
static uint64_t part(uint64_t total, uint64_t from, uint64_t to, uint64_t all)
{
	return (uint64_t)((unsigned __int128)total * to / all -
			  (unsigned __int128)total * from / all);
}

void sum_lock_share(struct sum_shares *shares, const struct sum_site *site, uint64_t *waits,
		    uint64_t *wait_ns)
{
	const uint64_t from = shares->before, to = from + site->samples;

	*waits = part(shares->lock->waits, from, to, shares->all);
	*wait_ns = part(shares->lock->wait.sum, from, to, shares->all);
	shares->before = to;
}

/* More than these are a crowd, whatever it waits for. */
#define PARKED_EDGES 256

/* Whether no thread waited twice; a wait that never ended has no edge. */
static bool once_each(const struct sum_lock *l)
{
	size_t i, j;

	if (l->nedge > PARKED_EDGES)
		return false;
	for (i = 0; i < l->nedge; i++) {
		if (l->edge[i].count > 1)
			return false;
		for (j = 0; j < i; j++)
			if (l->edge[j].waiter == l->edge[i].waiter)
				return false;
	}
	/* Without an edge only the count speaks. */
	return l->nedge || l->waits == 1;
}

bool sum_lock_parked(const struct sum_lock *l)
{
	switch (sum_lock_use(l)) {
	case SUM_USE_JOIN:
		return true;
	case SUM_USE_MUTEX:
	case SUM_USE_RWLOCK:
		return false;
	default:
		return l->waits && (l->timeouts == l->waits || once_each(l));
	}
}
