/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: RFC 4180 by an automaton over bytes, whose state outlives a line: a field in
 * quotes may hold newlines. Quotes are inside of a hole, "" is left as it is, and text behind
 * a closing quote belongs to the field. Where lines end at NUL, a NUL ends a hole as a
 * newline does elsewhere, also in quotes. With .unquote a quoted field's hole is what is
 * between its quotes, and text behind them is kept.
 */
#include <string.h>

#include "tape/split.h"

static inline enum csv_state csv_step(enum csv_state state, char c)
{
	switch (state) {
	case CSV_START:
		return c == '"' ? CSV_QUOTED : CSV_BARE;
	case CSV_QUOTED:
		return c == '"' ? CSV_CLOSED : CSV_QUOTED;
	case CSV_CLOSED:
		return c == '"' ? CSV_QUOTED : CSV_JUNK;
	case CSV_BARE:
	case CSV_JUNK:
		break;
	}
	return state;
}

size_t split_csv_end(struct tape_splitter *s, const char *data, size_t n)
{
	enum csv_state state = s->searched ? s->csv_scan :
			       s->csv == CSV_QUOTED ? CSV_QUOTED : CSV_START;

	for (size_t i = s->searched; i < n; i++) {
		if ((data[i] == '\n' && state != CSV_QUOTED) || (!data[i] && s->sel.nul)) {
			s->searched = 0;
			return i + 1;
		} else if (state == CSV_QUOTED) {
			state = data[i] == '"' ? CSV_CLOSED : CSV_QUOTED;
		} else {
			state = data[i] == ',' ? CSV_START : csv_step(state, data[i]);
		}
	}
	s->searched = n;
	s->csv_scan = state;
	return 0;
}

/* The end of the field that begins at s->pos, or of its part in this line. */
static size_t field_end(struct tape_splitter *s, size_t *closed)
{
	size_t i = s->pos;

	*closed = s->len;
	for (; i < s->len; i++) {
		const char c = s->rec[i];

		if (s->csv == CSV_QUOTED) {
			const char *quote = memchr(s->rec + i, '"', s->len - i);

			if (!quote)
				return s->len;
			i = (size_t)(quote - s->rec);
			s->csv = CSV_CLOSED;
			*closed = i;
			continue;
		}
		if (c == ',')
			break;
		s->csv = csv_step(s->csv, c);
	}
	return i;
}

/* The hole that the field is, or its part in this line. */
static struct tape_span hole_of(const struct tape_splitter *s, size_t end, size_t closed)
{
	const bool inside = s->csv_inside && !s->pos;
	struct tape_span hole = { s->pos, end, TAPE_PLAIN };

	if (!s->sel.unquote)
		return hole;
	if (!inside && (s->csv == CSV_START || s->csv == CSV_BARE)) {
		/* One that should have had quotes is left as it was written. */
		if (!memchr(s->rec + s->pos, '"', end - s->pos) &&
		    !memchr(s->rec + s->pos, '\r', end - s->pos))
			hole.kind = TAPE_BARE;
		return hole;
	}
	hole.kind = TAPE_QUOTED;
	hole.start += !inside;
	if (s->csv != CSV_QUOTED)
		hole.end = closed;
	return hole;
}

static ptrdiff_t csv_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	size_t n = 0, closed, end;
	bool inside;

	/* The number of the field that a newline was in, in s->told_last. */
	if (!s->pos && s->csv_inside)
		s->field = s->told_last;
	while (n < cap) {
		inside = s->csv_inside && !s->pos;
		end = field_end(s, &closed);
		if ((end > s->pos || inside) && ranges_find(&s->list, &s->at, s->field))
			hole[n++] = hole_of(s, end, closed);
		if (end == s->len) {
			s->done = true;
			break;
		}
		s->pos = end + 1;
		s->field++;
		s->csv = CSV_START;
		s->csv_inside = false;
	}
	if (s->done) {
		s->told_last = s->field;
		if (s->csv != CSV_QUOTED) {
			s->csv = CSV_START;
			s->csv_records++;
		}
	}
	return (ptrdiff_t)n;
}

const struct split_way split_csv = { .holes = csv_holes, .list = true };
