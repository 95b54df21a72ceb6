/* SPDX-License-Identifier: MIT */
/* Whole records: by list, by pattern with those around a match, by numbers that are told. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tape/split.h"

static ptrdiff_t whole(struct tape_splitter *s, struct tape_span *hole, bool selected)
{
	s->done = true;
	if (!selected)
		return 0;
	*hole = (struct tape_span){ 0, s->len, TAPE_PLAIN };
	return 1;
}

static ptrdiff_t lines_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	(void)cap;
	return whole(s, hole, ranges_find(&s->list, &s->line_at, s->line));
}

/* Sets the match before the record at hand, when it was one. */
static void pass_hit(struct tape_splitter *s)
{
	if (s->hit_next && s->hit_next <= s->line) {
		s->hit_before = s->hit_next;
		s->hit_next = 0;
	}
}

static ptrdiff_t matching_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	const struct tape_select *sel = &s->sel;
	bool selected;

	(void)cap;
	if (!sel->before) {
		int r = rx_test(s->rx, s->rec, s->len);

		if (r < 0)
			return split_failed(s, r, s->line);
		if (r)
			s->hit_before = s->line;
		s->scanned = s->line;
	}
	pass_hit(s);
	selected = (s->hit_before && s->line - s->hit_before <= sel->after) ||
		   (s->hit_next && s->hit_next - s->line <= sel->before);
	return whole(s, hole, selected != sel->invert);
}

/*
 * Looks at records from the one that comes next, up to one that matches or to as many as
 * reach back to it. Each is looked at once.
 */
int split_look_ahead(struct tape_splitter *s, const char *data, size_t n, bool last)
{
	const uint64_t next = s->line + 1;

	if (s->scanned < s->line)
		s->scanned = s->line;
	/* Less is shown than was looked at before: it is to come again, longer. */
	if (n < s->scanned_bytes)
		return last ? -EINVAL : 0;
	while (!s->hit_next && s->scanned - s->line <= s->sel.before) {
		const char *p = data + s->scanned_bytes;
		const size_t left = n - s->scanned_bytes;
		const char *end = left > s->searched ?
			memchr(p + s->searched, s->end, left - s->searched) : NULL;
		const size_t bytes = end ? (size_t)(end - p) + 1 : left;
		int r;

		if (!bytes && last)
			break;
		if (!end && !last) {
			s->searched = left;
			return 0;
		}
		s->searched = 0;
		r = rx_test(s->rx, p, split_content(p, bytes));
		if (r < 0)
			return (int)split_failed(s, r, s->scanned + 1);
		s->scanned++;
		s->scanned_bytes += bytes;
		if (r)
			s->hit_next = s->scanned;
	}
	/* The next record is taken off: what was looked at is nearer by that. */
	if (s->scanned >= next) {
		const char *end = memchr(data, s->end, n);
		const size_t bytes = end ? (size_t)(end - data) + 1 : n;

		s->searched = 0;
		s->scanned_bytes -= bytes;
	}
	return 1;
}

static ptrdiff_t numbered_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	bool told = false;

	(void)cap;
	while (s->told_n && s->told[s->told_first] <= s->line) {
		told |= s->told[s->told_first] == s->line;
		s->told_first = (s->told_first + 1) % s->told_cap;
		s->told_n--;
	}
	return whole(s, hole, told != s->sel.invert);
}

static int told_grow(struct tape_splitter *s)
{
	const size_t cap = s->told_cap ? s->told_cap * 2 : 64;
	uint64_t *told = calloc(cap, sizeof(*told));

	if (!told)
		return -ENOMEM;
	for (size_t i = 0; i < s->told_n; i++)
		told[i] = s->told[(s->told_first + i) % s->told_cap];
	free(s->told);
	s->told = told;
	s->told_cap = cap;
	s->told_first = 0;
	return 0;
}

int tape_splitter_number(struct tape_splitter *s, uint64_t number)
{
	if (number < s->told_last)
		return -EINVAL;
	if (number == s->told_last && number)
		return 0;
	s->told_last = number;
	if (!number || number == UINT64_MAX || number <= s->line)
		return 0;
	if (s->told_n == s->told_cap && told_grow(s))
		return -ENOMEM;
	s->told[(s->told_first + s->told_n++) % s->told_cap] = number;
	return 0;
}

bool tape_splitter_decided(const struct tape_splitter *s, uint64_t number)
{
	return s->sel.by != TAPE_NUMBERED || s->told_last >= number;
}

const struct split_way split_lines = { .holes = lines_holes, .list = true };
const struct split_way split_matching = { .holes = matching_holes, .pattern = true };
const struct split_way split_numbered = { .holes = numbered_holes };
