/* SPDX-License-Identifier: MIT */
#ifndef TAPE_SPILL_H
#define TAPE_SPILL_H

/*
 * Bytes that wait, first in, first out: in memory up to a limit, beyond it in a file
 * without a name below $TMPDIR, else /tmp. Never blocks but for that file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct spill {
	char *head, *tail;	/* what is read from; what is added to. Both .half bytes, lazily */
	size_t head_at, head_end, tail_end;
	size_t half;
	size_t head_cap, tail_cap;
	int fd;			/* -1: none was needed */
	uint64_t read_at, write_at, punched;	/* of the file */
	uint64_t most_bytes;	/* that the file held */
};

/* Keeps up to about @memory_bytes in memory. */
void spill_init(struct spill *s, size_t memory_bytes);
void spill_release(struct spill *s);
/* 0, -ENOMEM, or the error of the file. */
int spill_add_slow(struct spill *s, const void *data, size_t n);
/* The next bytes: how many, 0 when there are none, negative errno. They stay until taken. */
ptrdiff_t spill_peek(struct spill *s, const char **data);

static inline int spill_add(struct spill *s, const void *data, size_t n)
{
	if (s->tail_cap - s->tail_end < n)
		return spill_add_slow(s, data, n);
	memcpy(s->tail + s->tail_end, data, n);
	s->tail_end += n;
	return 0;
}

static inline void spill_take(struct spill *s, size_t n)
{
	s->head_at += n;
}

static inline uint64_t spill_bytes(const struct spill *s)
{
	return s->head_end - s->head_at + (s->write_at - s->read_at) + s->tail_end;
}

#endif
