/* SPDX-License-Identifier: MIT */
#include "rr/mapped.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "rr/newimage.h"

#define DEV_MINOR_BITS 20	/* the kernel's numbers, include/linux/kdev_t.h */

void mapped_release(struct mapped *m)
{
	buf_release(&m->told);
}

int mapped_note(struct mapped *m, const struct rr_head *h, struct err *err)
{
	const struct rr_ev_mapped *e = (const void *)h;

	buf_reset(&m->told);
	if (h->bytes < sizeof(*e) || h->bytes != sizeof(*e) + e->name_bytes)
		return err_set(err, EPROTO, "an event of %u bytes is none", h->bytes);
	return buf_add(&m->told, h, h->bytes) ? err_sys(err, ENOMEM, "cannot record") : 0;
}

static const struct rr_ev_mapped *told_of(const struct mapped *m, uint32_t tid)
{
	const struct rr_ev_mapped *e = (const void *)m->told.data;

	return m->told.len && e->head.tid == tid ? e : NULL;
}

/* The names, which are told from the file's own up, as a path. NULL without memory. */
static char *path_of(const struct rr_ev_mapped *e)
{
	const char *names = (const char *)(e + 1);
	char *path = malloc(e->name_bytes + 1);
	size_t at = 0;

	if (!path)
		return NULL;
	for (size_t end = e->name_bytes; end;) {
		size_t begin = end - 1;

		while (begin && names[begin - 1])
			begin--;
		path[at++] = '/';
		memcpy(path + at, names + begin, end - 1 - begin);
		at += end - 1 - begin;
		end = begin;
	}
	path[at] = '\0';
	return path;
}

static int from_told(struct procmap *to, const struct rr_ev_mapped *e, struct err *err)
{
	*to = (struct procmap){
		.ino = e->ino, .size = e->size, .mtime_ns = e->mtime_ns,
		.ctime_ns = e->ctime_ns,
		.dev = makedev(e->dev >> DEV_MINOR_BITS, e->dev & ((1u << DEV_MINOR_BITS) - 1)),
		.path = path_of(e),
	};
	return to->path ? 0 : err_sys(err, ENOMEM, "cannot record");
}

/* Parts of a new mapping may be others' by now. */
static void as_asked(struct procmap *m, const struct rr_ev_call *e)
{
	m->prot = (int)e->arg[2];
	m->shared = e->arg[3] & MAP_SHARED;
	m->offset = e->arg[5];
	m->start = (uint64_t)e->ret;
	m->end = m->start + ((e->arg[1] + 4095) & ~4095ull);
}

static int look_up(const struct mapped *m, const struct rr_ev_call *e, struct procmap *to,
		   struct err *err)
{
	const struct rr_ev_mapped *told = told_of(m, e->head.tid);
	int r;

	if (told && told->head.flags & RR_MAPPED_SYSTEM)
		return from_told(to, told, err);
	r = procmaps_at(to, (pid_t)e->head.tid, (uint64_t)e->ret, err);
	/* Gone, or the process is: we got the CPU too late. Another may be there by now, too. */
	if ((r == -ENOENT || r == -ESRCH || (!r && told && to->ino != told->ino)) && told &&
	    told->name_bytes) {
		if (!r)
			free(to->path);
		return from_told(to, told, err);
	}
	return r == -ENOENT ? err_set(err, ENOENT, "the mapping at %#llx of process %u was gone",
				      (unsigned long long)e->ret, e->head.tid) : r;
}

int mapped_find(struct mapped *m, const struct rr_ev_call *e, struct procmap *to, struct err *err)
{
	const int r = look_up(m, e, to, err);

	buf_reset(&m->told);
	if (!r && e->nr == SYS_mmap)
		as_asked(to, e);
	return r;
}

/* Whoever else has it mapped is not recorded: of the program's own, this is the first. */
#define OUTSIDER "by a process outside of the recording: a replay does not see what that writes " \
	"into it"

/* Besides this one. In another namespace it is another segment, or none. */
static bool is_attached_elsewhere(uint64_t id, const struct procmap *m)
{
	struct shmid_ds ds;

	return id <= INT_MAX && m->ino == id && !shmctl((int)id, IPC_STAT, &ds) &&
	       ds.shm_nattch > 1;
}

/* What others can change, when it is first met. */
static void warn_of_sharing(const struct rr_ev_call *e, const struct procmap *m,
			    void (*warn)(void *ctx, const char *text), void *ctx)
{
	char text[512] = "";

	if (e->nr == SYS_shmat && is_attached_elsewhere(e->arg[0], m))
		snprintf(text, sizeof(text), "System V segment %llu is attached " OUTSIDER,
			 (unsigned long long)e->arg[0]);
	else if (e->nr == SYS_mmap && e->told)
		snprintf(text, sizeof(text), "%.300s is mapped " OUTSIDER, m->path);
	if (*text && warn)
		warn(ctx, text);
}

int mapped_add(struct mapped *m, const struct rr_ev_call *e, struct recfile *f,
	       struct filestore *files, struct replaced *replaced,
	       void (*warn)(void *ctx, const char *text), void *ctx, struct err *err)
{
	struct procmap map = { 0 };
	int r = mapped_find(m, e, &map, err);

	if (r)
		return r;
	if (map.shared && filestore_meets(files, &map))
		warn_of_sharing(e, &map, warn, ctx);
	r = newimage_add_map(e->head.tid, &map, f, files, err);
	r = r ? r : replaced_map(replaced, (pid_t)e->head.tid, &map, f, err);
	free(map.path);
	return r;
}
