/* SPDX-License-Identifier: MIT */
#include "rr/recfiles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/textcopy.h"
#include "rr/procmaps.h"
#include "rr/recfile.h"

struct recfiles_id recfiles_id_of(const struct rr_ev_map *m)
{
	return (struct recfiles_id){ m->dev, m->ino, m->size, m->mtime_ns, m->ctime_ns };
}

bool recfiles_same(const struct recfiles_id *a, const struct recfiles_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

bool recfiles_unchanged(const struct recfiles_id *id, const struct stat *st)
{
	return st->st_ino == id->ino && (uint64_t)st->st_size == id->size &&
	       procmaps_ns(&st->st_mtim) == id->mtime_ns &&
	       procmaps_ns(&st->st_ctim) == id->ctime_ns;
}

static struct recfiles_file *find(const struct recfiles *f, const struct recfiles_id *id,
				  uint32_t copy)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->at[i].copy == copy && (copy || recfiles_same(&f->at[i].id, id)))
			return &f->at[i];
	return NULL;
}

static int add(struct recfiles *f, const struct rr_ev_map *m, bool program)
{
	const struct recfiles_id id = recfiles_id_of(m);
	struct recfiles_file *file = find(f, &id, m->copy), *more;

	if (!file) {
		more = realloc(f->at, (f->n + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		f->at = more;
		file = &more[f->n];
		*file = (struct recfiles_file){ .id = id, .copy = m->copy };
		file->path = text_copy(m + 1, m->path_bytes);
		if (!file->path)
			return -ENOMEM;
		f->n++;
	}
	file->library |= !program && m->prot & PROT_EXEC;
	return 0;
}

/* The first mapping of a new image, and those of the same file, are the program's. */
struct reading {
	bool execed;
	struct recfiles_id program;
};

static int see(struct recfiles *f, struct reading *at, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;
	struct recfiles_id id;

	if (h->type == RR_EV_EXEC)
		at->execed = true;
	if (h->type != RR_EV_MAP || h->bytes < sizeof(*m) || !m->ino ||
	    m->path_bytes > h->bytes - sizeof(*m))
		return 0;
	id = recfiles_id_of(m);
	if (at->execed)
		at->program = id;
	at->execed = false;
	return add(f, m, recfiles_same(&id, &at->program));
}

int recfiles_read(struct recfiles *f, const char *dir, struct err *err)
{
	struct reading at = { 0 };
	const struct rr_head *h;
	struct recread *rec;
	char path[4096];
	int r;

	*f = (struct recfiles){ 0 };
	snprintf(path, sizeof(path), "%s/events", dir);
	r = recread_open(&rec, path, err);
	if (r)
		return r;
	while ((r = recread_next(rec, &h, err)) > 0) {
		r = see(f, &at, h);
		if (r) {
			err_sys(err, -r, "cannot read %s", path);
			break;
		}
	}
	recread_close(rec);
	return r;
}

void recfiles_release(struct recfiles *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].path);
	free(f->at);
	*f = (struct recfiles){ 0 };
}
