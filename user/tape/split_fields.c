/* SPDX-License-Identifier: MIT */
/*
 * Fields between separators. A separator at an end of the record has an empty field
 * outside, and empty fields are holes.
 */
#include <string.h>

#include "base/codepoint.h"
#include "tape/split.h"

/* 1: white space; 2: may begin some; 0: neither (Unicode's White_Space in UTF-8). */
static const unsigned char blank[256] = {
	['\t'] = 1, ['\n'] = 1, ['\v'] = 1, ['\f'] = 1, ['\r'] = 1, [' '] = 1,
	[0xc2] = 2, [0xe1] = 2, [0xe2] = 2, [0xe3] = 2,
};

static unsigned int wide_blank(const char *s, size_t n)
{
	uint32_t cp;
	const unsigned int len = utf8_decode(s, n, &cp);

	if (!len)
		return 0;
	switch (cp) {
	case 0x85: case 0xa0: case 0x1680: case 0x2028: case 0x2029: case 0x202f: case 0x205f:
	case 0x3000:
		return len;
	}
	return cp >= 0x2000 && cp <= 0x200a ? len : 0;
}

static inline unsigned int blank_at(const char *s, size_t n)
{
	const unsigned char kind = blank[(unsigned char)*s];

	return kind == 2 ? wide_blank(s, n) : kind;
}

/* The next separator from s->pos on; false: there is none. */
static bool next_blank(struct tape_splitter *s, size_t *start, size_t *end)
{
	const char *rec = s->rec;
	const size_t len = s->len;
	size_t i = s->pos;
	unsigned int n = 0;

	while (i < len && !(n = blank_at(rec + i, len - i)))
		i++;
	*start = i;
	for (; i < len && n; n = i < len ? blank_at(rec + i, len - i) : 0)
		i += n;
	*end = i;
	return *end > *start;
}

/* Adds the field that ends at @end when it is in the list; false: no later one is. */
static bool add_field(struct tape_splitter *s, size_t end, struct tape_span *hole, size_t *n)
{
	if (ranges_find(&s->list, &s->at, s->field))
		hole[(*n)++] = (struct tape_span){ s->field_start, end, TAPE_PLAIN };
	s->field++;
	return s->at < s->list.n && (s->list.at[s->at].high >= s->field ||
				     s->at + 1 < s->list.n);
}

typedef int next_fn(struct tape_splitter *s, size_t *start, size_t *end);

static inline ptrdiff_t holes_of(struct tape_splitter *s, struct tape_span *hole, size_t cap,
				 next_fn *next)
{
	size_t n = 0, start = 0, end = 0;

	while (n < cap) {
		const int r = next(s, &start, &end);

		if (r < 0)
			return r;
		if (!r)
			start = s->len;
		if (!add_field(s, start, hole, &n) || !r) {
			s->done = true;
			break;
		}
		s->pos = s->field_start = end;
	}
	return (ptrdiff_t)n;
}

static inline int by_blank(struct tape_splitter *s, size_t *start, size_t *end)
{
	return next_blank(s, start, end);
}

static inline int by_text(struct tape_splitter *s, size_t *start, size_t *end)
{
	const size_t n = s->sel.delimiter_bytes;
	const char *at;

	if (n == 1)
		at = memchr(s->rec + s->pos, s->delimiter[0], s->len - s->pos);
	else
		at = memmem(s->rec + s->pos, s->len - s->pos, s->delimiter, n);
	if (!at)
		return 0;
	*start = (size_t)(at - s->rec);
	*end = *start + n;
	return 1;
}

/* Between all characters, at the start and at the end; walk.from is the next such place. */
static inline int by_nothing(struct tape_splitter *s, size_t *start, size_t *end)
{
	uint32_t cp;
	unsigned int n;

	if (s->walk.any && s->walk.from == s->len)
		return 0;
	if (s->walk.any) {
		n = utf8_decode(s->rec + s->walk.from, s->len - s->walk.from, &cp);
		s->walk.from += n ? n : 1;
	}
	s->walk.any = true;
	*start = *end = s->walk.from;
	return 1;
}

static inline int by_match(struct tape_splitter *s, size_t *start, size_t *end)
{
	struct tape_span match;
	const ptrdiff_t r = rx_matches(s->rx, s->rec, s->len, &s->walk, &match, 1);

	if (r <= 0)
		return r ? (int)split_failed(s, (int)r, s->line) : 0;
	*start = match.start;
	*end = match.end;
	return 1;
}

static ptrdiff_t fields_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	return holes_of(s, hole, cap, by_blank);
}

static ptrdiff_t fields_at_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	if (!s->sel.delimiter_bytes)
		return holes_of(s, hole, cap, by_nothing);
	return holes_of(s, hole, cap, by_text);
}

static ptrdiff_t fields_matching_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	return holes_of(s, hole, cap, by_match);
}

const struct split_way split_fields = { .holes = fields_holes, .list = true };
const struct split_way split_fields_at = { .holes = fields_at_holes, .list = true };
const struct split_way split_fields_matching = {
	.holes = fields_matching_holes, .list = true, .pattern = true,
};
