/* SPDX-License-Identifier: MIT */
/*
 * Stacks of waits, some of each lock: a newer one takes the place of one of the same
 * lock, or where all places are taken of the oldest.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/watch_state.h"

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

void watch_sites(struct watch *w, size_t index, struct sum_lock *out)
{
	const size_t *at;
	size_t i;

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
