/* SPDX-License-Identifier: MIT */
#include "out/outstream.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int out_stream_init(struct out_stream *o, int fd, const char *name, size_t cap, struct err *err)
{
	memset(o, 0, sizeof(*o));
	o->fd = fd;
	o->name = name;
	o->cap = cap ? cap : OUT_STREAM_BYTES;
	o->buf = malloc(o->cap);
	if (!o->buf)
		return err_sys(err, ENOMEM, "cannot write to %s", name);
	return 0;
}

/* An old file: what was in it, and who could read it, is no more. */
static int take_over(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	/* First: readers that have it open already are few. Not all file systems have modes. */
	if (st.st_uid == geteuid())
		(void)fchmod(fd, 0600);
	return ftruncate(fd, 0) ? -errno : 0;
}

bool out_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int out_file_check(const char *path, struct err *err)
{
	char *dir = strdup(path);
	int r = 0;

	if (!dir)
		return err_sys(err, ENOMEM, "cannot open %s", path);
	if (euidaccess(path, F_OK) ? euidaccess(dirname(dir), W_OK) : euidaccess(path, W_OK))
		r = err_sys(err, errno, "cannot open %s", path);
	free(dir);
	return r;
}

int out_file_open(const char *path, struct err *err)
{
	const int flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
	int fd, r, tries = 0;

	/* It may come or go in between. */
	do {
		fd = open(path, flags | O_CREAT | O_EXCL, 0600);
		if (fd >= 0)
			return fd;
		if (errno == EEXIST)
			fd = open(path, flags);
	} while (fd < 0 && errno == ENOENT && tries++ < 3);
	r = fd < 0 ? -errno : take_over(fd);
	if (!r)
		return fd;
	if (fd >= 0)
		close(fd);
	if (r == -ELOOP) {
		err_set(err, ELOOP, "cannot open %s for writing: it is a symbolic link", path);
		err_hint(err, "give the file's own path");
		return r;
	}
	return err_sys(err, -r, "cannot open %s for writing", path);
}

int out_stream_open(struct out_stream *o, const char *path, struct err *err)
{
	int fd, r;

	if (!strcmp(path, "-"))
		return out_stream_init(o, STDOUT_FILENO, "standard output", 0, err);
	fd = out_file_open(path, err);
	if (fd == -ELOOP)
		err_hint(err, "give the file's own path, or - for standard output");
	if (fd < 0)
		return fd;
	r = out_stream_init(o, fd, path, 0, err);
	if (r) {
		close(fd);
		return r;
	}
	o->own_fd = true;
	return 0;
}

/* One write that waits on a non-blocking descriptor; -errno. */
static ssize_t write_some(int fd, const char *data, size_t len)
{
	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t n = write(fd, data, len);

		if (n >= 0)
			return n;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (poll(&p, 1, -1) < 0 && errno != EINTR)
				return -errno;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
}

static void write_all(struct out_stream *o, const char *data, size_t len)
{
	while (len && !o->error) {
		ssize_t n = write_some(o->fd, data, len);

		if (n <= 0) {
			o->error = n ? (int)-n : EIO;
			return;
		}
		o->bytes += (uint64_t)n;
		data += n;
		len -= (size_t)n;
	}
}

/*
 * The thread's SIGPIPE is blocked around the write. A SIGPIPE by write(2) is
 * raised for the writing thread, so it is pending on it and can be taken off;
 * one that was pending before is left alone.
 */
static void write_quietly(struct out_stream *o, const char *data, size_t len)
{
	sigset_t pipe_set, old, pending;
	bool was_pending;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	write_all(o, data, len);
	if (o->error == EPIPE && !was_pending) {
		struct timespec now = { 0 };

		while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

int out_flush(struct out_stream *o)
{
	if (o->len && !o->error)
		write_quietly(o, o->buf, o->len);
	o->len = 0;
	return -o->error;
}

int out_stream_close(struct out_stream *o, struct err *err)
{
	out_flush(o);
	/* NFS and quotas report a full disk only here. */
	if (o->own_fd && close(o->fd) < 0 && !o->error && errno != EINTR)
		o->error = errno;
	free(o->buf);
	o->buf = NULL;
	o->cap = 0;
	o->fd = -1;
	o->own_fd = false;
	return o->error ? err_sys(err, o->error, "cannot write to %s", o->name) : 0;
}

char *out_reserve(struct out_stream *o, size_t n)
{
	assert(n <= o->cap);
	if (o->cap - o->len < n)
		out_flush(o);
	return o->buf + o->len;
}

void out_write(struct out_stream *o, const void *data, size_t len)
{
	if (!len)
		return;
	if (o->cap - o->len < len)
		out_flush(o);
	if (len > o->cap) {
		if (!o->error)
			write_quietly(o, data, len);
		return;
	}
	memcpy(o->buf + o->len, data, len);
	o->len += len;
}

void out_puts(struct out_stream *o, const char *s)
{
	out_write(o, s, strlen(s));
}

void out_putc(struct out_stream *o, char c)
{
	out_write(o, &c, 1);
}

void out_printf(struct out_stream *o, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	out_buf(o, &b);
	buf_release(&b);
}

void out_buf(struct out_stream *o, struct buf *b)
{
	if (b->failed && !o->error)
		o->error = ENOMEM;
	out_write(o, b->data, b->len);
	buf_reset(b);
}

void out_pad(struct out_stream *o, char c, size_t n)
{
	while (n--)
		out_putc(o, c);
}
