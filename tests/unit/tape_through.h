/* SPDX-License-Identifier: MIT */
#ifndef TAPE_THROUGH_H
#define TAPE_THROUGH_H

/* A stream through splitter and joiner, with a command that gives back each line. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tracer/tape.h"

static inline int through_write(void *arg, const char *data, size_t n)
{
	return buf_add(arg, data, n);
}

/* A number below @n from *seed. */
static inline size_t through_draw(uint64_t *seed, size_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)((*seed >> 33) % n);
}

static inline void through_value(struct buf *b, const char *p, const struct tape_span *hole)
{
	for (size_t i = hole->start; i < hole->end; i++) {
		buf_addc(b, p[i]);
		if (hole->kind == TAPE_QUOTED && p[i] == '"' && i + 1 < hole->end &&
		    p[i + 1] == '"')
			i++;
	}
}

/*
 * Sends @data through as `cat` would, a record after the other and answers in pieces by
 * *seed; what came out to @out. The promises of tape.h are checked on the way: abort().
 * 0, or the negative errno of a pattern that takes too long.
 */
static inline int through(struct tape_splitter *s, const char *data, size_t n, char end,
			  uint64_t *seed, struct buf *out)
{
	struct tape_joiner *j = tape_joiner_new(through_write, out, end, 1 << 16);
	struct buf lines = BUF_INIT;
	struct tape_span hole[3];
	size_t at = 0, sent = 0, seen, step;
	ptrdiff_t bytes = 0, got = 0;

	while (at < n) {
		/* First with a part of it, as a pipe gives it. */
		seen = at + through_draw(seed, n - at + 1);
		bytes = tape_splitter_record(s, data + at, seen - at, false);
		if (!bytes)
			bytes = tape_splitter_record(s, data + at, n - at, true);
		if (bytes <= 0 || (size_t)bytes > n - at)
			break;
		for (seen = 0; (got = tape_splitter_holes(s, hole, 3)) > 0; ) {
			for (ptrdiff_t i = 0; i < got; i++) {
				if (hole[i].start < seen || hole[i].end < hole[i].start ||
				    hole[i].end > (size_t)bytes)
					abort();
				tape_joiner_keep(j, data + at + seen, hole[i].start - seen);
				tape_joiner_hole(j, hole[i].kind);
				through_value(&lines, data + at, &hole[i]);
				buf_addc(&lines, end);
				seen = hole[i].end;
			}
		}
		if (got < 0)
			break;
		tape_joiner_keep(j, data + at + seen, (size_t)bytes - seen);
		at += (size_t)bytes;
		step = through_draw(seed, lines.len - sent + 1);
		if (step)
			tape_joiner_answer(j, lines.data + sent, step);
		sent += step;
	}
	if (bytes >= 0 && got >= 0) {
		if (sent < lines.len)
			tape_joiner_answer(j, lines.data + sent, lines.len - sent);
		tape_joiner_answer(j, NULL, 0);
		if (at != n || tape_joiner_open(j) || tape_joiner_surplus_bytes(j))
			abort();
	}
	tape_joiner_free(j);
	buf_release(&lines);
	return bytes < 0 ? (int)bytes : (int)(got < 0 ? got : 0);
}

#endif
