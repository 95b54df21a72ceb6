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
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "sym/symclient.h"
#include "sym/symmaps.h"

#define MAPS_TEXT_MAX ((size_t)64 << 20)
#define OVERLAY_MAGIC 0x794c7630
#define FILES_MAX 65535u

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

/*
 * Opens for reading what @path_fd (O_PATH) is, when that is a regular file:
 * opening a device or a FIFO of somebody else's choice could block or act.
 */
static int reopen(int path_fd, struct stat *st)
{
	char link[64];
	int fd;

	if (fstat(path_fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

static int open_map_file(struct sym *s, int proc, const struct symmaps_line *l, struct stat *st)
{
	char name[64];
	int path_fd, fd;

	if (s->no_map_files)
		return -EPERM;
	snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)l->start,
		 (unsigned long long)l->end);
	path_fd = openat(proc, name, O_PATH | O_CLOEXEC);
	if (path_fd < 0) {
		fd = -errno;
		if (fd == -EPERM)
			s->no_map_files = true;
		return fd;
	}
	fd = reopen(path_fd, st);
	close(path_fd);
	return fd;
}

/* Overlays have shown the inode of the layer below in maps. */
static bool same_inode(int path_fd, const struct stat *st, uint64_t ino)
{
	struct statfs fs;

	return st->st_ino == ino || (!fstatfs(path_fd, &fs) && fs.f_type == OVERLAY_MAGIC);
}

/* By its path below the process's root; the path has no links left in it. */
static int open_by_path(int proc, const struct symmaps_line *l, struct stat *st)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS,
	};
	char *path = malloc(l->path_bytes + 1);
	int root, path_fd, fd;

	if (!path)
		return -ENOMEM;
	symmaps_path(l->path, l->path_bytes, path);
	root = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) {
		fd = -errno;
		free(path);
		return fd;
	}
	path_fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	fd = path_fd < 0 ? -errno : reopen(path_fd, st);
	if (fd >= 0 && !same_inode(path_fd, st, l->ino)) {
		close(fd);
		fd = -ESTALE;
	}
	if (path_fd >= 0)
		close(path_fd);
	close(root);
	free(path);
	return fd;
}

/* The program itself can be opened by its owner even when deleted. */
static int open_exe(int proc, const struct symmaps_line *l, struct stat *st)
{
	int path_fd = openat(proc, "exe", O_PATH | O_CLOEXEC), fd;

	if (path_fd < 0)
		return -errno;
	fd = reopen(path_fd, st);
	if (fd >= 0 && st->st_ino != l->ino) {
		close(fd);
		fd = -ESTALE;
	}
	close(path_fd);
	return fd;
}

static int open_mapped(struct sym *s, int proc, const struct symmaps_line *l, struct stat *st)
{
	int fd = open_map_file(s, proc, l, st);

	if (fd < 0 && fd != -EMFILE && fd != -ENFILE && l->path[0] == '/') {
		fd = open_by_path(proc, l, st);
		if (fd < 0)
			fd = open_exe(proc, l, st);
	}
	return fd;
}

static uint32_t add_file(struct sym *s, const struct symsnap_key *key, int fd,
			 const struct stat *st)
{
	struct symfile *f;
	uint32_t *id = map_put(s->file_ids, key);

	if (!id || s->nfile >= FILES_MAX)
		return 0;
	if (s->nfile == s->cap_file) {
		size_t cap = s->cap_file ? s->cap_file * 2 : 64;

		f = realloc(s->file, cap * sizeof(*f));
		if (!f)
			return 0;
		s->file = f;
		s->cap_file = cap;
	}
	f = &s->file[s->nfile++];
	*f = (struct symfile){
		.fd = fd, .major = key->major, .minor = key->minor, .ino = key->ino,
		.mtime_ns = mtime_ns(st), .size = st->st_size,
	};
	*id = (uint32_t)s->nfile;
	s->stats.files++;
	return *id;
}

/* Whether the file that is held open is still what it was. */
static bool unchanged(const struct symfile *f)
{
	struct stat st;

	if (f->fd < 0)
		return true;
	return !fstat(f->fd, &st) && mtime_ns(&st) == f->mtime_ns && st.st_size == f->size;
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
	fd = open_mapped(s, proc, l, &st);
	if ((fd == -EMFILE || fd == -ENFILE) && sym_shed_files(s))
		fd = open_mapped(s, proc, l, &st);
	if (fd < 0) {
		s->stats.unopened++;
		return 0;
	}
	id = add_file(s, key, fd, &st);
	if (!id)
		close(fd);
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

static int snapshot(struct sym *s, struct symspace *sp, pid_t pid)
{
	struct map_list list = { 0 };
	struct buf text = BUF_INIT;
	int proc = -1, rc = read_maps(pid, &proc, &text);
	uint64_t hash;

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
	}
	sp->missed = false;
	sp->read_ns = clock_mono_ns();
out:
	free(list.map);
	buf_release(&text);
	if (proc >= 0)
		close(proc);
	return rc;
}

int sym_snapshot(struct sym *s, uint32_t space, pid_t pid)
{
	const uint64_t stale_ns = SYM_STALE_MS * (uint64_t)1000000;
	struct symspace *known = map_get(s->spaces, &space), sp = { .space = space };
	int rc;

	if (known)
		sp = *known;
	if (known && !sp.missed && clock_mono_ns() - sp.read_ns < stale_ns)
		return 0;
	/* On a copy: files that run out make sym_shed_files touch the table. */
	rc = snapshot(s, &sp, pid);
	if (rc)
		return rc;
	known = map_put(s->spaces, &space);
	if (!known) {
		free(sp.map);
		return -ENOMEM;
	}
	*known = sp;
	return 0;
}
