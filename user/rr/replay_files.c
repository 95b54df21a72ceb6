/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a file that was mapped shared is a file in memory at replay, one for all processes,
 * that begins as the recording's copy and takes what calls wrote to it: so no replay changes
 * what is on disk. Each mapping comes with a copy of its own, made as it was mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "rr/filestore.h"
#include "rr/replay_state.h"

static int copy_into(int to, const char *path)
{
	const int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char part[65536];
	ssize_t n = 0;
	int r = from < 0 ? -errno : 0;

	if (!r && lseek(to, 0, SEEK_SET))
		r = -errno;
	while (!r && (n = read(from, part, sizeof(part))) > 0)
		r = io_write_all(to, part, (size_t)n);
	if (!r && n < 0)
		r = -errno;
	if (from >= 0)
		close(from);
	return r;
}

/* That the file is the one that was mapped. */
static int check_file(struct replayer *p, const struct recfiles_id *id, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const bool same = fd >= 0 && sysfiles_same(&p->system, p->opts->dir, id, fd);

	if (fd < 0)
		err_sys(p->err, errno, "the recording needs %s", path);
	else
		close(fd);
	if (same)
		return 0;
	if (fd >= 0)
		err_set(p->err, ESTALE, "%s has changed since it was recorded", path);
	err_hint(p->err, "'tracer pack' keeps copies of such files in a recording, while they are "
		 "as they were");
	return -p->err->code;
}

/* Where the file is now, into @path, which is where it was. */
static int find_file(struct replayer *p, const struct rr_ev_map *m, char *path, size_t n)
{
	const struct recfiles_id id = recfiles_id_of(m);
	struct packed_file *f = packed_find(&p->packed, &id, m->copy);
	struct stat st;
	int r;

	if (!f && !m->copy)
		return check_file(p, &id, path);
	if (!f) {
		filestore_path(path, n, p->opts->dir, m->copy);
		return stat(path, &st) || S_ISREG(st.st_mode) ? 0 :
		       err_set(p->err, EINVAL, "%s is no file", path);
	}
	r = packed_check(f, p->opts->dir, p->err);
	packed_path(path, n, p->opts->dir, f);
	return r;
}

static struct shared_file *find_shared(struct replayer *p, uint64_t dev, uint64_t ino)
{
	for (size_t i = 0; i < p->nshared; i++)
		if (p->shared[i].dev == dev && p->shared[i].ino == ino)
			return &p->shared[i];
	return NULL;
}

static struct shared_file *add_shared(struct replayer *p, const struct rr_ev_map *m)
{
	struct shared_file *more = realloc(p->shared, (p->nshared + 1) * sizeof(*more)), *f;

	if (!more) {
		err_sys(p->err, ENOMEM, "cannot replay");
		return NULL;
	}
	p->shared = more;
	f = &more[p->nshared];
	*f = (struct shared_file){ .dev = m->dev, .ino = m->ino,
				   .fd = memfd_create("replay", MFD_CLOEXEC) };
	if (f->fd < 0) {
		err_sys(p->err, errno, "cannot replay");
		return NULL;
	}
	p->nshared++;
	return f;
}

/* The file that stands for a shared mapping's. Its name into @path, which was its copy's. */
static int shared_file(struct replayer *p, const struct rr_ev_map *m, char *path, size_t n)
{
	struct shared_file *f = find_shared(p, m->dev, m->ino);
	const bool fresh = !f;
	int r;

	if (fresh)
		f = add_shared(p, m);
	if (!f)
		return -p->err->code;
	/* While nobody mapped it, it may have changed unseen, or its number be another file's. */
	if (fresh || f->stale || f->copy != m->copy) {
		r = copy_into(f->fd, path);
		if (!r && ftruncate(f->fd, (off_t)m->size))
			r = -errno;
		if (r)
			return err_sys(p->err, -r, "cannot read %s", path);
		f->copy = m->copy;
		f->stale = false;
	}
	f->written |= m->prot & PROT_WRITE;
	snprintf(path, n, "/proc/%d/fd/%d", (int)getpid(), f->fd);
	return 0;
}

/* The same, unless it has to be another, shared one. */
static int file_of(struct replayer *p, const struct rr_ev_map *m, char *path, size_t n)
{
	int r = find_file(p, m, path, n);

	if (!r && m->flags & RR_MAP_SHARED)
		r = shared_file(p, m, path, n);
	return r;
}

int replay_map(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;
	char path[4096];
	int flags, r;

	if (h->bytes < sizeof(*m) || m->path_bytes > h->bytes - sizeof(*m) ||
	    m->path_bytes >= sizeof(path) || m->start % PAGE || m->end <= m->start)
		return replay_damaged(p, "a mapping");
	memcpy(path, (const char *)h + sizeof(*m), m->path_bytes);
	path[m->path_bytes] = '\0';
	flags = m->flags & RR_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (!strcmp(path, "[stack]"))
		flags |= MAP_GROWSDOWN;
	r = replay_make_way(p, t, m->start, m->end - m->start);
	if (!r && m->ino)
		r = file_of(p, m, path, sizeof(path));
	return r ? r : tracee_map(&t->space->t, m->start, m->end, (int)m->prot, flags,
				  m->ino ? path : NULL, m->offset, p->err);
}

int replay_file(struct replayer *p, const struct rr_head *h)
{
	const struct rr_ev_file *e = (const void *)h;
	const char *data = (const char *)h + sizeof(*e);
	struct shared_file *f;

	if (h->bytes < sizeof(*e) || e->data_bytes > h->bytes - sizeof(*e) ||
	    (e->data_bytes && e->data_bytes != e->bytes))
		return replay_damaged(p, "a change of a file");
	f = find_shared(p, e->dev, e->ino);
	/* Mapped, but by nobody whose mapping would show it. */
	if (!f)
		return 0;
	f->written = true;
	if (ftruncate(f->fd, (off_t)e->size))
		return err_sys(p->err, errno, "cannot replay");
	if (!e->bytes)
		return 0;
	if (e->data_bytes ?
	    pwrite(f->fd, data, e->bytes, (off_t)e->offset) != (ssize_t)e->bytes :
	    fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)e->offset,
		      (off_t)e->bytes))
		return err_sys(p->err, errno, "cannot replay");
	return 0;
}
