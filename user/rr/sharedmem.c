/* SPDX-License-Identifier: MIT */
#include "rr/sharedmem.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rr/procmaps.h"
#include "rr/replay_state.h"

#define KEPT_MAX ((size_t)256 << 20)	/* bytes of a checkpoint */

static struct sharedmem_part *add(struct sharedmem *m, const struct sharedmem_part *part,
				  struct err *err)
{
	struct sharedmem_part *at;

	if (part->bytes > KEPT_MAX - m->bytes) {
		err_set(err, EOPNOTSUPP, "the processes share more memory than is kept");
		return NULL;
	}
	at = realloc(m->at, (m->n + 1) * sizeof(*at));
	if (!at) {
		err_sys(err, ENOMEM, "cannot keep shared memory");
		return NULL;
	}
	m->at = at;
	at[m->n] = *part;
	at[m->n].data = malloc(part->bytes ? part->bytes : 1);
	if (!at[m->n].data) {
		err_sys(err, ENOMEM, "cannot keep shared memory");
		return NULL;
	}
	m->bytes += part->bytes;
	return &at[m->n++];
}

static int keep_file(struct sharedmem *m, int fd, struct err *err)
{
	struct sharedmem_part part = { .fd = fd }, *kept;
	struct stat st;

	if (fstat(fd, &st))
		return err_sys(err, errno, "cannot keep a mapped file");
	part.bytes = (uint64_t)st.st_size;
	kept = add(m, &part, err);
	if (!kept)
		return -err->code;
	if (pread(fd, kept->data, kept->bytes, 0) != (ssize_t)kept->bytes)
		return err_set(err, EOPNOTSUPP, "a mapped file cannot be read");
	return 0;
}

static bool is_file(const struct replayer *p, const struct procmap *map)
{
	struct stat st;

	for (size_t i = 0; i < p->nshared; i++)
		if (!fstat(p->shared[i].fd, &st) && st.st_ino == map->ino)
			return true;
	return false;
}

static bool is_kept(const struct sharedmem *m, const struct procmap *map)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->at[i].fd < 0 && m->at[i].ino == map->ino && m->at[i].offset <= map->offset &&
		    map->offset + (map->end - map->start) <= m->at[i].offset + m->at[i].bytes)
			return true;
	return false;
}

/* What has no file. Where it may not be written now, it might be later, and not by us. */
static int keep_space(struct sharedmem *m, const struct replayer *p, const struct rthread *t,
		      struct err *err)
{
	struct procmaps maps = { 0 };
	int r = procmaps_read(&maps, t->space->t.pid, err);

	for (size_t i = 0; !r && i < maps.n; i++) {
		const struct procmap *map = &maps.at[i];
		const struct sharedmem_part part = {
			.fd = -1, .ino = map->ino, .offset = map->offset,
			.bytes = map->end - map->start, .start = map->start, .tid = t->tid,
		}, *kept;

		if (!map->shared || is_file(p, map) || is_kept(m, map))
			continue;
		kept = map->prot & PROT_WRITE ? add(m, &part, err) : NULL;
		if (!kept)
			r = map->prot & PROT_WRITE ? -err->code :
			    err_set(err, EOPNOTSUPP, "shared memory cannot be written");
		else if (tracee_read(&t->space->t, kept->data, kept->start, kept->bytes))
			r = err_set(err, EOPNOTSUPP, "shared memory cannot be read");
	}
	procmaps_release(&maps);
	return r;
}

int sharedmem_keep(struct sharedmem *m, const struct replayer *p, struct err *err)
{
	int r = 0;

	/* Of those that are not the system's, any may be written to later, by calls. */
	for (size_t i = 0; !r && i < p->nshared; i++)
		if (p->shared[i].written || p->shared[i].copy)
			r = keep_file(m, p->shared[i].fd, err);
	for (size_t i = 0; !r && i < p->all.n; i++) {
		const struct rthread *t = p->all.at[i];

		if (t->space && t->space->t.shares)
			r = keep_space(m, p, t, err);
	}
	if (r)
		sharedmem_release(m);
	return r;
}

static int put_back_file(const struct sharedmem_part *part)
{
	return pwrite(part->fd, part->data, part->bytes, 0) == (ssize_t)part->bytes ?
	       ftruncate(part->fd, (off_t)part->bytes) : -1;
}

int sharedmem_put_back(const struct sharedmem *m, const struct replayer *p, struct err *err)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct sharedmem_part *part = &m->at[i];
		const struct rthread *t = part->fd < 0 ? rthreads_find(&p->all, part->tid) : NULL;

		if (part->fd >= 0 ?
		    put_back_file(part) :
		    !t || tracee_write(&t->space->t, part->start, part->data, part->bytes))
			return err_set(err, EIO, "shared memory cannot be put back");
	}
	return 0;
}

void sharedmem_release(struct sharedmem *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->at[i].data);
	free(m->at);
	*m = (struct sharedmem){ 0 };
}
