/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rr/gdb_state.h"

static struct gdb_point *find(struct gdb *g, const struct gdb_point_id *id)
{
	for (size_t i = 0; i < g->npoints; i++) {
		const struct gdb_point_id *is = &g->point[i].id;

		if (is->type == id->type && is->addr == id->addr && is->bytes == id->bytes)
			return &g->point[i];
	}
	return NULL;
}

int gdb_point_set(struct gdb *g, const struct gdb_point_id *id)
{
	struct gdb_point *p = find(g, id), *more;
	size_t watches = 0;

	if (p) {
		p->wanted = true;
		return 0;
	}
	for (size_t i = 0; i < g->npoints; i++)
		watches += g->point[i].id.type >= '2';
	/* One is left for the way to a goal. */
	if (id->type >= '2' && (!id->bytes || id->bytes > GDB_WATCH_BYTES ||
				watches == GDB_WATCHES_MAX - 1))
		return -ENOSPC;
	more = realloc(g->point, (g->npoints + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	g->point = more;
	more[g->npoints++] = (struct gdb_point){ .id = *id, .wanted = true, .base = g->here.n };
	return 0;
}

void gdb_point_clear(struct gdb *g, const struct gdb_point_id *id)
{
	struct gdb_point *p = find(g, id);

	if (p)
		p->wanted = false;
}

void gdb_points_drop(struct gdb *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->npoints; i++)
		if (g->point[i].wanted)
			g->point[n++] = g->point[i];
	g->npoints = n;
}

void gdb_points_restart(struct gdb *g)
{
	gdb_points_drop(g);
	for (size_t i = 0; i < g->npoints; i++) {
		g->point[i].base = 0;
		g->point[i].hits = 0;
	}
}

bool gdb_watch_hit(const struct gdb *g, const struct gdb_point_id *id)
{
	for (size_t i = 0; i < g->nwatches; i++)
		if (g->watch[i].changed && g->watch[i].id.addr == id->addr &&
		    g->watch[i].id.bytes == id->bytes)
			return true;
	return false;
}

const struct gdb_point *gdb_points_see(struct gdb *g, uint64_t ip)
{
	const struct gdb_point *hit = NULL;

	for (size_t i = 0; i < g->npoints; i++) {
		struct gdb_point *p = &g->point[i];

		if (p->id.type >= '2' ? !gdb_watch_hit(g, &p->id) : p->id.addr != ip)
			continue;
		p->hits++;
		if (p->wanted && (!hit || p->id.type > hit->id.type))
			hit = p;
	}
	return hit;
}

void gdb_points_note(struct gdb *g, const struct tracee *t)
{
	for (size_t i = 0; i < g->npoints; i++) {
		struct gdb_point *p = &g->point[i];

		if (p->id.type >= '2')
			p->known = !tracee_read(t, p->was, p->id.addr, p->id.bytes);
	}
}

const struct gdb_point *gdb_points_changed(struct gdb *g, const struct tracee *t)
{
	unsigned char now[GDB_WATCH_BYTES];

	for (size_t i = 0; i < g->npoints; i++) {
		const struct gdb_point *p = &g->point[i];

		if (p->wanted && p->known && !tracee_read(t, now, p->id.addr, p->id.bytes) &&
		    memcmp(now, p->was, p->id.bytes))
			return p;
	}
	return NULL;
}
