/* SPDX-License-Identifier: MIT */
#include "rr/filestore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "shared/rr.h"

#define PART_BYTES ((size_t)1 << 20)

void filestore_release(struct filestore *s)
{
	free(s->kept);
	free(s->met);
	syssums_release(&s->sums);
}

void filestore_path(char *path, size_t n, const char *dir, uint32_t number)
{
	snprintf(path, n, "%s/files/%" PRIu32, dir, number);
}

/* Of another mount namespace the name may be that of another file, or of none. */
static bool is_named(const struct procmap *m)
{
	struct stat st;

	return !m->vma_end || (!stat(m->path, &st) && st.st_ino == m->ino && st.st_dev == m->dev);
}

static bool is_system(const struct procmap *m)
{
	const size_t n = m->path[0] == '/' ? strcspn(m->path + 1, "/") : 0;

	for (size_t i = 0; n && i < RR_NSYSTEM; i++)
		if (n == strlen(rr_system_dirs[i]) && !memcmp(m->path + 1, rr_system_dirs[i], n))
			return is_named(m);
	return false;
}

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

static int make_file(const struct filestore *s, const char *path)
{
	char dir[4096];
	int fd, r = caller_lower(s->who);

	if (r)
		return r;
	snprintf(dir, sizeof(dir), "%s/files", s->dir);
	fd = mkdir(dir, 0700) && errno != EEXIST ? -1 :
	     open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r = fd < 0 ? -errno : fd;
	if (caller_raise(s->who) && r >= 0) {
		close(r);
		r = -EPERM;
	}
	return r;
}

int filestore_open(pid_t pid, const struct procmap *m)
{
	char link[96];
	struct stat st;
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 m->vma_start, m->vma_end);
	fd = open(m->vma_end ? link : m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == m->ino)
		return fd;
	close(fd);
	return -ESTALE;
}

/* By a name that the program chose, with its user's rights; the file must be the one. */
static int open_named(const struct filestore *s, pid_t pid, const struct procmap *m)
{
	struct stat st;
	int fd, r = caller_lower(s->who);

	if (r)
		return r;
	fd = filestore_open(pid, m);
	if (caller_raise(s->who)) {
		if (fd >= 0)
			close(fd);
		return -EPERM;
	}
	if (fd < 0 || (!fstat(fd, &st) && (uint64_t)st.st_size == m->size &&
		       procmaps_ns(&st.st_mtim) == m->mtime_ns))
		return fd;
	close(fd);
	return -ESTALE;
}

/* Before the program goes on: a file can be changed by its mapping, or by calls. */
static int copy_file(const struct filestore *s, int from, const struct procmap *m,
		     uint32_t number, struct err *err)
{
	char path[4096];
	int to, r;

	filestore_path(path, sizeof(path), s->dir, number);
	to = from < 0 ? from : make_file(s, path);
	/* Blocks are shared where the file system can. */
	r = to < 0 ? to : !ioctl(to, FICLONE, from) ? 0 : copy_parts(to, from);
	if (to >= 0)
		close(to);
	return r ? err_sys(err, -r, "cannot copy %s into the recording", m->path) : 0;
}

bool filestore_meets(struct filestore *s, const struct procmap *m)
{
	struct file_id *more;

	if (!m->ino)
		return false;
	for (size_t i = 0; i < s->nmet; i++)
		if (s->met[i].dev == m->dev && s->met[i].ino == m->ino)
			return false;
	more = realloc(s->met, (s->nmet + 1) * sizeof(*more));
	if (!more)
		return true;
	s->met = more;
	s->met[s->nmet++] = (struct file_id){ m->dev, m->ino };
	return true;
}

/* The number of the copy that there is; 0: none. */
static uint32_t kept(const struct filestore *s, const struct procmap *m)
{
	/* What is shared may have changed without a trace: by way of memory, times stand still. */
	for (uint32_t i = 0; i < s->n && !m->shared; i++)
		if (s->kept[i].dev == m->dev && s->kept[i].ino == m->ino &&
		    s->kept[i].size == m->size && s->kept[i].mtime_ns == m->mtime_ns)
			return i + 1;
	return 0;
}

static int add(struct filestore *s, int from, const struct procmap *m, struct err *err)
{
	void *more = realloc(s->kept, (s->n + 1) * sizeof(*s->kept));
	int r;

	if (!more)
		return err_sys(err, ENOMEM, "cannot record");
	s->kept = more;
	r = copy_file(s, from, m, s->n + 1, err);
	if (r)
		return r;
	s->kept[s->n].dev = m->dev;
	s->kept[s->n].ino = m->ino;
	s->kept[s->n].size = m->size;
	s->kept[s->n].mtime_ns = m->mtime_ns;
	s->n++;
	return 0;
}

int filestore_keep(struct filestore *s, pid_t pid, const struct procmap *m, uint32_t *number,
		   struct err *err)
{
	int from = -1, r = 0;

	*number = m->ino ? kept(s, m) : 0;
	if (!m->ino || *number)
		return 0;
	/* It is held first: whatever else may wait for a disk, and the program run on. */
	if (m->vma_end)
		from = filestore_open(pid, m);
	if (is_system(m)) {
		r = syssums_note(&s->sums, &(struct recfiles_id){ m->dev, m->ino, m->size,
			         m->mtime_ns, m->ctime_ns }, m->path, s->queue, err);
	} else {
		from = m->vma_end ? from : open_named(s, pid, m);
		r = add(s, from, m, err);
		*number = r ? 0 : s->n;
	}
	if (from >= 0)
		close(from);
	return r;
}
