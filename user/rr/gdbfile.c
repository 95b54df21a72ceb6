/* SPDX-License-Identifier: MIT */
/*
 * Files that GDB reads through us: those of /proc of the process, which has another number in the
 * replay, libraries that are no longer where they were, and any other with our own rights. None can
 * be written.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rr/gdb_state.h"

#define PATH_BYTES 4096

/* Numbers of errors in the protocol, "Errno Values". */
static int gdb_errno(int code)
{
	static const unsigned char same[] = { EPERM, ENOENT, EINTR, EBADF, EACCES, EFAULT, EBUSY,
					      EEXIST, ENODEV, ENOTDIR, EISDIR, EINVAL, ENFILE,
					      EMFILE, EFBIG, ENOSPC, ESPIPE, EROFS };

	for (size_t i = 0; i < sizeof(same); i++)
		if (same[i] == code)
			return code;
	return code == ENAMETOOLONG ? 91 : 9999;
}

static int failed(struct gdb *g, int code)
{
	return gdb_send(g, "F-1,%x", (unsigned int)gdb_errno(code));
}

/* An answer with @n bytes behind it. */
static int answer(struct gdb *g, const void *data, size_t n)
{
	buf_reset(&g->reply);
	buf_addf(&g->reply, "F%zx;", n);
	buf_add(&g->reply, data, n);
	return gdb_send_reply(g);
}

/* "/proc/PID/..." and "/proc/PID/task/TID/..." of the process are those of the real one. */
static void translate(struct gdb *g, char *path)
{
	const struct rthread *t = gdb_thread_find(g, 0);
	char was[PATH_BYTES], *rest;
	unsigned long pid;

	if (!t || strncmp(path, "/proc/", 6))
		return;
	pid = strtoul(path + 6, &rest, 10);
	if (pid != g->pid || *rest != '/')
		return;
	if (!strncmp(rest, "/task/", 6)) {
		strtoul(rest + 6, &rest, 10);
		if (*rest != '/')
			return;
	}
	snprintf(was, sizeof(was), "%s", rest);
	snprintf(path, PATH_BYTES, "/proc/%d%.4000s", (int)t->space->t.pid, was);
}

/* "NAME,FLAGS,MODE", the name in hex. */
static int on_open(struct gdb *g, const char *s)
{
	char path[PATH_BYTES];
	const long n = gdb_from_hex(path, sizeof(path) - 1, s);
	uint64_t flags = 0;
	size_t i = 0;
	int fd;

	s = strchr(s, ',');
	if (n < 0 || !s++ || !gdb_number(&s, &flags) || flags & 3)
		return failed(g, flags & 3 ? EROFS : EINVAL);
	path[n] = '\0';
	translate(g, path);
	gdb_library(g, path, sizeof(path));
	while (i < GDB_FILES_MAX && g->file[i])
		i++;
	if (i == GDB_FILES_MAX)
		return failed(g, EMFILE);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return failed(g, errno);
	g->file[i] = fd;
	return gdb_send(g, "F%zx", i);
}

/* The descriptor of ours, or -1. */
static int file_of(struct gdb *g, const char **s, uint64_t *n)
{
	return gdb_number(s, n) && *n < GDB_FILES_MAX && g->file[*n] ? g->file[*n] : -1;
}

static int on_close(struct gdb *g, const char *s)
{
	uint64_t n;
	const int fd = file_of(g, &s, &n);

	if (fd < 0)
		return failed(g, EBADF);
	close(fd);
	g->file[n] = 0;
	return gdb_send(g, "F0");
}

/* "FD,COUNT,OFFSET" */
static int on_pread(struct gdb *g, const char *s)
{
	uint64_t n, bytes, offset;
	const int fd = file_of(g, &s, &n);
	struct buf data = BUF_INIT;
	ssize_t got;
	int r;

	if (fd < 0 || *s++ != ',' || !gdb_number(&s, &bytes) || *s++ != ',' ||
	    !gdb_number(&s, &offset))
		return failed(g, EBADF);
	bytes = bytes < GDB_PACKET_MAX / 2 - 32 ? bytes : GDB_PACKET_MAX / 2 - 32;
	if (buf_grow(&data, (size_t)bytes))
		return failed(g, ENOSPC);
	got = pread(fd, data.data, (size_t)bytes, (off_t)offset);
	r = got < 0 ? failed(g, errno) : answer(g, data.data, (size_t)got);
	buf_release(&data);
	return r;
}

static void put(unsigned char *at, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (unsigned char)(v >> 8 * (bytes - 1 - i));
}

/* The protocol's "struct stat": big-endian, 64 bytes. */
static int on_fstat(struct gdb *g, const char *s)
{
	unsigned char is[64] = { 0 };
	uint64_t n;
	const int fd = file_of(g, &s, &n);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return failed(g, EBADF);
	put(is + 8, st.st_mode, 4);
	put(is + 12, st.st_nlink, 4);
	put(is + 28, (uint64_t)st.st_size, 8);
	put(is + 36, (uint64_t)st.st_blksize, 8);
	put(is + 44, (uint64_t)st.st_blocks, 8);
	put(is + 52, (uint64_t)st.st_atime, 4);
	put(is + 56, (uint64_t)st.st_mtime, 4);
	put(is + 60, (uint64_t)st.st_ctime, 4);
	return answer(g, is, sizeof(is));
}

static int on_readlink(struct gdb *g, const char *s)
{
	char path[PATH_BYTES], to[PATH_BYTES];
	const long n = gdb_from_hex(path, sizeof(path) - 1, s);
	ssize_t got;

	if (n < 0)
		return failed(g, EINVAL);
	path[n] = '\0';
	translate(g, path);
	got = readlink(path, to, sizeof(to));
	return got < 0 ? failed(g, errno) : answer(g, to, (size_t)got);
}

/* There is one file system, for all processes. */
static int on_setfs(struct gdb *g, const char *s)
{
	(void)s;
	return gdb_send(g, "F0");
}

static const struct {
	const char *name;
	int (*run)(struct gdb *g, const char *s);
} files[] = {
	{ "open:", on_open }, { "close:", on_close }, { "pread:", on_pread },
	{ "fstat:", on_fstat }, { "readlink:", on_readlink }, { "setfs:", on_setfs },
};

int gdb_file(struct gdb *g, const char *s)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const size_t n = strlen(files[i].name);

		if (!strncmp(s, files[i].name, n))
			return files[i].run(g, s + n);
	}
	return gdb_unknown(g);
}

void gdb_files_release(struct gdb *g)
{
	for (size_t i = 0; i < GDB_FILES_MAX; i++)
		if (g->file[i])
			close(g->file[i]);
}
