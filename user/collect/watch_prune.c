/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel's maps keep a row of each lock and pipe end ever used. What a
 * process leaves behind when it ends is taken out here, and its symbols with it; and
 * when rows grow many all the same, those that have been idle. A row that is used
 * just now may lose a count by it: it was idle a moment ago, and begins anew.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

#define PRUNE_TICKS 10		/* refreshes from one pruning to the next */
#define IDLE_TICKS 30		/* what is idle for so long goes first */
#define EDGES_MANY 16384	/* half of what the kernel's map holds */

struct prune {
	struct watch *w;
	struct map *alive;	/* address spaces */
	uint64_t idle;		/* ticks; 0: idle rows stay */
	char *keys;
	size_t key_bytes, n, cap, rows;
	bool (*goes)(const struct prune *p, const void *key);
};

static int note_key(void *ctx, const void *key, const void *value)
{
	struct prune *p = ctx;
	char *keys;

	(void)value;
	p->rows++;
	if (!p->goes(p, key))
		return 0;
	keys = watch_grow(p->keys, &p->cap, p->n, p->key_bytes);
	if (!keys)
		return -ENOMEM;
	p->keys = keys;
	memcpy(p->keys + p->n++ * p->key_bytes, key, p->key_bytes);
	return 0;
}

/* Takes out of map @name what .goes says. */
static int prune_map(struct prune *p, const char *name, size_t key_bytes, size_t value_bytes,
		     bool (*goes)(const struct prune *p, const void *key))
{
	int fd = live_map_fd(p->w->l, name), r;
	size_t i;

	p->key_bytes = key_bytes;
	p->goes = goes;
	p->n = p->cap = p->rows = 0;
	r = live_map_each(fd, key_bytes, value_bytes, note_key, p);
	for (i = 0; !r && i < p->n; i++)
		if (!bpf_map_delete_elem(fd, p->keys + i * key_bytes))
			p->w->now.forgotten += p->idle > 0;
	free(p->keys);
	p->keys = NULL;
	return r;
}

static bool futex_goes(const struct prune *p, const void *key)
{
	const struct live_futex_key *k = key;

	return !map_get(p->alive, &k->space) ||
	       (p->idle && watch_lock_idle(p->w, k, p->idle));
}

static bool edge_goes(const struct prune *p, const void *key)
{
	const struct live_edge_key *k = key;
	struct live_futex_key lock = { .addr = k->addr, .space = k->space };

	return futex_goes(p, &lock) || (k->waiter && !watch_thread(p->w, (pid_t)k->waiter)) ||
	       (p->w->many_edges && k->waker && !watch_thread(p->w, (pid_t)k->waker));
}

static bool end_goes(const struct prune *p, const void *key)
{
	const struct live_end_key *k = key;

	return !watch_thread(p->w, (pid_t)k->tid) || (p->idle && watch_pipe_idle(p->w, k, p->idle));
}

static int find_alive(struct prune *p)
{
	const struct now *n = &p->w->now;
	uint32_t last = 0;
	size_t i;

	p->alive = map_new(sizeof(uint32_t), sizeof(uint8_t));
	if (!p->alive)
		return -ENOMEM;
	for (i = 0; i < n->nthread; i++) {
		if (i && n->thread[i].space == last)
			continue;
		last = n->thread[i].space;
		if (!map_put(p->alive, &last))
			return -ENOMEM;
	}
	return 0;
}

static void forget_stacks(struct prune *p)
{
	struct watch *w = p->w;
	size_t i, kept = 0;

	for (i = 0; i < w->nstack; i++) {
		if (!map_get(p->alive, &w->stack[i].key.space))
			continue;
		if (kept != i)
			w->stack[kept] = w->stack[i];
		kept++;
	}
	w->nstack = kept;
}

/* Symbols of processes that are gone. */
static int forget_spaces(struct prune *p)
{
	struct map *kept = map_new(sizeof(uint32_t), sizeof(uint8_t));
	const void *key;
	void *value;
	size_t it = 0;

	if (!kept)
		return -ENOMEM;
	while (map_next(p->w->spaces, &it, &key, &value)) {
		if (!map_get(p->alive, key))
			sym_forget(p->w->l->sym, *(const uint32_t *)key);
		else if (!map_put(kept, key))
			break;
	}
	map_free(p->w->spaces);
	p->w->spaces = kept;
	return 0;
}

/* How long a row must have been idle to go; 0: there is room. */
static uint64_t idle_limit(size_t rows, size_t most)
{
	return rows < most / 2 ? 0 : rows < most ? IDLE_TICKS : 2;
}

int watch_prune(struct watch *w)
{
	struct prune p = { .w = w };
	int r;

	if (w->now.tick % PRUNE_TICKS != PRUNE_TICKS - 1 && w->now.nlock < WATCH_LOCKS &&
	    w->now.npipe < WATCH_PIPES)
		return 0;
	r = find_alive(&p);
	p.idle = idle_limit(w->now.nlock, WATCH_LOCKS);
	if (!r)
		r = prune_map(&p, "futexes", sizeof(struct live_futex_key),
			      sizeof(struct live_futex), futex_goes);
	if (!r)
		r = prune_map(&p, "edges", sizeof(struct live_edge_key), sizeof(uint64_t),
			      edge_goes);
	w->many_edges = p.rows - p.n > EDGES_MANY;
	p.idle = idle_limit(w->now.npipe, WATCH_PIPES);
	if (!r)
		r = prune_map(&p, "ends", sizeof(struct live_end_key), sizeof(struct live_end),
			      end_goes);
	if (!r) {
		forget_stacks(&p);
		r = forget_spaces(&p);
	}
	map_free(p.alive);
	return r;
}
