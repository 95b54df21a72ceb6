/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "rr/gdb_state.h"

#define GAP_NS ((uint64_t)50000000)	/* of replay between two, at first */
#define WORTH_NS ((uint64_t)2000000)	/* a way that is not gone a second time */

int gdb_mark_here(struct gdb *g)
{
	struct gdb_mark *at = realloc(g->mark, (g->nmarks + 1) * sizeof(*at));

	if (!at)
		return -ENOMEM;
	g->mark = at;
	at[g->nmarks] = (struct gdb_mark){ .number = ++g->last_number };
	if (gdb_pos_copy(&at[g->nmarks].pos, &g->here))
		return -ENOMEM;
	return (int)at[g->nmarks++].number;
}

const struct gdb_mark *gdb_mark_find(const struct gdb *g, uint64_t number)
{
	for (size_t i = 0; i < g->nmarks; i++)
		if (g->mark[i].number == number)
			return &g->mark[i];
	return NULL;
}

bool gdb_mark_delete(struct gdb *g, uint64_t number)
{
	for (size_t i = 0; i < g->nmarks; i++) {
		if (g->mark[i].number != number)
			continue;
		gdb_pos_release(&g->mark[i].pos);
		for (g->nmarks--; i < g->nmarks; i++)
			g->mark[i] = g->mark[i + 1];
		return true;
	}
	return false;
}

/* The one whose neighbours are nearest: what is left is spread over what was replayed. */
static void thin_out(struct gdb *g)
{
	uint64_t least = UINT64_MAX;
	size_t which = 0;

	for (size_t i = 0; i < g->nkept; i++) {
		const uint64_t from = i ? checkpoint_event(g->kept[i - 1]) : 0;
		const uint64_t gap = i + 1 < g->nkept ?
				     checkpoint_event(g->kept[i + 1]) - from : UINT64_MAX;

		if (gap < least) {
			least = gap;
			which = i;
		}
	}
	checkpoint_free(g->kept[which]);
	for (g->nkept--; which < g->nkept; which++)
		g->kept[which] = g->kept[which + 1];
}

static void keep(struct gdb *g)
{
	struct checkpoint *c;
	struct err err = { 0 };
	size_t i;

	/* Without one it takes longer to go back, and nothing else. */
	if (checkpoint_take(&c, g->p, &err))
		return;
	if (g->nkept == GDB_KEPT_MAX) {
		thin_out(g);
		g->gap_ns += g->gap_ns / 4;
	}
	for (i = g->nkept++; i && checkpoint_event(g->kept[i - 1]) > checkpoint_event(c); i--)
		g->kept[i] = g->kept[i - 1];
	g->kept[i] = c;
}

void gdb_mark_event(struct gdb *g, bool worth)
{
	const uint64_t now = clock_mono_ns();
	const uint64_t gap = g->gap_ns ? g->gap_ns : (g->gap_ns = GAP_NS);
	struct checkpoint *last;

	if (!g->kept_ns)
		g->kept_ns = now;
	if (now - g->kept_ns < (worth ? WORTH_NS : gap))
		return;
	last = gdb_mark_before(g, g->event);
	if (!last || checkpoint_event(last) != g->event)
		keep(g);
	g->kept_ns = clock_mono_ns();
}

struct checkpoint *gdb_mark_before(const struct gdb *g, uint64_t event)
{
	struct checkpoint *last = NULL;

	for (size_t i = 0; i < g->nkept && checkpoint_event(g->kept[i]) <= event; i++)
		last = g->kept[i];
	return last;
}

void gdb_marks_release(struct gdb *g)
{
	for (size_t i = 0; i < g->nkept; i++)
		checkpoint_free(g->kept[i]);
	for (size_t i = 0; i < g->nmarks; i++)
		gdb_pos_release(&g->mark[i].pos);
	free(g->mark);
}
