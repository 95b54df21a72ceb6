/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The kernel's maps keep a row of each lock and pipe end ever used. What a
 * process leaves behind when it ends is taken out here, and its symbols with it; and
 * when rows grow many all the same, those that have been idle. A row that is used
 * just now may lose a count by it: it was idle a moment ago, and begins anew.
 *
 * What a thread counted just before its end is read once more before its rows go: they
 * are noted at one refresh, and taken out at the next when it has read them. Who is alive
 * is looked up after the rows were: a thread is seen before it has any.
 *
 * Where refreshes are far between, as while a screen is paused, the maps would fill up
 * with what ends meanwhile: past so many ends that goes unread, in the same two steps.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

#define PRUNE_TICKS 10		/* refreshes from one pruning to the next */
#define CROWDED_TICKS 3		/* the same where rows are too many */
#define PRUNE_ENDED 1024	/* or threads that ended: each leaves some rows */
#define TIDY_ENDED 4096		/* processes that may end unread between two refreshes */
#define IDLE_TICKS 30		/* what is idle for so long goes first */
#define EDGES_MANY 16384	/* half of what the kernel's map holds */

struct prune;

struct kind {
	const char *map;
	size_t key_bytes, value_bytes;
	bool (*goes)(const struct prune *p, const void *key);
};

struct prune {
	struct watch *w;
	const struct kind *kind;
	struct watch_doomed *to;
	struct map *alive;	/* address spaces */
	struct map *tids;	/* alive threads */
	struct map *tgids;	/* and their processes */
	bool unread;		/* rows of ended processes go, though no refresh has read them */
	uint64_t idle;		/* ticks; 0: idle rows stay */
	size_t rows;
};

/* Who is alive just now. */
static int find_alive(struct prune *p)
{
	const struct live *l = p->w->l;
	uint32_t used = live_seen_used(l), last = UINT32_MAX, slot;

	map_clear(p->alive);
	map_clear(p->tids);
	map_clear(p->tgids);
	for (slot = 1; slot <= used; slot++) {
		uint32_t tid = l->seen[slot].tid, space = l->seen[slot].space;
		uint32_t tgid = l->seen[slot].tgid;

		if (!tid)
			continue;
		if (!map_put(p->tids, &tid) || (space != last && !map_put(p->alive, &space)) ||
		    (p->unread && !map_put(p->tgids, &tgid)))
			return -ENOMEM;
		last = space;
	}
	return 0;
}

static bool is_alive(const struct prune *p, uint32_t tid)
{
	return map_get(p->tids, &tid);
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

	return futex_goes(p, &lock) || (k->waiter && !is_alive(p, k->waiter)) ||
	       (p->w->many_edges && k->waker && !is_alive(p, k->waker));
}

static bool end_goes(const struct prune *p, const void *key)
{
	const struct live_end_key *k = key;

	return !is_alive(p, k->tid) || (p->idle && watch_pipe_idle(p->w, k, p->idle));
}

/* Those that the last refresh has read go when one has shown their end: watch_procs.c. */
static bool ended_goes(const struct prune *p, const void *key)
{
	return p->unread && !map_get(p->tgids, key) && !map_get(p->w->by_tgid, key);
}

static const struct kind kinds[WATCH_DOOMED] = {
	{ "futexes", sizeof(struct live_futex_key), sizeof(struct live_futex), futex_goes },
	{ "edges", sizeof(struct live_edge_key), sizeof(uint64_t), edge_goes },
	{ "ends", sizeof(struct live_end_key), sizeof(struct live_end), end_goes },
	{ "ended", sizeof(uint32_t), sizeof(struct live_ended), ended_goes },
};

/* How long a row must have been idle to go; 0: there is room. */
static uint64_t idle_limit(size_t rows, size_t most)
{
	return rows < most / 2 ? 0 : rows < most ? IDLE_TICKS : 2;
}

static void set_kind(struct prune *p, size_t i)
{
	const struct now *n = &p->w->now;

	p->kind = &kinds[i];
	p->to = &p->w->doomed[i];
	p->idle = kinds[i].goes == end_goes ? idle_limit(n->npipe, WATCH_PIPES) :
					       idle_limit(n->nlock, WATCH_LOCKS);
	p->rows = 0;
}

static int note_key(void *ctx, const void *key, const void *value)
{
	struct prune *p = ctx;
	struct watch_doomed *to = p->to;
	size_t bytes = p->kind->key_bytes;
	char *keys;

	(void)value;
	p->rows++;
	if (!p->kind->goes(p, key))
		return 0;
	keys = watch_grow(to->keys, &to->cap, to->n, bytes);
	if (!keys)
		return -ENOMEM;
	to->keys = keys;
	memcpy(to->keys + to->n++ * bytes, key, bytes);
	return 0;
}

static int note_kind(struct prune *p)
{
	struct watch *w = p->w;
	int fd = live_map_fd(w->l, p->kind->map), r;

	w->many_edges &= p->kind->goes != edge_goes;
	r = live_map_each(fd, p->kind->key_bytes, p->kind->value_bytes, note_key, p);
	if (r || p->kind->goes != edge_goes || p->rows - p->to->n <= EDGES_MANY)
		return r;
	/* Too many of them stay: those of wakers that have ended go too. */
	w->many_edges = true;
	p->to->n = 0;
	return live_map_each(fd, p->kind->key_bytes, p->kind->value_bytes, note_key, p);
}

static void take_out(struct prune *p)
{
	int fd = live_map_fd(p->w->l, p->kind->map);
	size_t i;

	for (i = 0; i < p->to->n; i++) {
		const char *key = p->to->keys + i * p->kind->key_bytes;

		if (p->kind->goes(p, key) && !bpf_map_delete_elem(fd, key))
			p->w->now.forgotten += p->idle > 0 || p->unread;
	}
	free(p->to->keys);
	memset(p->to, 0, sizeof(*p->to));
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
	struct map *kept = map_new(sizeof(uint32_t), sizeof(uint64_t));
	const void *key;
	void *value;
	size_t it = 0;

	if (!kept)
		return -ENOMEM;
	while (map_next(p->w->spaces, &it, &key, &value)) {
		uint64_t *tick;

		if (!map_get(p->alive, key)) {
			sym_forget(p->w->l->sym, *(const uint32_t *)key);
			continue;
		}
		tick = map_put(kept, key);
		if (!tick)
			break;
		*tick = *(const uint64_t *)value;
	}
	map_free(p->w->spaces);
	p->w->spaces = kept;
	return 0;
}

/* Who began while the rows were read is alive. */
static int keep_begun(struct prune *p)
{
	int r = find_alive(p);
	size_t i, j, kept, bytes;

	for (i = 0; !r && i < WATCH_DOOMED; i++) {
		struct watch_doomed *d = &p->w->doomed[i];

		set_kind(p, i);
		bytes = p->kind->key_bytes;
		for (j = kept = 0; j < d->n; j++)
			if (p->kind->goes(p, d->keys + j * bytes))
				memmove(d->keys + kept++ * bytes, d->keys + j * bytes, bytes);
		d->n = kept;
	}
	return r;
}

/* Takes out what was noted, and notes what goes @next. */
static int prune_kinds(struct prune *p, bool next)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < WATCH_DOOMED; i++) {
		set_kind(p, i);
		take_out(p);
		if (next)
			r = note_kind(p);
	}
	return r || !next ? r : keep_begun(p);
}

/* Takes out what was noted; @next: notes what goes then. */
static int prune(struct watch *w, bool next, bool unread)
{
	struct prune p = { .w = w, .unread = unread };
	int r;

	p.alive = map_new(sizeof(uint32_t), sizeof(uint8_t));
	p.tids = map_new(sizeof(uint32_t), sizeof(uint8_t));
	p.tgids = map_new(sizeof(uint32_t), sizeof(uint8_t));
	r = p.alive && p.tids && p.tgids ? find_alive(&p) : -ENOMEM;
	if (!r)
		r = prune_kinds(&p, next);
	if (!r && next) {
		forget_stacks(&p);
		r = forget_spaces(&p);
	}
	map_free(p.alive);
	map_free(p.tids);
	map_free(p.tgids);
	return r;
}

int watch_prune(struct watch *w)
{
	bool next = w->now.tick % PRUNE_TICKS == PRUNE_TICKS - 1 ||
		    w->now.ended.total - w->pruned > PRUNE_ENDED ||
		    (w->now.tick >= w->crowded &&
		     (w->now.nlock >= WATCH_LOCKS || w->now.npipe >= WATCH_PIPES));
	size_t i, noted = 0;

	w->tidied = live_counts(w->l)->procs_exited;
	for (i = 0; i < WATCH_DOOMED; i++)
		noted += w->doomed[i].n;
	if (!next && !noted)
		return 0;
	if (next) {
		w->pruned = w->now.ended.total;
		w->crowded = w->now.tick + CROWDED_TICKS;
	}
	return prune(w, next, false);
}

int watch_tidy(struct watch *w)
{
	uint64_t ended = live_counts(w->l)->procs_exited;

	/* What one step has noted goes in the next, however few end until then. */
	if (ended - w->tidied < TIDY_ENDED && !w->half_tidied)
		return 0;
	w->half_tidied = !w->half_tidied;
	w->tidied = ended;
	return prune(w, true, true);
}

void watch_prune_free(struct watch *w)
{
	size_t i;

	for (i = 0; i < WATCH_DOOMED; i++)
		free(w->doomed[i].keys);
}
