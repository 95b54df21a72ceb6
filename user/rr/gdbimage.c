/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rr/filestore.h"
#include "rr/gdb_state.h"

/* The last of process @pid up to @event. */
static struct gdb_image *find(const struct gdb *g, uint32_t pid, uint64_t event)
{
	for (size_t i = g->nimages; i-- > 0;)
		if (g->image[i].pid == pid && g->image[i].event <= event)
			return &g->image[i];
	return NULL;
}

static void add(struct gdb *g, uint32_t pid, const char *path)
{
	struct gdb_image *at = realloc(g->image, (g->nimages + 1) * sizeof(*at));

	if (!at)
		return;
	g->image = at;
	at[g->nimages++] = (struct gdb_image){ .event = g->event, .pid = pid,
					       .path = path ? strdup(path) : NULL };
}

/* Where it was, while it is there; else the recording's copy, where there is one. */
static void find_file(const struct gdb *g, const struct rr_ev_map *m, char *path, size_t n)
{
	const struct recfiles_id id = recfiles_id_of(m);
	const struct packed_file *f = packed_find(&g->p->packed, &id, m->copy);
	struct stat st;

	if (!stat(path, &st) && recfiles_unchanged(&id, &st))
		return;
	if (m->copy)
		filestore_path(path, n, g->opts->dir, m->copy);
	else if (f)
		packed_path(path, n, g->opts->dir, f);
}

/* The first mapping of a new image is the program's. */
static void name_it(struct gdb *g, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;
	struct gdb_image *last = find(g, h->tid, g->event);
	char path[4096];

	if (!last || last->path || h->bytes < sizeof(*m) ||
	    m->path_bytes > h->bytes - sizeof(*m) || m->path_bytes >= sizeof(path))
		return;
	memcpy(path, (const char *)h + sizeof(*m), m->path_bytes);
	path[m->path_bytes] = '\0';
	find_file(g, m, path, sizeof(path));
	last->path = strdup(path);
}

static void fork_it(struct gdb *g, const struct rr_head *h)
{
	const struct rr_ev_fork *e = (const void *)h;
	const struct rthread *t = rthreads_find(&g->p->all, h->tid);
	const struct gdb_image *of = t ? find(g, t->pid, g->event) : NULL;

	if (of && h->bytes >= sizeof(*e))
		add(g, e->child, of->path);
}

void gdb_image_see(struct gdb *g, const struct rr_head *h)
{
	/* What was gone back over is known. */
	if (h->type == RR_EV_MAP)
		name_it(g, h);
	else if (g->event <= g->images_to)
		return;
	else if (h->type == RR_EV_EXEC)
		add(g, h->tid, NULL);
	else if (h->type == RR_EV_FORK)
		fork_it(g, h);
	if (g->event > g->images_to)
		g->images_to = g->event;
}

const char *gdb_program(const struct gdb *g)
{
	const struct gdb_image *i = find(g, g->pid, g->event);

	return i && i->path ? i->path : "";
}

void gdb_images_release(struct gdb *g)
{
	for (size_t i = 0; i < g->nimages; i++)
		free(g->image[i].path);
	free(g->image);
}
