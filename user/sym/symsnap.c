/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A snapshot keeps of /proc/PID/maps the mappings of files that have
 * code somewhere in the process, and anonymous code. Nothing else can hold a
 * frame or a global: what lies behind a file's last page in memory (.bss) is
 * found by the program headers, not by its own mapping. A file is opened once
 * and known by what maps says of it, device and inode; holding it open keeps
 * the inode from being used again, and a changed time of modification makes it
 * another file. What an earlier snapshot of the same space had and a later has
 * not is kept where nothing else took its place: samples may come from then.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "sym/symclient.h"
#include "sym/symmaps.h"

#define MAPS_TEXT_MAX ((size_t)64 << 20)
#define FILES_MAX 65535u
#define SPACES_MAX 4096	/* some kilobytes each */
#define MAPS_ALL_MAX ((size_t)1 << 20)	/* of all spaces: a fork has as many as its parent */
#define DESCRIPTORS_SPARED 64
/* Reading the mappings of thousands of stacks takes long: at most this part of a CPU. */
#define READ_PART 50
/* Of all spaces, new ones too. */
#define DEBT_PART 2

struct symsnap_key {
	uint32_t major, minor;
	uint64_t ino;
};

static uint64_t hash_text(const char *p, size_t n)
{
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
	return h;
}

static int64_t mtime_ns(const struct stat *st)
{
	return st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

const struct symspace_map *symsnap_find(const struct symspace *sp, uint64_t addr)
{
	size_t lo = 0, hi = sp->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (sp->map[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sp->n && sp->map[lo].start <= addr ? &sp->map[lo] : NULL;
}

/* One that was forgotten, or a new one, .free too; NULL: all numbers are taken, or no memory. */
static struct symfile *free_file(struct sym *s)
{
	for (size_t i = 0; s->nfree && i < s->nfile; i++) {
		if (s->file[i].free)
			return &s->file[i];
	}
	if (s->nfile == FILES_MAX)
		return NULL;
	if (s->nfile == s->cap_file) {
		size_t cap = s->cap_file ? s->cap_file * 2 : 64;
		struct symfile *f = realloc(s->file, cap * sizeof(*f));

		if (!f)
			return NULL;
		s->file = f;
		s->cap_file = cap;
	}
	s->file[s->nfile] = (struct symfile){ .fd = -1, .debug_fd = -1, .free = true };
	s->nfree++;
	return &s->file[s->nfile++];
}

static uint32_t add_file(struct sym *s, const struct symsnap_key *key, int fd,
			 const struct stat *st)
{
	struct symfile *f = free_file(s);
	uint32_t *id = f ? map_put(s->file_ids, key) : NULL;

	if (!id)
		return 0;
	s->nfree -= f->free;
	*f = (struct symfile){
		.fd = fd, .debug_fd = -1,
		.major = key->major, .minor = key->minor, .ino = key->ino,
		.mtime_ns = mtime_ns(st), .size = st->st_size,
	};
	*id = (uint32_t)(f - s->file) + 1;
	s->stats.files++;
	return *id;
}

void symsnap_drop_file(struct sym *s, const struct symfile *f, uint32_t id)
{
	struct symsnap_key key = { .major = f->major, .minor = f->minor, .ino = f->ino };
	const uint32_t *known = map_get(s->file_ids, &key);

	/* A newer file may have its place. */
	if (known && *known == id)
		map_del(s->file_ids, &key);
}

/* Whether the file that is held open is still what it was. */
static bool unchanged(const struct symfile *f)
{
	struct stat st;

	if (f->fd < 0 || f->perf)
		return true;
	return !fstat(f->fd, &st) && mtime_ns(&st) == f->mtime_ns && st.st_size == f->size;
}

/* So few descriptors left that the child, which needs some, should start now. */
static bool few_left(int fd)
{
	struct rlimit r;

	return !getrlimit(RLIMIT_NOFILE, &r) && (rlim_t)fd + DESCRIPTORS_SPARED >= r.rlim_cur;
}

/* The number of the file behind @l, opened when it is not known; 0: cannot. */
static uint32_t find_file(struct sym *s, int proc, const struct symmaps_line *l,
			  const struct symsnap_key *key)
{
	const uint32_t *known = map_get(s->file_ids, key);
	struct stat st;
	uint32_t id;
	int fd;

	if (known && *known && unchanged(&s->file[*known - 1]))
		return *known;
	fd = symopen_mapped(s, proc, l, &st);
	if (fd < 0) {
		s->stats.unopened++;
		return 0;
	}
	id = add_file(s, key, fd, &st);
	if (!id)
		close(fd);
	else if (few_left(fd))
		sym_shed_files(s);
	return id;
}

#define NOT_OPENED UINT32_MAX

/* The same, asked for once in a snapshot: @code holds what came of it. */
static uint32_t file_of(struct sym *s, int proc, const struct symmaps_line *l,
			const struct map *code)
{
	struct symsnap_key key = { .major = l->major, .minor = l->minor, .ino = l->ino };
	uint32_t *id = map_get(code, &key);

	if (!id)
		return 0;
	if (!*id) {
		*id = find_file(s, proc, l, &key);
		if (!*id)
			*id = NOT_OPENED;
	}
	return *id == NOT_OPENED ? 0 : *id;
}

/* The number of the process's perf map, 0: none; its path comes to @path. */
static uint32_t perf_map(struct sym *s, int proc, const char **path)
{
	char text[SYMOPEN_PERF_BYTES];
	struct symsnap_key key;
	const uint32_t *known;
	struct stat st;
	uint32_t id;
	int fd = symopen_perf(proc, text, &st);

	if (fd < 0)
		return 0;
	*path = symintern_add(s->strings, text, sizeof(text));
	key = (struct symsnap_key){ .major = major(st.st_dev), .minor = minor(st.st_dev),
				    .ino = st.st_ino };
	known = map_get(s->file_ids, &key);
	if (known && *known && s->file[*known - 1].perf) {
		close(fd);
		return *known;
	}
	id = add_file(s, &key, fd, &st);
	if (id)
		s->file[id - 1].perf = true;
	else
		close(fd);
	return id;
}

/* The files that have code, each with 0; NULL: no memory. */
static struct map *files_with_code(const char *text, const char *end)
{
	struct map *m = map_new(sizeof(struct symsnap_key), sizeof(uint32_t));
	struct symmaps_line l;
	int rc;

	while (m && (rc = symmaps_next(&text, end, &l)) >= 0) {
		struct symsnap_key key = { .major = l.major, .minor = l.minor, .ino = l.ino };

		if (rc && l.ino && l.path && (l.prot & SYMMAPS_X) && !map_put(m, &key)) {
			map_free(m);
			return NULL;
		}
	}
	return m;
}

static bool is_wanted(const struct map *code, const struct symmaps_line *l)
{
	struct symsnap_key key = { .major = l->major, .minor = l->minor, .ino = l->ino };

	return l->ino && l->path ? map_get(code, &key) != NULL : (l->prot & SYMMAPS_X) != 0;
}

static const char *keep_path(struct sym *s, const struct symmaps_line *l)
{
	const char *kept = NULL;
	char *path;

	if (!l->path)
		return NULL;
	path = malloc(l->path_bytes + 1);
	if (path)
		kept = symintern_add(s->strings, path, symmaps_path(l->path, l->path_bytes, path));
	free(path);
	return kept;
}

struct map_list {
	struct symspace_map *map;
	size_t n, cap;
};

static int list_add(struct map_list *list, const struct symspace_map *m)
{
	if (list->n == SYMP_MAPS_MAX)
		return 0;
	if (list->n == list->cap) {
		size_t cap = list->cap ? list->cap * 2 : 64;
		struct symspace_map *map = realloc(list->map, cap * sizeof(*map));

		if (!map)
			return -ENOMEM;
		list->map = map;
		list->cap = cap;
	}
	list->map[list->n++] = *m;
	return 0;
}

/* Adds what @old has below @before, from *@at on, and what @list does not cover. */
static int add_old(struct map_list *list, const struct symspace *old, size_t *at, uint64_t before)
{
	for (; *at < old->n && old->map[*at].start < before; ++*at) {
		const struct symspace_map *m = &old->map[*at];
		uint64_t covered = list->n ? list->map[list->n - 1].end : 0;

		if (m->start >= covered && m->end <= before && list_add(list, m))
			return -ENOMEM;
	}
	return 0;
}

static int parse(struct sym *s, int proc, const struct buf *text, const struct symspace *old,
		 struct map_list *list)
{
	const char *p = text->data, *end = p + text->len;
	struct map *code = files_with_code(p, end);
	struct symmaps_line l;
	uint64_t before = 0;
	size_t at = 0;
	int rc, err = code ? 0 : -ENOMEM;

	while (!err && (rc = symmaps_next(&p, end, &l)) >= 0) {
		struct symspace_map m = { .start = l.start, .end = l.end, .offset = l.offset,
					  .prot = l.prot };

		if (!rc || l.start < before || !is_wanted(code, &l))
			continue;
		before = l.end;
		if (l.ino && l.path)
			m.file = file_of(s, proc, &l, code);
		m.path = keep_path(s, &l);
		err = add_old(list, old, &at, l.start);
		if (!err)
			err = list_add(list, &m);
	}
	if (!err)
		err = add_old(list, old, &at, UINT64_MAX);
	map_free(code);
	return err;
}

static int read_maps(pid_t pid, int *proc, struct buf *text)
{
	char dir[32];
	int fd, rc;

	snprintf(dir, sizeof(dir), "/proc/%d", pid);
	*proc = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*proc < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	fd = openat(*proc, "maps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	rc = io_read_fd(fd, text, MAPS_TEXT_MAX);
	close(fd);
	/* A zombie's and a kernel thread's are empty. */
	return rc ? rc : text->len ? 0 : -ESRCH;
}

/* Gives code without a file its perf map. */
static void add_perf_map(struct sym *s, int proc, struct symspace *sp)
{
	const char *path = NULL;
	uint32_t id = 0;

	sp->no_perf = false;
	for (size_t i = 0; i < sp->n; i++) {
		struct symspace_map *m = &sp->map[i];

		if (m->path || m->file || !(m->prot & SYMMAPS_X))
			continue;
		if (!id)
			id = perf_map(s, proc, &path);
		if (!id) {
			sp->no_perf = true;
			return;
		}
		m->file = id;
		m->path = path;
		m->prot |= SYMMAPS_PERF;
	}
	if (id) {
		sp->gen++;
		sp->sent = false;
	}
}

static int snapshot(struct sym *s, struct symspace *sp, pid_t pid)
{
	struct map_list list = { 0 };
	struct buf text = BUF_INIT;
	uint64_t hash, begin_cpu_ns = clock_process_cpu_ns();
	int proc = -1, rc = read_maps(pid, &proc, &text);

	if (rc)
		goto out;
	hash = hash_text(text.data, text.len);
	if (!sp->map || hash != sp->text_hash) {
		rc = parse(s, proc, &text, sp, &list);
		if (rc)
			goto out;
		free(sp->map);
		sp->map = list.map;
		sp->n = list.n;
		list.map = NULL;
		sp->text_hash = hash;
		sp->gen++;
		sp->sent = false;
		sp->no_perf = true;
	}
	if (sp->no_perf)
		add_perf_map(s, proc, sp);
	sp->missed = false;
	sp->read_ns = clock_mono_ns();
	sp->cost_ns = clock_process_cpu_ns() - begin_cpu_ns;
out:
	free(list.map);
	buf_release(&text);
	if (proc >= 0)
		close(proc);
	return rc;
}

static bool is_fresh(const struct symspace *sp)
{
	uint64_t age_ns = clock_mono_ns() - sp->read_ns;

	if (age_ns < sp->cost_ns * READ_PART)
		return true;
	return !sp->missed && age_ns < SYM_STALE_MS * (uint64_t)1000000;
}

static bool in_debt(struct sym *s)
{
	uint64_t now_ns = clock_mono_ns(), paid_ns = (now_ns - s->debt_at_ns) / DEBT_PART;

	s->debt_ns -= paid_ns < s->debt_ns ? paid_ns : s->debt_ns;
	s->debt_at_ns = now_ns;
	return s->debt_ns > (s->opts.snapshot_ns ? s->opts.snapshot_ns : SYM_SNAPSHOT_NS);
}

int sym_snapshot(struct sym *s, uint32_t space, pid_t pid)
{
	struct symspace *known = map_get(s->spaces, &space), sp = { .space = space };
	uint64_t begin_cpu_ns;
	int rc;

	if (known)
		sp = *known;
	if (known && (is_fresh(&sp) || s->nmap >= MAPS_ALL_MAX))
		return 0;
	if (!known && (map_count(s->spaces) >= SPACES_MAX || s->nmap >= MAPS_ALL_MAX))
		return -ENOSPC;
	if (in_debt(s))
		return known ? 0 : -EAGAIN;
	begin_cpu_ns = clock_process_cpu_ns();
	/* On a copy: files that run out make sym_shed_files touch the table. */
	rc = snapshot(s, &sp, pid);
	s->debt_ns += clock_process_cpu_ns() - begin_cpu_ns;
	if (rc)
		return rc;
	known = map_put(s->spaces, &space);
	if (!known) {
		free(sp.map);
		return -ENOMEM;
	}
	s->nmap += sp.n - known->n;
	*known = sp;
	return 0;
}
