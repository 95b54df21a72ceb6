/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. One uprobe in each C library meets the first thread of every routine,
 * which a probe at each routine, known only once it has been used, would not.
 * The library of the tracer itself is probed before anything runs, and nearly
 * always that is all. Another one, in a container, a chroot or a static program,
 * is found in the maps of a process that execs or creates its first thread; the
 * threads that it creates until then are counted and not timed. Probes are
 * file-wide, so that children need no work; BPF leaves out who is not traced.
 */
#include "collect/startprobe.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/findexe.h"
#include "base/io.h"
#include "collect/cost.h"
#include "collect/privilege.h"
#include "collect/seen.h"
#include "collect/startcall.h"
#include "sym/symmaps.h"

#define PROBES 64	/* most places probed, and most files that have some */
#define FILES_SEEN ((size_t)1 << 16)	/* programs without such a place */
#define LINES_MAX 32	/* mappings of one process that are opened: it has few C libraries */
#define MAPS_BYTES_MAX ((size_t)16 << 20)

struct file_key { uint64_t dev, ino; };

struct startprobe {
	struct bpf_program *prog;
	struct bpf_link *link[PROBES];
	size_t nlink;
	struct file_key file[PROBES];	/* probed: never to be probed again */
	size_t nfile;
	struct seen *other;	/* struct file_key: looked through, nothing to probe */
	bool branch;		/* the latest place is a branch */
};

/* ---- probing ---- */

static int probe(struct startprobe *q, int fd, uint64_t offset, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie);
	char path[32];
	int r;

	if (q->nlink == PROBES)
		return -ENOSPC;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* The file was opened by the user's own rights; this is the tracer's. */
	privilege_suspend();
	q->link[q->nlink] = bpf_program__attach_uprobe_opts(q->prog, -1, path, offset, &opts);
	r = q->link[q->nlink] ? 0 : -errno;
	privilege_resume();
	if (r)
		return r;
	q->nlink++;
	return 0;
}

static bool is_probed(const struct startprobe *q, const struct file_key *key)
{
	size_t i;

	for (i = 0; i < q->nfile; i++)
		if (q->file[i].dev == key->dev && q->file[i].ino == key->ino)
			return true;
	return false;
}

/* Probes file @fd once. The number of places, 0 when it was seen before; -errno. */
static int probe_file(struct startprobe *q, int fd)
{
	struct startcall at[STARTCALL_MAX];
	struct file_key key;
	struct stat st;
	int n, i, r = 0;

	if (fstat(fd, &st))
		return -errno;
	key = (struct file_key){ st.st_dev, st.st_ino };
	if (is_probed(q, &key) || !seen_first(q->other, &key))
		return 0;
	n = startcall_find(fd, at);
	if (n <= 0)
		return n;
	if (q->nfile == PROBES)
		return -ENOSPC;
	q->file[q->nfile++] = key;
	for (i = 0; i < n && !r; i++) {
		r = probe(q, fd, at[i].offset, at[i].field);
		q->branch = at[i].branch;
	}
	return r ? r : n;
}

/* Opens what @path_fd is, when it is a regular file, and closes @path_fd. */
static int reopen(int path_fd)
{
	char link[32];
	struct stat st;
	int fd = -EINVAL;

	if (path_fd < 0)
		return path_fd;
	if (!fstat(path_fd, &st) && S_ISREG(st.st_mode)) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	}
	close(path_fd);
	return fd;
}

/* Below @root, as the process that has it for its root would; AT_FDCWD: our own. */
static int open_in(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };

	if (root == AT_FDCWD)
		return reopen(open(path, O_PATH | O_CLOEXEC));
	return reopen((int)syscall(SYS_openat2, root, path, &how, sizeof(how)));
}

static void probe_opened(struct startprobe *q, int fd)
{
	if (fd < 0)
		return;
	(void)probe_file(q, fd);
	close(fd);
}

/*
 * The C library lies beside the dynamic linker, and is mapped after it. Threads
 * have been in it since glibc 2.34.
 */
static void probe_beside(struct startprobe *q, int root, const char *linker)
{
	static const char *const names[] = { "libc.so.6", "libpthread.so.0" };
	const char *slash = strrchr(linker, '/');
	char path[4096];
	size_t i;

	for (i = 0; slash && i < sizeof(names) / sizeof(names[0]); i++)
		if (snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - linker), linker,
			     names[i]) < (int)sizeof(path))
			probe_opened(q, open_in(root, path));
}

/* ---- a process ---- */

static bool begins(const char *name, size_t bytes, const char *with)
{
	return bytes >= strlen(with) && !memcmp(name, with, strlen(with));
}

/* Whether it was one that is opened. */
static bool look_at_line(struct startprobe *q, int proc, int root, const struct symmaps_line *m)
{
	const char *name = memrchr(m->path, '/', m->path_bytes);
	char path[4096], link[64];
	size_t bytes;
	int fd;

	if (!name || m->path_bytes >= sizeof(path))
		return false;
	name++;
	bytes = (size_t)(m->path + m->path_bytes - name);
	symmaps_path(m->path, m->path_bytes, path);
	if (begins(name, bytes, "ld-")) {
		probe_beside(q, root, path);
		probe_beside(q, AT_FDCWD, path);
	} else if (begins(name, bytes, "libc.") || begins(name, bytes, "libc-") ||
		   begins(name, bytes, "libpthread")) {
		/* By its inode; who lacks the capability for that, by its path. */
		snprintf(link, sizeof(link), "map_files/%llx-%llx", (unsigned long long)m->start,
			 (unsigned long long)m->end);
		fd = reopen(openat(proc, link, O_PATH | O_CLOEXEC));
		probe_opened(q, fd >= 0 ? fd : open_in(root, path));
	} else {
		return false;
	}
	return true;
}

void startprobe_look(struct startprobe *q, pid_t pid)
{
	struct symmaps_line m;
	struct buf maps = BUF_INIT;
	const char *text, *end;
	int proc, root, fd, got, lines = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return;
	root = openat(proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	probe_opened(q, reopen(openat(proc, "exe", O_PATH | O_CLOEXEC)));
	fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && root >= 0 && !io_read_fd(fd, &maps, MAPS_BYTES_MAX)) {
		text = maps.data;
		end = maps.data + maps.len;
		while (text && lines < LINES_MAX && (got = symmaps_next(&text, end, &m)) >= 0)
			if (got && (m.prot & SYMMAPS_X) && m.path && m.path[0] == '/')
				lines += look_at_line(q, proc, root, &m);
	}
	buf_release(&maps);
	if (fd >= 0)
		close(fd);
	if (root >= 0)
		close(root);
	close(proc);
}

/* ---- the command ---- */

static void look_at_program(struct startprobe *q, const char *path)
{
	char linker[4096];
	int fd = reopen(open(path, O_PATH | O_CLOEXEC)), n;

	if (fd < 0)
		return;
	n = startcall_interp(fd, linker, sizeof(linker));
	if (n > 0) {
		char *real = realpath(linker, NULL);

		if (real)
			probe_beside(q, AT_FDCWD, real);
		free(real);
	} else {
		(void)probe_file(q, fd);
	}
	close(fd);
}

void startprobe_command(struct startprobe *q, const char *command)
{
	char path[4096];

	if (findexe(path, sizeof(path), command))
		look_at_program(q, path);
}

/* ---- set-up ---- */

/* Where the probe that tells its own cost goes: into this very program. */
static int probe_cost(struct startprobe *q)
{
	const uint64_t addr = (uintptr_t)(q->branch ? cost_routine_branch : cost_routine_call);
	struct symmaps_line m;
	struct buf maps = BUF_INIT;
	const char *text, *end;
	int fd, got, r = io_read_file("/proc/self/maps", &maps, MAPS_BYTES_MAX);

	if (r) {
		buf_release(&maps);
		return r;
	}
	r = -ENOENT;
	text = maps.data;
	end = maps.data + maps.len;
	while (text && (got = symmaps_next(&text, end, &m)) >= 0) {
		if (!got || addr < m.start || addr >= m.end)
			continue;
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? -errno : probe(q, fd, m.offset + (addr - m.start), 0);
		if (fd >= 0)
			close(fd);
		break;
	}
	buf_release(&maps);
	return r;
}

struct startprobe *startprobe_new(struct bpf_program *prog, struct err *err)
{
	struct startprobe *q = calloc(1, sizeof(*q));
	int r;

	if (q)
		q->other = seen_new(sizeof(struct file_key), FILES_SEEN);
	if (!q || !q->other) {
		free(q);
		err_sys(err, ENOMEM, "cannot set up the trace");
		return NULL;
	}
	q->prog = prog;
	startprobe_look(q, getpid());
	r = probe_cost(q);
	if (r) {
		err_sys(err, -r, "cannot attach a uprobe");
		/* Since 6.16, and in later stable kernels, CAP_PERFMON no longer does. */
		err_hint(err, r == -EACCES || r == -EPERM ?
			 "--start-routine needs sudo: the kernel gives uprobes to CAP_SYS_ADMIN "
			 "alone" :
			 "--start-routine needs a kernel built with CONFIG_UPROBE_EVENTS=y");
		startprobe_free(q);
		return NULL;
	}
	return q;
}

static void *take_away(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

/* Each waits until no CPU runs it any more, some 50 ms: all at once take no longer. */
void startprobe_detach(struct startprobe *q)
{
	pthread_t thread[PROBES];
	size_t i, n = 0;

	for (i = 0; i < q->nlink; i++)
		if (i + 1 == q->nlink || pthread_create(&thread[n], NULL, take_away, q->link[i]))
			take_away(q->link[i]);
		else
			n++;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	q->nlink = 0;
}

void startprobe_free(struct startprobe *q)
{
	if (!q)
		return;
	startprobe_detach(q);
	seen_free(q->other);
	free(q);
}
