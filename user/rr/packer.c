/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a copy is made under a name that nobody reads, and the index, written last and put in
 * place at once, is what makes copies count. So whatever ends a pack, the recording is as it was
 * or packed; copies that no index names are written over by the next one. One packs at a time: a
 * lock on the directory.
 */
#include "rr/packer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/io.h"
#include "rr/filesum.h"
#include "rr/packed.h"
#include "rr/procmaps.h"
#include "rr/recfiles.h"
#include "rr/sysfiles.h"

#define PART_BYTES ((size_t)1 << 18)

struct packer {
	const struct packer_opts *opts;
	struct packer_result *result;
	struct recfiles files;
	struct packed packed;
	struct sysfiles system;
	uint32_t *made;		/* numbers of copies that this call made */
	size_t nmade;
	bool changed;		/* the index is to be written */
	struct err *err;
};

static void warn(struct packer *p, const struct err *why)
{
	p->result->failed++;
	if (p->opts->warn)
		p->opts->warn(p->opts->ctx, why);
}

/* ---- one file ------------------------------------------------------------------- */

static int copy_parts(int to, int from)
{
	char *part = malloc(PART_BYTES);
	ssize_t n = 0;
	int r = part ? 0 : -ENOMEM;

	while (!r && (n = read(from, part, PART_BYTES)) > 0)
		r = io_write_all(to, part, (size_t)n);
	free(part);
	return r ? r : n < 0 ? -errno : 0;
}

static int has_changed(const struct recfiles_file *f, struct err *why)
{
	return err_set(why, ESTALE, "cannot pack %s: it has changed since it was recorded",
		       f->path);
}

/* The file, if it is the one that was mapped: its descriptor. -errno with words. */
static int open_original(struct packer *p, const struct recfiles_file *f, struct err *why)
{
	const int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err_sys(why, errno, "cannot pack %s", f->path);
	if (sysfiles_same(&p->system, p->opts->dir, &f->id, fd))
		return fd;
	close(fd);
	return has_changed(f, why);
}

/* The copy on disk, and its sum. -ESTALE: @from was changed meanwhile. -errno without words. */
static int fill(int to, int from, uint64_t *sum)
{
	struct stat was, is;
	int r = fstat(from, &was) ? -errno : 0;

	/* Blocks are shared where the file system can; no later change shows in the copy. */
	if (!r && ioctl(to, FICLONE, from))
		r = copy_parts(to, from);
	if (!r && (fstat(from, &is) || is.st_size != was.st_size ||
		   procmaps_ns(&is.st_ctim) != procmaps_ns(&was.st_ctim)))
		return -ESTALE;
	r = r ? r : filesum(to, sum);
	return r || !fsync(to) ? r : -errno;
}

static bool is_used(const struct packer *p, uint32_t number)
{
	for (size_t i = 0; i < p->packed.n; i++)
		if (!p->packed.at[i].copy && p->packed.at[i].number == number)
			return true;
	return false;
}

static int note_made(struct packer *p, uint32_t number)
{
	uint32_t *more = realloc(p->made, (p->nmade + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	p->made = more;
	more[p->nmade++] = number;
	return 0;
}

/* @e's file of what @from is of, whole or not at all, and its sum. As fill(), with words. */
static int make_copy(struct packer *p, int from, struct packed_file *e)
{
	char now[PATH_MAX], path[PATH_MAX];
	int to, r;

	packed_path(path, sizeof(path), p->opts->dir, e);
	snprintf(now, sizeof(now), "%.*s/packed/new", PATH_MAX - 16, p->opts->dir);
	to = open(now, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	r = to < 0 ? -errno : fill(to, from, &e->sum);
	if (to >= 0)
		close(to);
	if (!r && rename(now, path))
		r = -errno;
	if (r)
		unlink(now);
	return r ? err_sys(p->err, -r, "cannot write %s", path) : 0;
}

static uint32_t free_number(const struct packer *p)
{
	uint32_t number = 1;

	while (is_used(p, number))
		number++;
	return number;
}

/* Into the index, or what that says of it anew. -errno with words. */
static int add_entry(struct packer *p, const struct recfiles_file *f, const struct packed_file *is)
{
	struct packed_file *e = packed_find(&p->packed, &f->id, f->copy);

	if (!e) {
		e = packed_add(&p->packed);
		if (e)
			*e = *is;
		if (!e || !(e->path = strdup(f->path)))
			return err_sys(p->err, ENOMEM, "cannot pack");
	}
	e->sum = is->sum;
	p->changed = true;
	return 0;
}

/* A copy of what the system has. 1: it cannot be had, *why says why; -errno with words. */
static int copy_original(struct packer *p, const struct recfiles_file *f, struct err *why)
{
	const struct packed_file *old = packed_find(&p->packed, &f->id, 0);
	struct packed_file new = { .id = f->id, .number = old ? old->number : free_number(p) };
	const int from = open_original(p, f, why);
	int r;

	if (from < 0)
		return 1;
	/* One that the index has already is as whole as it was before, whatever comes. */
	r = old ? 0 : note_made(p, new.number);
	r = r ? err_sys(p->err, ENOMEM, "cannot pack") : make_copy(p, from, &new);
	close(from);
	if (r == -ESTALE) {
		has_changed(f, why);
		return 1;
	}
	p->result->fresh += !r;
	return r ? r : add_entry(p, f, &new);
}

/* 0, also where it cannot be had and that was told; -errno with words. */
static int pack_original(struct packer *p, const struct recfiles_file *f)
{
	struct packed_file *e = packed_find(&p->packed, &f->id, 0);
	struct err damaged = { 0 }, why = { 0 };
	int r = 0;

	if (!e || packed_check(e, p->opts->dir, &damaged))
		r = copy_original(p, f, &why);
	if (r > 0)
		warn(p, e ? &damaged : &why);
	if (r)
		return r < 0 ? r : 0;
	p->result->files++;
	p->result->bytes += f->id.size;
	return 0;
}

/* Of the recording's own copy: its sum, or that it is as it was. The same. */
static int sum_copy(struct packer *p, const struct recfiles_file *f)
{
	struct packed_file *old = packed_find(&p->packed, NULL, f->copy);
	struct packed_file new = { .id = f->id, .number = f->copy, .copy = true };
	struct err why = { 0 };
	char path[PATH_MAX];
	struct stat st;
	int fd, r;

	if (old) {
		if (packed_check(old, p->opts->dir, &why))
			warn(p, &why);
		return 0;
	}
	packed_path(path, sizeof(path), p->opts->dir, &new);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	r = fd < 0 || fstat(fd, &st) ? -errno : filesum(fd, &new.sum);
	if (fd >= 0)
		close(fd);
	if (r) {
		err_sys(&why, -r, "cannot read %s, the copy of %s", path, f->path);
		warn(p, &why);
		return 0;
	}
	new.id.size = (uint64_t)st.st_size;
	return add_entry(p, f, &new);
}

/* ---- all ------------------------------------------------------------------------ */

static int pack_all(struct packer *p)
{
	int r = 0;

	for (size_t i = 0; !r && i < p->files.n; i++) {
		if (p->opts->progress)
			p->opts->progress(p->opts->ctx, i, p->files.n, p->result->bytes);
		r = p->files.at[i].copy ? sum_copy(p, &p->files.at[i]) :
					  pack_original(p, &p->files.at[i]);
	}
	if (r || (p->packed.there && !p->changed && p->packed.missing == p->result->failed))
		return r;
	p->packed.missing = p->result->failed;
	return packed_write(&p->packed, p->opts->dir, PACKED_INDEX, p->err);
}

/* What was made for an index that was not to be. */
static void undo(struct packer *p)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < p->nmade; i++) {
		packed_path(path, sizeof(path), p->opts->dir,
			    &(struct packed_file){ .number = p->made[i] });
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/packed", p->opts->dir);
	rmdir(path);
}

/* Its recorder holds a lock while it runs. */
static int check_over(const char *dir, struct err *err)
{
	char path[PATH_MAX];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/events", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK) {
		r = err_set(err, EBUSY, "%s is still being recorded", dir);
		err_hint(err, "it can be packed once the program has ended");
	}
	close(fd);
	return r;
}

/* The directory of copies, locked: its descriptor. -EAGAIN: it was just taken away. */
static int lock(const char *dir, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/packed", dir);
	if (mkdir(path, 0700) && errno != EEXIST)
		return err_sys(err, errno, "cannot make %s", path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	while (flock(fd, LOCK_EX)) {
		if (errno == EINTR)
			continue;
		close(fd);
		return err_sys(err, errno, "cannot lock %s", path);
	}
	if (!fstat(fd, &st) && st.st_nlink)
		return fd;
	close(fd);
	return -EAGAIN;
}

/* Of a recording that is another's, which root packs: its files are to be that one's, too. */
static int find_owner(struct caller *who, const char *dir, struct err *err)
{
	struct stat st;

	*who = (struct caller){ 0 };
	if (stat(dir, &st))
		return err_sys(err, errno, "cannot open %s", dir);
	*who = (struct caller){ .uid = st.st_uid, .gid = st.st_gid,
				.change = !geteuid() && st.st_uid };
	return 0;
}

static int pack(struct packer *p)
{
	int fd, r = check_over(p->opts->dir, p->err);

	r = r ? r : recfiles_read(&p->files, p->opts->dir, p->err);
	if (r)
		return r;
	do
		fd = lock(p->opts->dir, p->err);
	while (fd == -EAGAIN);
	if (fd < 0)
		return fd;
	r = packed_read(&p->packed, p->opts->dir, PACKED_INDEX, p->err);
	if (!r) {
		r = pack_all(p);
		if (r)
			undo(p);
	}
	close(fd);
	return r;
}

int packer_run(const struct packer_opts *opts, struct packer_result *result, struct err *err)
{
	struct packer p = { .opts = opts, .result = result, .err = err };
	struct caller who;
	int r;

	*result = (struct packer_result){ 0 };
	r = find_owner(&who, opts->dir, err);
	if (!r && caller_lower(&who))
		r = err_sys(err, EPERM, "cannot write as the user");
	r = r ? r : pack(&p);
	if (caller_raise(&who) && !r)
		r = err_sys(err, EPERM, "cannot go on as root");
	recfiles_release(&p.files);
	packed_release(&p.packed);
	sysfiles_release(&p.system);
	free(p.made);
	return r;
}
