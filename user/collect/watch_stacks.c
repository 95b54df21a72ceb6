/* SPDX-License-Identifier: MIT */
/*
 * Stacks of waits, some of each lock: a newer one takes the place of one of the same
 * lock, or where all places are taken of the oldest. They come with the waits that begin;
 * those of waits from before are read when somebody looks at their lock.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/privilege.h"
#include "collect/watch_state.h"

#define PEEK_TICKS 10	/* refreshes until waiters are looked for again: it looks at all threads */
#define LEARN_TICKS 10	/* refreshes until mappings are read again: they may be many */

static struct watch_stack *place_for(struct watch *w, const struct live_futex_key *key)
{
	size_t i, oldest = 0, mine = 0, n = 0;

	for (i = 0; i < w->nstack; i++) {
		if (!memcmp(&w->stack[i].key, key, sizeof(*key))) {
			if (!n++ || w->stack[i].ts < w->stack[mine].ts)
				mine = i;
		}
		if (w->stack[i].ts < w->stack[oldest].ts)
			oldest = i;
	}
	if (n >= WATCH_STACKS_LOCK)
		return &w->stack[mine];
	if (w->nstack < WATCH_STACKS)
		return &w->stack[w->nstack++];
	return &w->stack[oldest];
}

void watch_space(struct watch *w, uint32_t space, pid_t tgid)
{
	uint64_t *tick = map_get(w->spaces, &space);

	if (!w->l->sym || (tick && w->now.tick - *tick < LEARN_TICKS))
		return;
	/* Of a process that is gone what was known of it may do. */
	if (live_snapshot(w->l, space, tgid))
		return;
	tick = map_put(w->spaces, &space);
	if (tick)
		*tick = w->now.tick;
}

void watch_stack_came(struct watch *w, const struct live_stack *e)
{
	struct live_futex_key key = { .addr = e->addr, .space = e->space };
	struct watch_stack *to;

	if (!e->bytes || e->woke)
		return;
	to = place_for(w, &key);
	to->key = key;
	to->tgid = (pid_t)e->tgid;
	to->ts = e->head.ts;
	to->sample.wait_ns = e->wait_ns;
	to->sample.space = e->space;
	to->sample.bytes = e->bytes < LIVE_STACK_BYTES ? e->bytes : LIVE_STACK_BYTES;
	to->sample.regs = e->regs;
	live_sample_kernel(&to->sample, e->kernel, e->nkernel);
	memcpy(to->sample.stack, e->stack, to->sample.bytes);
}

/* A wait that was on before tracing began: no stack of it came. */
void watch_still(struct watch *w, const struct live_still *row)
{
	const struct live_thread *t = &row->alive.thread;
	struct live_futex_key key = { .addr = t->call_addr, .space = t->space };
	struct live_sample sample;
	struct watch_stack *to;

	if (!w->l->sym || w->peeking >= WATCH_STACKS_LOCK)
		return;
	privilege_lower();
	if (live_still_sample(w->l, row, &sample)) {
		to = place_for(w, &key);
		*to = (struct watch_stack){ key, (pid_t)t->tgid, t->head.ts, sample };
		w->peeking++;
	}
	privilege_raise();
}

static bool has_stack(const struct watch *w, size_t index)
{
	const size_t *at;
	size_t i;

	for (i = 0; i < w->nstack; i++) {
		at = map_get(w->lock_by_key, &w->stack[i].key);
		if (at && *at == index)
			return true;
	}
	return false;
}

/* Who has slept there since before we looked is not told of by any event. */
static void peek(struct watch *w, size_t index)
{
	struct watch_lock_row *row = &w->lock_row[index];

	if (!w->now.lock[index].waiting || has_stack(w, index) ||
	    (row->peeked && w->now.tick + 1 - row->peeked < PEEK_TICKS))
		return;
	row->peeked = w->now.tick + 1;
	w->peeking = 0;
	(void)live_peek(w->l, &row->key);
}

void watch_sites(struct watch *w, size_t index, struct sum_lock *out)
{
	const size_t *at;
	size_t i;

	peek(w, index);
	for (i = 0; i < w->nstack; i++) {
		at = map_get(w->lock_by_key, &w->stack[i].key);
		if (!at || *at != index)
			continue;
		/* Only of those who are looked at: a build's processes come by the hundred. */
		watch_space(w, w->stack[i].key.space, w->stack[i].tgid);
		out->samples++;
		live_site_add(w->l, out, &w->stack[i].sample);
	}
	live_sites_end(out);
}
