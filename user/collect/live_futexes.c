/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The futex map has a row an address and address space. Rows of one
 * shared futex (same file and offset) become one lock; edges are tied to locks
 * by their key. Waits that had not come back when the trace ended are added:
 * their threads said so in their last event.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/live_state.h"

#define CALIB_SPACE UINT32_MAX

struct shared_key { uint64_t ino, off; uint32_t dev, pad; };

/* A lock of the summary while it is put together, and the rows it is made of. */
struct lock_rows {
	struct live_futex_key *key;
	size_t nkey;
};

struct futex_fill {
	struct live *l;
	struct summary *s;
	struct lock_rows *rows;	/* beside s->lock */
	size_t cap;
	struct map *by_key;	/* struct live_futex_key → size_t, index of a lock */
	struct map *by_file;	/* struct shared_key → size_t */
};

static struct sum_lock *lock_new(struct futex_fill *f, size_t *index)
{
	size_t cap = f->cap ? f->cap * 2 : 64;
	struct sum_lock *lock;
	struct lock_rows *rows;

	if (f->s->nlock == f->cap) {
		lock = realloc(f->s->lock, cap * sizeof(*lock));
		if (lock)
			f->s->lock = lock;
		rows = realloc(f->rows, cap * sizeof(*rows));
		if (rows)
			f->rows = rows;
		if (!lock || !rows)
			return NULL;
		f->cap = cap;
	}
	*index = f->s->nlock++;
	memset(&f->s->lock[*index], 0, sizeof(*lock));
	memset(&f->rows[*index], 0, sizeof(*rows));
	return &f->s->lock[*index];
}

static struct sum_lock *lock_for(struct futex_fill *f, const struct live_futex_key *key,
				 const struct live_futex *v)
{
	struct shared_key file = { .ino = v->ino, .off = v->off, .dev = v->dev };
	struct live_futex_key *keys;
	size_t *known = v->ino ? map_get(f->by_file, &file) : NULL, *slot, index;
	struct sum_lock *lock;

	if (known) {
		index = *known;
		lock = &f->s->lock[index];
	} else {
		lock = lock_new(f, &index);
		if (!lock)
			return NULL;
		if (v->ino) {
			slot = map_put(f->by_file, &file);
			if (!slot)
				return NULL;
			*slot = index;
		}
		lock->addr = key->addr;
		lock->tgid = (pid_t)v->tgid;
	}
	slot = map_put(f->by_key, key);
	keys = realloc(f->rows[index].key, (f->rows[index].nkey + 1) * sizeof(*keys));
	if (!slot || !keys)
		return NULL;
	*slot = index;
	f->rows[index].key = keys;
	keys[f->rows[index].nkey++] = *key;
	return lock;
}

enum sum_lock_kind live_lock_kind(const struct live_futex *v)
{
	if (v->flags & FUTEX_IS_JOIN)
		return SUM_LOCK_JOIN;
	if (v->flags & FUTEX_IS_PI)
		return SUM_LOCK_PI;
	return v->flags & FUTEX_IS_SHARED ? SUM_LOCK_SHARED : SUM_LOCK_PRIVATE;
}

static int futex_row(void *ctx, const void *key, const void *value)
{
	struct futex_fill *f = ctx;
	const struct live_futex_key *k = key;
	const struct live_futex *v = value;
	struct sum_lock *lock;

	if (k->space == CALIB_SPACE)
		return 0;
	lock = lock_for(f, k, v);
	if (!lock)
		return -ENOMEM;
	lock->kind = live_lock_kind(v);
	lock->waits += v->waits;
	lock->blocked += v->blocked;
	lock->timeouts += v->timeouts;
	lock->eagain += v->eagain;
	lock->wakes += v->wakes;
	lock->woken += v->woken;
	lock->wasted_wakes += v->wasted;
	lock->requeued += v->requeued;
	lock->samples += v->samples;
	lock->wait.sum += v->wait_ns;
	if (v->wait_max > lock->wait.max)
		lock->wait.max = v->wait_max;
	hist_merge_counts(&lock->wait, v->hist, HIST_BUCKETS);
	return 0;
}

static int edge_add(struct futex_fill *f, struct sum_lock *lock, bool may_meet, pid_t waker,
		    pid_t waiter, uint64_t count)
{
	size_t i = may_meet ? 0 : lock->nedge;
	struct sum_edge *e;

	for (; i < lock->nedge; i++)
		if (lock->edge[i].waker == waker && lock->edge[i].waiter == waiter)
			break;
	if (i == lock->nedge) {
		/* Doubled when full: the length is a power of two just then. */
		if (!(i & (i - 1))) {
			e = realloc(lock->edge, (i ? i * 2 : 1) * sizeof(*e));
			if (!e)
				return -ENOMEM;
			lock->edge = e;
		}
		lock->nedge++;
		memset(&lock->edge[i], 0, sizeof(*e));
		lock->edge[i].waker = waker;
		lock->edge[i].waiter = waiter;
		strcpy(lock->edge[i].waker_comm, live_comm(f->l, waker, NULL));
		strcpy(lock->edge[i].waiter_comm, live_comm(f->l, waiter, NULL));
	}
	lock->edge[i].count += count;
	return 0;
}

static int edge_row(void *ctx, const void *key, const void *value)
{
	struct futex_fill *f = ctx;
	const struct live_edge_key *k = key;
	struct live_futex_key lk = { .addr = k->addr, .space = k->space };
	size_t *index = map_get(f->by_key, &lk);

	if (!index)
		return 0;
	/* The map's keys differ: only rows that were merged can meet again. */
	return edge_add(f, &f->s->lock[*index], f->rows[*index].nkey > 1, (pid_t)k->waker,
			(pid_t)k->waiter, *(const uint64_t *)value);
}

/*
 * BPF counts all joins of a process under its id. Those that are known by their
 * threads are taken out of that count and named.
 */
static int add_joins(struct futex_fill *f)
{
	const void *key;
	void *value;
	size_t it = 0, i;
	int r = 0;

	while (!r && map_next(f->l->joins, &it, &key, &value)) {
		const struct live_edge_key *k = key;
		struct live_futex_key lk = { .addr = k->addr, .space = k->space };
		size_t *index = map_get(f->by_key, &lk);
		uint64_t n = *(uint64_t *)value;
		struct sum_lock *lock;

		if (!index)
			continue;
		lock = &f->s->lock[*index];
		for (i = 0; i < lock->nedge; i++)
			if (lock->edge[i].waiter == (pid_t)k->waiter &&
			    lock->edge[i].waker == lock->tgid && lock->edge[i].count >= n)
				break;
		if (i == lock->nedge)
			continue;
		lock->edge[i].count -= n;
		/* Past the process's own row each joined thread is new. */
		r = edge_add(f, lock, lock->nedge < 64, (pid_t)k->waker, (pid_t)k->waiter, n);
	}
	return r;
}

static int by_count(const void *a, const void *b)
{
	const struct sum_edge *x = a, *y = b;

	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

/* Waits that never came back, from their threads' last events. */
static int add_pending(struct futex_fill *f)
{
	const void *key;
	void *value;
	size_t it = 0;

	while (map_next(f->l->waiting, &it, &key, &value)) {
		const struct live_pending *p = value;
		struct live_futex none = {};
		size_t *index = map_get(f->by_key, key);
		struct sum_lock *lock = index ? &f->s->lock[*index] : lock_for(f, key, &none);

		if (!lock)
			return -ENOMEM;
		if (!lock->tgid)
			lock->tgid = p->tgid;
		lock->waits += p->count;
		lock->blocked += p->count;
		lock->pending += p->count;
		lock->pending_ns += p->wait_ns;
		lock->wait.sum += p->wait_ns;
		if (p->wait_ns / p->count > lock->wait.max)
			lock->wait.max = p->wait_ns / p->count;
		lock->wait.bucket[hist_bucket(p->wait_ns / p->count)] += p->count;
		lock->wait.count += p->count;
	}
	return 0;
}

static void finish_lock(struct live *l, struct sum_lock *lock)
{
	size_t i;

	/* Sorted last, those that add_joins emptied fall off the end. */
	strcpy(lock->comm, live_comm(l, lock->tgid, NULL));
	if (lock->nedge)
		qsort(lock->edge, lock->nedge, sizeof(*lock->edge), by_count);
	while (lock->nedge && !lock->edge[lock->nedge - 1].count)
		lock->nedge--;
	for (i = 0; i < lock->nedge && !lock->holder; i++)
		lock->holder = lock->edge[i].waker;
}

static void add_totals(struct summary *s)
{
	struct sum_futex *t = &s->futex;
	size_t i;

	for (i = 0; i < s->nlock; i++) {
		t->waits += s->lock[i].waits;
		t->wakes += s->lock[i].wakes;
		t->wasted_wakes += s->lock[i].wasted_wakes;
		t->eagain += s->lock[i].eagain;
		t->timeouts += s->lock[i].timeouts;
		t->requeued += s->lock[i].requeued;
	}
	t->addresses = s->nlock;
}

static int fill_ops(struct live *l, struct summary *s)
{
	struct live_futex_op *v = calloc((size_t)l->ncpus, sizeof(*v));
	int fd = live_map_fd(l, "futex_ops"), cpu;
	struct sum_futex_op *op;
	uint32_t i;

	s->futex.op = calloc(LIVE_FUTEX_OPS, sizeof(*s->futex.op));
	if (!v || !s->futex.op) {
		free(v);
		return -ENOMEM;
	}
	for (i = 0; i < LIVE_FUTEX_OPS; i++) {
		if (bpf_map_lookup_elem(fd, &i, v))
			continue;
		op = &s->futex.op[s->futex.nop];
		op->name = futex_op_name(i);
		for (cpu = 0; cpu < l->ncpus; cpu++) {
			op->calls += v[cpu].calls;
			op->errors += v[cpu].errors;
		}
		s->futex.calls += op->calls;
		if (op->calls)
			s->futex.nop++;
		else
			memset(op, 0, sizeof(*op));
	}
	free(v);
	return 0;
}

/* Locks and their rows together, by the time that was waited. */
static struct sum_lock *sort_locks;

static int by_wait(const void *a, const void *b)
{
	const struct sum_lock *x = &sort_locks[*(const size_t *)a];
	const struct sum_lock *y = &sort_locks[*(const size_t *)b];

	if (x->wait.sum != y->wait.sum)
		return x->wait.sum < y->wait.sum ? 1 : -1;
	if (x->wakes != y->wakes)
		return x->wakes < y->wakes ? 1 : -1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int sort_and_name(struct futex_fill *f)
{
	size_t n = f->s->nlock, i, *order = malloc((n + 1) * sizeof(*order));
	struct sum_lock *sorted = malloc((n + 1) * sizeof(*sorted));

	if (!order || !sorted) {
		free(order);
		free(sorted);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		order[i] = i;
	sort_locks = f->s->lock;
	qsort(order, n, sizeof(*order), by_wait);
	live_sites_prepare(f->l);
	for (i = 0; i < n; i++) {
		sorted[i] = f->s->lock[order[i]];
		finish_lock(f->l, &sorted[i]);
		live_fill_sites(f->l, &sorted[i], f->rows[order[i]].key, f->rows[order[i]].nkey);
	}
	free(f->s->lock);
	f->s->lock = sorted;
	free(order);
	return 0;
}

int live_fill_futexes(struct live *l, struct summary *s)
{
	struct futex_fill f = { .l = l, .s = s };
	int r = -ENOMEM;
	size_t i;

	f.by_key = map_new(sizeof(struct live_futex_key), sizeof(size_t));
	f.by_file = map_new(sizeof(struct shared_key), sizeof(size_t));
	if (!f.by_key || !f.by_file)
		goto out;
	r = live_map_each(live_map_fd(l, "futexes"), sizeof(struct live_futex_key),
			  sizeof(struct live_futex), futex_row, &f);
	if (!r)
		r = live_map_each(live_map_fd(l, "edges"), sizeof(struct live_edge_key),
				  sizeof(uint64_t), edge_row, &f);
	if (!r)
		r = add_joins(&f);
	if (!r)
		r = add_pending(&f);
	if (!r)
		r = fill_ops(l, s);
	if (!r)
		r = sort_and_name(&f);
	add_totals(s);
out:
	for (i = 0; i < s->nlock && f.rows; i++)
		free(f.rows[i].key);
	free(f.rows);
	map_free(f.by_key);
	map_free(f.by_file);
	return r;
}
