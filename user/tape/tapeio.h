/* SPDX-License-Identifier: MIT */
#ifndef TAPE_TAPEIO_H
#define TAPE_TAPEIO_H

/* The stream's two ends: a window over what was read, and what is to be written. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tape/tapestat.h"

/*
 * Unread records are data[at..end). A writer of small blocks, or of lines by the ten
 * thousands a second, would cost a few calls for each: behind one of those, the next read is
 * put off by TAPE_GATHER_NS. A line that comes after a pause, or as an answer, goes on at once.
 */
#define TAPE_GATHER_NS 1000000u

/* Behind the end of both buffers there are so many bytes that may be read and written. */
#define TAPE_SLACK_BYTES 64

struct tape_in {
	int fd;
	char *data;
	size_t at, end, cap;
	bool eof;
	bool gather;		/* the next read is put off */
	uint64_t burst_ns;	/* when reads began to be counted */
	unsigned int burst;	/* reads since then */
	uint64_t read_ns;	/* when the last read was over */
	struct tape_stats *stats;
};

/* 0 or -ENOMEM; the pipe at @fd is made larger where that is allowed. */
int tape_in_init(struct tape_in *in, int fd, struct tape_stats *stats);
void tape_in_release(struct tape_in *in);
/* Reads once, which may block: 1, 0 at the end, negative errno. Moves the window's data. */
int tape_in_read(struct tape_in *in);
/* The same with bytes that are at hand. */
int tape_in_add(struct tape_in *in, const char *data, size_t n);
/* Nanoseconds until the next read should be; 0: now. */
uint64_t tape_in_wait_ns(const struct tape_in *in, uint64_t now_ns);

/* Writes block; a slice is text that is passed on as it lies in the window. */
struct tape_out {
	int fd;
	char *data;
	size_t len, cap;
	const char *slice;
	size_t slice_bytes;
	int failed;		/* negative errno of the first write that failed */
	struct tape_stats *stats;
};

int tape_out_init(struct tape_out *out, int fd, struct tape_stats *stats);
void tape_out_release(struct tape_out *out);
/* All return 0 or the negative errno of a write. */
int tape_out_flush(struct tape_out *out);
int tape_out_add_slow(struct tape_out *out, const char *data, size_t n);
/* Takes note of bytes that stay where they are until tape_out_settle() or a flush. */
int tape_out_slice(struct tape_out *out, const char *data, size_t n);
int tape_out_settle(struct tape_out *out);
/* Room for @n bytes, at most half of the buffer; NULL: a write failed. Add to .len. */
char *tape_out_room(struct tape_out *out, size_t n);

static inline int tape_out_add(struct tape_out *out, const char *data, size_t n)
{
	if (out->slice_bytes || out->cap - out->len < n)
		return tape_out_add_slow(out, data, n);
	memcpy(out->data + out->len, data, n);
	out->len += n;
	return 0;
}

#endif
