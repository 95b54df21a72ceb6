/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: head, file, tail. What is added goes to the tail; a full tail goes to the file,
 * or becomes the head when nothing is before it. An empty head is filled from the file, else
 * from the tail. Memory is only taken as it is needed: most streams never fill 64 KiB.
 */
#include "tape/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 << 10)
#define PUNCH_BYTES ((uint64_t)64 << 20)	/* read bytes are given back in pieces of this */

void spill_init(struct spill *s, size_t memory_bytes)
{
	*s = (struct spill){ .fd = -1, .half = memory_bytes / 2 };
	if (s->half < FIRST_BYTES)
		s->half = FIRST_BYTES;
}

void spill_release(struct spill *s)
{
	free(s->head);
	free(s->tail);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct spill){ .fd = -1 };
}

static int open_file(struct spill *s)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];

	if (s->fd >= 0)
		return 0;
	if (!dir || !*dir)
		dir = "/tmp";
	s->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
		snprintf(name, sizeof(name), "%s/tape-XXXXXX", dir);
		s->fd = mkostemp(name, O_CLOEXEC);
		if (s->fd >= 0)
			unlink(name);
	}
	return s->fd < 0 ? -errno : 0;
}

static int file_write(struct spill *s, const char *data, size_t n)
{
	int r = open_file(s);

	if (r)
		return r;
	while (n) {
		ssize_t did = pwrite(s->fd, data, n, (off_t)s->write_at);

		if (did < 0 && errno == EINTR)
			continue;
		if (did < 0)
			return -errno;
		data += did;
		n -= (size_t)did;
		s->write_at += (uint64_t)did;
	}
	if (s->write_at - s->read_at > s->most_bytes)
		s->most_bytes = s->write_at - s->read_at;
	return 0;
}

static void swap_buffers(struct spill *s)
{
	char *p = s->head;
	const size_t cap = s->head_cap;

	s->head = s->tail;
	s->head_cap = s->tail_cap;
	s->head_at = 0;
	s->head_end = s->tail_end;
	s->tail = p;
	s->tail_cap = cap;
	s->tail_end = 0;
}

static bool nothing_before_tail(const struct spill *s)
{
	return s->head_at == s->head_end && s->read_at == s->write_at;
}

/* Room for @n more in the tail, which holds at most .half; -E2BIG: there cannot be. */
static int grow_tail(struct spill *s, size_t n)
{
	size_t cap = s->tail_cap ? s->tail_cap : FIRST_BYTES;
	char *p;

	if (n > s->half - s->tail_end)
		return -E2BIG;
	while (cap - s->tail_end < n)
		cap *= 2;
	if (cap > s->half)
		cap = s->half;
	p = realloc(s->tail, cap);
	if (!p)
		return -ENOMEM;
	s->tail = p;
	s->tail_cap = cap;
	return 0;
}

int spill_add_slow(struct spill *s, const void *data, size_t n)
{
	const char *p = data;
	int r;

	if (nothing_before_tail(s) && s->tail_end)
		swap_buffers(s);
	while (n) {
		const size_t room = s->half - s->tail_end, part = n < room ? n : room;

		if (!room) {
			r = nothing_before_tail(s) ? (swap_buffers(s), 0) :
			    file_write(s, s->tail, s->tail_end);
			if (r)
				return r;
			s->tail_end = 0;
			continue;
		}
		if (s->tail_cap - s->tail_end < part) {
			r = grow_tail(s, part);
			if (r)
				return r;
		}
		memcpy(s->tail + s->tail_end, p, part);
		s->tail_end += part;
		p += part;
		n -= part;
	}
	return 0;
}

/* What was read is given back to the file system. */
static void punch(struct spill *s)
{
	if (s->read_at == s->write_at) {
		if (s->write_at && !ftruncate(s->fd, 0))
			s->read_at = s->write_at = s->punched = 0;
		return;
	}
	if (s->read_at - s->punched < PUNCH_BYTES)
		return;
	if (!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->punched,
		       (off_t)(s->read_at - s->punched)))
		s->punched = s->read_at;
}

static int file_read(struct spill *s)
{
	const uint64_t left = s->write_at - s->read_at;
	ssize_t n;

	if (!s->head_cap) {
		s->head = malloc(s->half);
		if (!s->head)
			return -ENOMEM;
		s->head_cap = s->half;
	}
	do
		n = pread(s->fd, s->head, left < s->head_cap ? (size_t)left : s->head_cap,
			  (off_t)s->read_at);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -EIO;
	s->read_at += (uint64_t)n;
	s->head_at = 0;
	s->head_end = (size_t)n;
	punch(s);
	return 0;
}

ptrdiff_t spill_peek(struct spill *s, const char **data)
{
	int r;

	if (s->head_at == s->head_end) {
		if (s->read_at != s->write_at) {
			r = file_read(s);
			if (r)
				return r;
		} else if (s->tail_end) {
			swap_buffers(s);
		} else {
			return 0;
		}
	}
	*data = s->head + s->head_at;
	return (ptrdiff_t)(s->head_end - s->head_at);
}
