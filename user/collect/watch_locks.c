/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Each refresh reads the futex map whole and sums the rows of one futex that
 * processes share. Waits count in the kernel when they come back; here those that
 * still last are added, so that a lock that is held for long shows while it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

#define CALIB_SPACE UINT32_MAX
#define NAME_TICKS 8	/* refreshes from one look at a process's name to the next */

static struct watch_lock_row *lock_new(struct watch *w, const struct live_futex_key *k,
				       size_t *index)
{
	struct now *n = &w->now;
	size_t cap = w->lock_cap;
	struct now_lock *lock = watch_grow(n->lock, &cap, n->nlock, sizeof(*lock));
	struct watch_lock_row *row;

	if (!lock)
		return NULL;
	n->lock = lock;
	row = watch_grow(w->lock_row, &w->lock_cap, n->nlock, sizeof(*row));
	if (!row)
		return NULL;
	w->lock_row = row;
	*index = n->nlock++;
	memset(&lock[*index], 0, sizeof(*lock));
	memset(&row[*index], 0, sizeof(*row));
	lock[*index].addr = k->addr;
	lock[*index].space = k->space;
	row[*index].key = *k;
	return &row[*index];
}

static struct watch_lock_row *lock_for(struct watch *w, const struct live_futex_key *k,
				       const struct live_futex *v, size_t *index)
{
	struct watch_file file = { .ino = v->ino, .off = v->off, .dev = v->dev };
	size_t *at = map_get(w->lock_by_key, k), *shared;
	struct watch_lock_row *row;

	if (!at && v->ino) {
		at = map_get(w->lock_by_file, &file);
		if (at) {
			*index = *at;
			at = map_put(w->lock_by_key, k);
			if (!at)
				return NULL;
			*at = *index;
		}
	}
	if (at) {
		*index = *at;
		return &w->lock_row[*at];
	}
	row = lock_new(w, k, index);
	at = row ? map_put(w->lock_by_key, k) : NULL;
	if (!at)
		return NULL;
	*at = *index;
	if (v->ino) {
		row->file = file;
		shared = map_put(w->lock_by_file, &file);
		if (!shared)
			return NULL;
		*shared = *index;
	}
	return row;
}

/* @counts less those before, which they are from now on. */
static void interval_quantiles(struct now_lock *lock, struct watch_lock_row *row,
			       const uint32_t *counts)
{
	struct hist h;
	size_t i;

	h.sum = 0;
	h.count = 0;
	h.max = row->longest ? lock->max_ns : 0;
	for (i = 0; i < HIST_BUCKETS; i++) {
		h.bucket[i] = counts[i] > row->before[i] ? counts[i] - row->before[i] : 0;
		h.count += h.bucket[i];
	}
	memcpy(row->before, counts, HIST_BUCKETS * sizeof(*counts));
	watch_quantiles(&h, lock->max_ns, &lock->p50_ns, &lock->p99_ns);
}

static bool has_counts(uint32_t **counts)
{
	if (!*counts)
		*counts = calloc(HIST_BUCKETS, sizeof(**counts));
	return *counts;
}

/* Of many locks one wait each is over: reading 20,000 histograms for that takes 10 ms. */
static void single_wait(struct now_lock *lock, struct watch_lock_row *row, uint64_t wait_ns)
{
	row->before[hist_bucket(wait_ns)]++;
	lock->p50_ns = lock->p99_ns = wait_ns;
}

static void take_hist(struct now_lock *lock, struct watch_lock_row *row,
		      const struct live_futex *v)
{
	uint64_t n = v->waits - row->was.waits, ns = v->wait_ns - row->was.wait_ns;

	/* The kernel side counts a wait before its time: what was read in between has none. */
	if (!n || !has_counts(&row->before))
		return;
	if (n == 1 && ns && ns <= v->wait_max)
		single_wait(lock, row, ns);
	else
		interval_quantiles(lock, row, v->hist);
}

static void add_part(struct watch_lock_row *row, const struct live_futex *v)
{
	size_t i;

	if (!has_counts(&row->parts) || !has_counts(&row->before))
		return;
	if (!row->changed)
		memset(row->parts, 0, HIST_BUCKETS * sizeof(*row->parts));
	row->changed = true;
	for (i = 0; i < HIST_BUCKETS; i++)
		row->parts[i] += v->hist[i];
}

int watch_lock_row(void *watch, const void *key, const void *value)
{
	struct watch *w = watch;
	const struct live_futex_key *k = key;
	const struct live_futex *v = value;
	struct watch_lock_row *row;
	struct now_lock *lock;
	size_t index;

	if (k->space == CALIB_SPACE)
		return 0;
	row = lock_for(w, k, v, &index);
	if (!row)
		return -ENOMEM;
	lock = &w->now.lock[index];
	/* The row's address, space and process are those of one of its keys. */
	if (!memcmp(k, &row->key, sizeof(*k))) {
		lock->tgid = (pid_t)v->tgid;
		row->own_seen = true;
	} else {
		row->other = *k;
		row->other_tgid = (pid_t)v->tgid;
	}
	if (lock->kind != SUM_LOCK_JOIN)
		lock->kind = live_lock_kind(v);
	if (v->wait_max > lock->max_ns) {
		lock->max_ns = v->wait_max;
		row->longest = true;
	}
	row->seen = true;
	if (v->ino)
		add_part(row, v);
	else
		take_hist(lock, row, v);
	row->sum.waits += v->waits;
	row->sum.timeouts += v->timeouts;
	row->sum.wakes += v->wakes;
	row->sum.wasted += v->wasted;
	row->sum.wait_ns += v->wait_ns;
	return 0;
}

void watch_locks_begin(struct watch *w)
{
	size_t i;

	for (i = 0; i < w->now.nlock; i++) {
		struct watch_lock_row *row = &w->lock_row[i];

		row->seen = row->changed = row->longest = row->own_seen = false;
		row->inside_ns = 0;
		memset(&row->sum, 0, sizeof(row->sum));
		w->now.lock[i].waiting = 0;
		w->now.lock[i].p50_ns = w->now.lock[i].p99_ns = 0;
	}
}

/* The row of what @t waits for: most threads wait where they did the last time. */
static struct watch_lock_row *lock_of(struct watch *w, struct now_thread *t, size_t *index)
{
	static const struct live_futex none;
	struct live_futex_key k = { .addr = t->lock_addr, .space = t->space };
	struct watch_lock_row *row;

	*index = t->lock_at;
	if (t->lock_at < w->now.nlock && w->now.lock[t->lock_at].addr == k.addr &&
	    w->now.lock[t->lock_at].space == k.space)
		return &w->lock_row[t->lock_at];
	row = lock_for(w, &k, &none, index);
	t->lock_at = (uint32_t)*index;
	return row;
}

/*
 * pthread_join waits until the word of a thread's id is cleared, at the thread's end. 1
 * and 2 are what a mutex holds, and in a pid namespace threads' ids too.
 */
static bool waits_for_end(const struct watch *w, const struct now_thread *t)
{
	const struct now_thread *other;

	if (t->lock_val <= 2 || t->lock_val == (uint32_t)t->tid)
		return false;
	other = watch_thread(w, (pid_t)t->lock_val);
	return other && other->tgid == t->tgid;
}

/* Who waits now; a first wait has no row in the map yet. */
static int add_waiting(struct watch *w)
{
	size_t i, index;

	for (i = 0; i < w->now.nthread; i++) {
		struct now_thread *t = &w->now.thread[i];
		struct watch_lock_row *row;

		if (!t->lock_addr)
			continue;
		row = lock_of(w, t, &index);
		if (!row)
			return -ENOMEM;
		row->seen = true;
		row->own_seen |= t->lock_addr == row->key.addr && t->space == row->key.space;
		row->inside_ns += t->state_ns;
		w->now.lock[index].waiting++;
		if (!w->now.lock[index].tgid)
			w->now.lock[index].tgid = t->tgid;
		if (waits_for_end(w, t))
			w->now.lock[index].kind = SUM_LOCK_JOIN;
	}
	return 0;
}

/*
 * A wait that is over counts in the kernel when its thread is on a CPU again, which
 * may be a while after it was woken: until then what it had lasted stays counted here.
 */
static void sum_waited(struct now_lock *lock, struct watch_lock_row *row)
{
	if (row->sum.wait_ns > row->was.wait_ns)
		row->back_ns += row->sum.wait_ns - row->was.wait_ns;
	row->was.wait_ns = row->sum.wait_ns;
	watch_count(&lock->wait_ns, row->back_ns + row->inside_ns);
}

static void finish_lock(struct watch *w, size_t i)
{
	struct watch_lock_row *row = &w->lock_row[i];
	struct now_lock *lock = &w->now.lock[i];
	uint64_t interval = w->now.interval_ns;
	const char *comm;

	watch_sum(&lock->waits, &row->was.waits, row->sum.waits);
	watch_sum(&lock->timeouts, &row->was.timeouts, row->sum.timeouts);
	watch_sum(&lock->wakes, &row->was.wakes, row->sum.wakes);
	watch_sum(&lock->wasted_wakes, &row->was.wasted, row->sum.wasted);
	sum_waited(lock, row);
	if (row->changed && lock->waits.step)
		interval_quantiles(lock, row, row->parts);
	lock->past[w->now.tick % NOW_PAST] =
		interval ? (float)lock->wait_ns.step / (float)interval : 0;
	/* A process may get another name, which is not urgent. */
	if (!lock->comm[0] || (w->now.tick + i) % NAME_TICKS == 0) {
		comm = watch_comm(w, lock->tgid, NULL);
		if (comm[0])
			memcpy(lock->comm, comm, LIVE_COMM);
	}
	if (lock->waits.step || lock->wakes.step || lock->waiting)
		row->active = w->now.tick;
}

/* The process that the row was known by has none any more: another one's stands for it. */
static void take_other(struct watch *w, size_t i)
{
	struct watch_lock_row *row = &w->lock_row[i];
	struct now_lock *lock = &w->now.lock[i];

	row->key = row->other;
	memset(&row->other, 0, sizeof(row->other));
	lock->addr = row->key.addr;
	lock->space = row->key.space;
	lock->tgid = row->other_tgid;
	lock->comm[0] = '\0';
}

static void lock_release(struct watch_lock_row *row)
{
	free(row->symbol);
	free(row->module);
	free(row->before);
	free(row->parts);
}

/*
 * Rows that the kernel has no more, or that were let go, close up. All that knows a
 * row by its index is made anew; a second process of a shared futex finds its row
 * again by the file.
 */
static int close_up(struct watch *w)
{
	size_t i, kept = 0, *at;

	for (i = 0; i < w->now.nlock; i++) {
		if (w->lock_row[i].seen && !w->lock_row[i].own_seen && w->lock_row[i].other.addr)
			take_other(w, i);
		if (!w->lock_row[i].seen) {
			lock_release(&w->lock_row[i]);
			continue;
		}
		if (kept != i) {
			w->now.lock[kept] = w->now.lock[i];
			w->lock_row[kept] = w->lock_row[i];
		}
		kept++;
	}
	if (kept == w->now.nlock)
		return 0;
	w->now.nlock = kept;
	map_clear(w->lock_by_key);
	map_clear(w->lock_by_file);
	for (i = 0; i < kept; i++) {
		at = map_put(w->lock_by_key, &w->lock_row[i].key);
		if (!at)
			return -ENOMEM;
		*at = i;
		if (!w->lock_row[i].file.ino)
			continue;
		at = map_put(w->lock_by_file, &w->lock_row[i].file);
		if (!at)
			return -ENOMEM;
		*at = i;
	}
	return 0;
}

bool watch_lock_idle(const struct watch *w, const struct live_futex_key *key, uint64_t ticks)
{
	const size_t *at = map_get(w->lock_by_key, key);

	return !at || (!w->now.lock[*at].waiting &&
		       w->now.tick - w->lock_row[*at].active >= ticks);
}

int watch_locks_end(struct watch *w)
{
	int r = add_waiting(w);
	size_t i;

	if (!r)
		r = close_up(w);
	for (i = 0; !r && i < w->now.nlock; i++)
		finish_lock(w, i);
	return r;
}

int watch_locks(struct watch *w)
{
	int r;

	watch_locks_begin(w);
	r = live_map_each(live_map_fd(w->l, "futexes"), sizeof(struct live_futex_key),
			  sizeof(struct live_futex), watch_lock_row, w);
	return r ? r : watch_locks_end(w);
}

void watch_locks_free(struct watch *w)
{
	size_t i;

	for (i = 0; i < w->now.nlock; i++)
		lock_release(&w->lock_row[i]);
	free(w->now.lock);
	free(w->lock_row);
	map_free(w->lock_by_key);
	map_free(w->lock_by_file);
}
