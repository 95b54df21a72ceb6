/* SPDX-License-Identifier: MIT */
/* Pieces of a record: matches and characters. */
#include <string.h>

#include "base/codepoint.h"
#include "tape/split.h"

/* Characters that a pattern of one class matches, without asking it. */
static bool next_member(struct tape_splitter *s, size_t *start, size_t *end)
{
	const bool run = s->rx->shape == RX_RUN;
	size_t i = s->walk.from;
	bool any = false;

	while (i < s->len) {
		const unsigned char c = (unsigned char)s->rec[i];
		unsigned int n = 1;
		bool member = c < 0x80 && s->rx->ascii[c];
		uint32_t cp;

		if (c >= 0x80) {
			n = utf8_decode(s->rec + i, s->len - i, &cp);
			member = n && rx_member(s->rx, cp);
			n = n ? n : 1;
		}
		if (member && !any) {
			*start = i;
			any = true;
		}
		if (any && !member)
			break;
		i += n;
		if (any && !run)
			break;
	}
	*end = s->walk.from = i;
	return any;
}

static ptrdiff_t matches_of_class(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	size_t n = 0;

	while (n < cap && next_member(s, &hole[n].start, &hole[n].end))
		hole[n++].kind = TAPE_PLAIN;
	return (ptrdiff_t)n;
}

/* What is between @n matches, in their place: never more. */
static size_t between(struct tape_splitter *s, struct tape_span *hole, size_t n)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		const struct tape_span match = hole[i];

		if (match.start > s->pos)
			hole[k++] = (struct tape_span){ s->pos, match.start, TAPE_PLAIN };
		s->pos = match.end;
	}
	if (s->done && s->len > s->pos)
		hole[k++] = (struct tape_span){ s->pos, s->len, TAPE_PLAIN };
	return k;
}

static ptrdiff_t matches_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	ptrdiff_t n;

	do {
		n = s->rx->classed ? matches_of_class(s, hole, cap) :
		    rx_matches(s->rx, s->rec, s->len, &s->walk, hole, cap);
		if (n < 0)
			return split_failed(s, (int)n, s->line);
		s->done = (size_t)n < cap;
		if (s->sel.invert)
			n = (ptrdiff_t)between(s, hole, (size_t)n);
	} while (!n && !s->done);
	return n;
}

/* Moves over up to @n characters from *pos; how many there were. */
static uint64_t skip_chars(const char *rec, size_t len, size_t *pos, uint64_t n)
{
	uint64_t done = 0;
	size_t i = *pos;
	uint32_t cp;

	while (done < n && i < len) {
		unsigned int bytes = 1;

		if ((unsigned char)rec[i] >= 0x80) {
			bytes = utf8_decode(rec + i, len - i, &cp);
			bytes = bytes ? bytes : 1;
		}
		i += bytes;
		done++;
	}
	*pos = i;
	return done;
}

static ptrdiff_t chars_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	size_t n = 0;

	while (n < cap && s->at < s->list.n) {
		const struct range *r = &s->list.at[s->at++];
		size_t start;

		s->field += skip_chars(s->rec, s->len, &s->pos, r->low - s->field);
		start = s->pos;
		if (start == s->len)
			break;
		if (r->high == UINT64_MAX)
			s->pos = s->len;
		else
			s->field += skip_chars(s->rec, s->len, &s->pos, r->high - r->low + 1);
		hole[n++] = (struct tape_span){ start, s->pos, TAPE_PLAIN };
	}
	s->done = s->at == s->list.n || s->pos == s->len;
	return (ptrdiff_t)n;
}

const struct split_way split_matches = { .holes = matches_holes, .pattern = true };
const struct split_way split_chars = { .holes = chars_holes, .list = true };
