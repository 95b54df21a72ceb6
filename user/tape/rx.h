/* SPDX-License-Identifier: MIT */
#ifndef TAPE_RX_H
#define TAPE_RX_H

/* A compiled pattern of -g or -D: PCRE2 with JIT, or Oniguruma. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codepoint.h"
#include "base/err.h"
#include "tape/rxsyntax.h"
#include "tracer/tape.h"

struct rx;

/* Where a walk over the matches of one subject is; { 0 } at first. */
struct rx_walk {
	size_t from, last_end;	/* .from past the end: there are no more */
	bool any;
};

/* A way to match: one row for PCRE2, one for Oniguruma where it was built in. */
struct rx_engine {
	const char *name;
	/* -EINVAL with words, -ENOSYS where the library is missing, -ENOMEM. */
	int (*compile)(struct rx *rx, const char *pattern, size_t len, struct err *err);
	/* As rx_matches(). A walk from 0 is of a new subject. */
	ptrdiff_t (*matches)(struct rx *rx, const char *s, size_t n, struct rx_walk *w,
			     struct tape_span *hole, size_t cap);
	void (*release)(struct rx *rx);
};

extern const struct rx_engine rx_pcre, rx_onig;

struct rx {
	const struct rx_engine *engine;
	enum rx_shape shape;
	/* For RX_ONE and RX_RUN: which of ASCII is matched, and that of others, once asked. */
	uint8_t ascii[128];
	bool classed;		/* the table is filled; the pattern is of one atom */
	uint8_t *seen, *member;	/* a bit each code point */
	struct err err;		/* of the last find that failed */
	void *state;		/* the engine's */
};

/* rx_free() after success. The pattern may hold any bytes; it is copied. */
int rx_new(struct rx **out, const struct rx_engine *engine, const char *pattern, size_t len,
	   struct err *err);
void rx_free(struct rx *rx);

/* 1 when there is a match anywhere in the @n bytes at @s, else 0; negative as rx_matches(). */
int rx_test(struct rx *rx, const char *s, size_t n);
/*
 * Up to @cap next matches, as the crate's find_iter: leftmost first, none that overlap, and
 * no empty one that touches the end of the one before. Fewer: there are no more. -E2BIG when
 * the pattern took too long or went too deep, -EILSEQ, -ENOMEM, with words in rx->err.
 */
static inline ptrdiff_t rx_matches(struct rx *rx, const char *s, size_t n, struct rx_walk *w,
				   struct tape_span *hole, size_t cap)
{
	return rx->engine->matches(rx, s, n, w, hole, cap);
}

/* For engines: takes the match from @start to @end into *hole, unless it does not count. */
static inline bool rx_take(struct rx_walk *w, const char *s, size_t n, size_t start, size_t end,
			   struct tape_span *hole)
{
	uint32_t cp;

	if (start == end && w->any && end == w->last_end) {
		const unsigned int len = end < n ? utf8_decode(s + end, n - end, &cp) : 0;

		w->from = end + (len ? len : 1);
		return false;
	}
	*hole = (struct tape_span){ start, end, TAPE_PLAIN };
	w->any = true;
	w->from = w->last_end = end;
	return true;
}

/* For a classed pattern: whether it matches @cp, a code point above 127. */
bool rx_member(struct rx *rx, uint32_t cp);

#endif
