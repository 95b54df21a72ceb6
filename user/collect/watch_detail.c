/* SPDX-License-Identifier: MIT */
/* One lock looked into: its name, who waits for it now, who woke whom, and its stacks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

#define ASK_AGAIN 30	/* refreshes until a name that was not found is asked for again */

static void set_name(struct watch *w, struct watch_lock_row *row)
{
	struct sym_name name;
	char text[512];
	int r;

	watch_space(w, row->key.space, w->now.lock[row - w->lock_row].tgid);
	r = sym_data(w->l->sym, row->key.space, row->key.addr, &name);
	free(row->module);
	row->module = name.module ? strdup(name.module) : NULL;
	row->module_offset = name.module_offset;
	if (r)
		return;
	sym_name_format(&name, text, sizeof(text));
	row->symbol = strdup(text);
}

void watch_name(struct watch *w, struct now_lock *lock)
{
	struct live_futex_key key = { .addr = lock->addr, .space = lock->space };
	const size_t *at = map_get(w->lock_by_key, &key);
	struct watch_lock_row *row;

	if (!at || !w->l->sym)
		return;
	row = &w->lock_row[*at];
	if (!row->symbol && (!row->asked || w->now.tick + 1 - row->asked >= ASK_AGAIN)) {
		row->asked = w->now.tick + 1;
		set_name(w, row);
	}
	lock->symbol = w->now.lock[*at].symbol = row->symbol;
	lock->module = w->now.lock[*at].module = row->module;
	lock->module_offset = w->now.lock[*at].module_offset = row->module_offset;
}

struct detail_fill {
	struct watch *w;
	size_t lock, edge_cap;
	struct now_lock_detail *out;
};

static int edge_row(void *ctx, const void *key, const void *value)
{
	struct detail_fill *f = ctx;
	const struct live_edge_key *k = key;
	struct live_futex_key lk = { .addr = k->addr, .space = k->space };
	const size_t *at = map_get(f->w->lock_by_key, &lk);
	struct sum_edge *e;

	if (!at || *at != f->lock)
		return 0;
	e = watch_grow(f->out->edge, &f->edge_cap, f->out->nedge, sizeof(*e));
	if (!e)
		return -ENOMEM;
	f->out->edge = e;
	e += f->out->nedge++;
	*e = (struct sum_edge){ .waker = (pid_t)k->waker, .waiter = (pid_t)k->waiter,
				.count = *(const uint64_t *)value };
	strcpy(e->waker_comm, watch_comm(f->w, e->waker, NULL));
	strcpy(e->waiter_comm, watch_comm(f->w, e->waiter, NULL));
	return 0;
}

static int by_count(const void *a, const void *b)
{
	const struct sum_edge *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->waiter != y->waiter ? x->waiter - y->waiter : x->waker - y->waker;
}

static int by_longest(const void *a, const void *b)
{
	const struct now_waiter *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->tid - y->tid;
}

static int fill_waiters(struct detail_fill *f)
{
	struct now_lock_detail *out = f->out;
	const struct now *n = &f->w->now;
	size_t i;

	if (!n->lock[f->lock].waiting)
		return 0;
	out->waiter = calloc(n->lock[f->lock].waiting, sizeof(*out->waiter));
	if (!out->waiter)
		return -ENOMEM;
	for (i = 0; i < n->nthread && out->nwaiter < n->lock[f->lock].waiting; i++) {
		const struct now_thread *t = &n->thread[i];
		struct live_futex_key key = { .addr = t->lock_addr, .space = t->space };
		const size_t *at = t->lock_addr ? map_get(f->w->lock_by_key, &key) : NULL;
		struct now_waiter *waiter = &out->waiter[out->nwaiter];

		if (!at || *at != f->lock)
			continue;
		waiter->tid = t->tid;
		waiter->ns = t->state_ns;
		memcpy(waiter->comm, t->comm, sizeof(waiter->comm));
		out->nwaiter++;
	}
	qsort(out->waiter, out->nwaiter, sizeof(*out->waiter), by_longest);
	return 0;
}

int watch_lock(struct watch *w, const struct now_lock *lock, struct now_lock_detail *out)
{
	struct live_futex_key key = { .addr = lock->addr, .space = lock->space };
	const size_t *at = map_get(w->lock_by_key, &key);
	struct detail_fill f = { .w = w, .out = out };
	struct sum_lock sites = { 0 };
	int r;

	memset(out, 0, sizeof(*out));
	if (!at)
		return -ENOENT;
	f.lock = *at;
	r = fill_waiters(&f);
	if (!r)
		r = live_map_each(live_map_fd(w->l, "edges"), sizeof(struct live_edge_key),
				  sizeof(uint64_t), edge_row, &f);
	if (r)
		return r;
	if (out->nedge)
		qsort(out->edge, out->nedge, sizeof(*out->edge), by_count);
	sites.kind = w->now.lock[f.lock].kind;
	sites.waits = w->now.lock[f.lock].waits.total;
	watch_sites(w, f.lock, &sites);
	out->site = sites.site;
	out->nsite = sites.nsite;
	out->samples = sites.samples;
	out->use = sum_lock_use(&sites);
	return 0;
}
