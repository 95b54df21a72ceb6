/* SPDX-License-Identifier: MIT */
#ifndef OUT_OUTSTREAM_H
#define OUT_OUTSTREAM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A buffered writer to a file descriptor that remembers its first error. What
 * is written after an error is thrown away, so callers need no check per line:
 * out_stream_close tells, and a full disk or a closed pipe is never lost.
 * SIGPIPE is held back and taken off while writing, so a closed pipe is EPIPE
 * whatever the process's disposition is. One stream belongs to one thread;
 * writes block as the descriptor does, and wait (poll) on a non-blocking one.
 */
struct out_stream {
	int fd;
	bool own_fd;		/* closed by out_stream_close */
	int error;		/* first error, positive errno; 0: none */
	const char *name;	/* for messages; borrowed */
	char *buf;
	size_t len, cap;
	uint64_t bytes;		/* handed to the kernel so far */
};

#define OUT_STREAM_BYTES 65536

/*
 * @fd is borrowed, @name ("standard output") is kept, not copied. @cap is the
 * buffer's size, 0: OUT_STREAM_BYTES. Returns 0, or -ENOMEM with @err.
 */
int out_stream_init(struct out_stream *o, int fd, const char *name, size_t cap, struct err *err);
/*
 * Opens @path to be written by us and read by its owner alone: created with mode
 * 0600 and O_EXCL; an existing regular file is emptied and, if it is ours, given
 * that mode; a device or FIFO is taken as it is; a symbolic link in the last
 * place is refused (ELOOP). Returns the descriptor or -errno with @err.
 */
int out_file_open(const char *path, struct err *err);
/* Whether both names lead to one file that is there. */
bool out_same_file(const char *a, const char *b);
/*
 * Whether out_file_open would take @path, by its mode or its directory's, without making
 * or changing anything: 0 or -errno with @err.
 */
int out_file_check(const char *path, struct err *err);
/*
 * Opens @path for `-o FILE` ("-": standard output) by out_file_open. @path is
 * kept. Returns 0 or -errno with @err; then @o needs no close.
 */
int out_stream_open(struct out_stream *o, const char *path, struct err *err);
/*
 * Flushes, closes an own descriptor and frees the buffer. Returns 0, or -errno
 * of the first error there was, with "cannot write to NAME: …" in @err.
 */
int out_stream_close(struct out_stream *o, struct err *err);

void out_write(struct out_stream *o, const void *data, size_t len);
void out_puts(struct out_stream *o, const char *s);
void out_putc(struct out_stream *o, char c);
void out_printf(struct out_stream *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Writes out a buffer's contents and empties it; a failed buffer is ENOMEM on the stream. */
void out_buf(struct out_stream *o, struct buf *b);
/* @n times @c. */
void out_pad(struct out_stream *o, char c, size_t n);
/* 0, or -errno of the first error. */
int out_flush(struct out_stream *o);
/*
 * Room for @n bytes (at most the buffer's size) to be filled in place; the
 * caller then adds to .len what it used. Flushes when needed. Never NULL.
 */
char *out_reserve(struct out_stream *o, size_t n);

#endif
