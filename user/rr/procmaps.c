/* SPDX-License-Identifier: MIT */
#include "rr/procmaps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

uint64_t procmaps_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* What the mapping is of, by the link that holds on to it: its path may be another's by now. */
static void ask_file(struct procmap *m, pid_t pid)
{
	char link[96];
	struct stat st;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 m->start, m->end);
	if (stat(link, &st))
		return;
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	m->size = (uint64_t)st.st_size;
	m->device = S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode) ? st.st_rdev : 0;
	m->mtime_ns = procmaps_ns(&st.st_mtim);
	m->ctime_ns = procmaps_ns(&st.st_ctim);
}

static int parse(struct procmap *m, const char *line)
{
	char perms[5] = "";
	int path = 0;

	*m = (struct procmap){ 0 };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m->start,
		   &m->end, perms, &m->offset, &m->ino, &path) < 5)
		return -EINVAL;
	m->prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
		  (perms[2] == 'x' ? PROT_EXEC : 0);
	m->shared = perms[3] == 's';
	m->vma_start = m->start;
	m->vma_end = m->end;
	m->path = strndup(line + path, strcspn(line + path, "\n"));
	return m->path ? 0 : -ENOMEM;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static int cannot_read(pid_t pid, int error, struct err *err)
{
	return err_sys(err, error, "cannot read /proc/%d/maps", (int)pid);
}

int procmaps_at(struct procmap *m, pid_t pid, uint64_t addr, struct err *err)
{
	FILE *f = open_maps(pid);
	char *line = NULL;
	size_t cap = 0;
	int r = -ENOENT;

	if (!f)
		return errno == ENOENT ? -ENOENT : cannot_read(pid, errno, err);
	while (r == -ENOENT && getline(&line, &cap, f) > 0) {
		r = parse(m, line);
		if (!r && (addr < m->start || addr >= m->end)) {
			free(m->path);
			r = -ENOENT;
		}
	}
	free(line);
	fclose(f);
	if (!r && m->ino)
		ask_file(m, pid);
	return !r || r == -ENOENT ? r : cannot_read(pid, -r, err);
}

int procmaps_read(struct procmaps *m, pid_t pid, struct err *err)
{
	char *line = NULL;
	size_t cap = 0;
	int r = 0;
	FILE *f;

	*m = (struct procmaps){ 0 };
	f = open_maps(pid);
	if (!f)
		return cannot_read(pid, errno, err);
	while (!r && getline(&line, &cap, f) > 0) {
		struct procmap *at = realloc(m->at, (m->n + 1) * sizeof(*at));

		if (!at) {
			r = -ENOMEM;
			break;
		}
		m->at = at;
		r = parse(&m->at[m->n], line);
		if (!r && m->at[m->n].ino)
			ask_file(&m->at[m->n], pid);
		m->n += !r;
	}
	free(line);
	fclose(f);
	if (r) {
		procmaps_release(m);
		return cannot_read(pid, -r, err);
	}
	return 0;
}

void procmaps_release(struct procmaps *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->at[i].path);
	free(m->at);
	*m = (struct procmaps){ 0 };
}

const struct procmap *procmaps_find(const struct procmaps *m, uint64_t addr)
{
	for (size_t i = 0; i < m->n; i++)
		if (addr >= m->at[i].start && addr < m->at[i].end)
			return &m->at[i];
	return NULL;
}

const struct procmap *procmaps_named(const struct procmaps *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->at[i].path, name))
			return &m->at[i];
	return NULL;
}
