/* SPDX-License-Identifier: MIT */
#include "tape/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/codepoint.h"

static const struct split_way *const ways[] = {
	[TAPE_LINES] = &split_lines, [TAPE_MATCHING] = &split_matching,
	[TAPE_NUMBERED] = &split_numbered, [TAPE_MATCHES] = &split_matches,
	[TAPE_CHARS] = &split_chars, [TAPE_FIELDS] = &split_fields,
	[TAPE_FIELDS_AT] = &split_fields_at, [TAPE_FIELDS_MATCHING] = &split_fields_matching,
	[TAPE_CSV] = &split_csv,
};

size_t split_content(const char *rec, size_t n)
{
	if (n && rec[n - 1] == '\n')
		return n > 1 && rec[n - 2] == '\r' ? n - 2 : n - 1;
	return n && !rec[n - 1] ? n - 1 : n;
}

ptrdiff_t split_failed(struct tape_splitter *s, int code, uint64_t line)
{
	s->err = s->rx->err;
	err_prefix(&s->err, "line %llu", (unsigned long long)line);
	return code;
}

static int build(struct tape_splitter *s, struct err *err)
{
	const struct tape_select *sel = &s->sel;
	int r = 0;

	s->way = ways[sel->by];
	s->end = sel->nul && sel->by != TAPE_CSV ? '\0' : '\n';
	if (s->way->list) {
		r = ranges_parse(&s->list, sel->list ? sel->list : "", err);
		if (!r && sel->invert && ranges_invert(&s->list))
			r = err_sys(err, ENOMEM, "cannot keep the list");
	}
	if (!r && s->way->pattern)
		r = rx_new(&s->rx, sel->oniguruma ? &rx_onig : &rx_pcre, sel->pattern,
			   sel->pattern_bytes, err);
	if (!r && sel->by == TAPE_FIELDS_AT) {
		s->delimiter = malloc(sel->delimiter_bytes + 1);
		if (!s->delimiter)
			return err_sys(err, ENOMEM, "cannot keep the delimiter");
		memcpy(s->delimiter, sel->delimiter, sel->delimiter_bytes);
	}
	return r;
}

struct tape_splitter *tape_splitter_new(const struct tape_select *sel,
					char message[TAPE_MESSAGE_BYTES])
{
	struct tape_splitter *s = calloc(1, sizeof(*s));
	struct err err = { 0 };

	_Static_assert(sizeof(err.msg) <= TAPE_MESSAGE_BYTES, "a message fits");
	if (!s) {
		snprintf(message, TAPE_MESSAGE_BYTES, "out of memory");
		return NULL;
	}
	memcpy(&s->sel, sel, sel->size < sizeof(s->sel) ? sel->size : sizeof(s->sel));
	if (build(s, &err)) {
		memcpy(message, err.msg, sizeof(err.msg));
		tape_splitter_free(s);
		return NULL;
	}
	return s;
}

void tape_splitter_free(struct tape_splitter *s)
{
	if (!s)
		return;
	ranges_release(&s->list);
	rx_free(s->rx);
	free(s->delimiter);
	free(s->told);
	free(s);
}

const char *tape_splitter_message(const struct tape_splitter *s)
{
	return s->err.msg;
}

uint64_t tape_splitter_line(const struct tape_splitter *s)
{
	return s->line;
}

static bool in_header(const struct tape_splitter *s)
{
	if (s->sel.by == TAPE_CSV)
		return s->csv_records < s->sel.header;
	return s->line <= s->sel.header;
}

/* The length of the record at @data with its end; 0: it has none as yet. */
static size_t find_end(struct tape_splitter *s, const char *data, size_t n)
{
	const char *end;

	if (s->sel.by == TAPE_CSV && s->sel.whole)
		return split_csv_end(s, data, n);
	end = memchr(data + s->searched, s->end, n - s->searched);
	s->searched = end ? 0 : n;
	return end ? (size_t)(end - data) + 1 : 0;
}

ptrdiff_t tape_splitter_record(struct tape_splitter *s, const char *data, size_t n, bool last)
{
	size_t bytes;
	int r;

	if (!n)
		return 0;
	if (s->sel.before) {
		r = split_look_ahead(s, data, n, last);
		if (r <= 0)
			return r;
	}
	bytes = find_end(s, data, n);
	if (!bytes) {
		if (!last)
			return 0;
		bytes = n;
		s->searched = 0;
	}
	s->line++;
	s->rec = data;
	s->len = split_content(data, bytes);
	s->pos = s->field_start = 0;
	s->field = 1;
	s->at = 0;
	s->walk = (struct rx_walk){ 0 };
	s->done = false;
	if (s->sel.by == TAPE_CSV)
		s->csv_inside = s->csv == CSV_QUOTED;
	return (ptrdiff_t)bytes;
}

ptrdiff_t tape_splitter_holes(struct tape_splitter *s, struct tape_span *hole, size_t cap)
{
	ptrdiff_t n;

	if (s->done || !cap)
		return 0;
	if (in_header(s)) {
		/* CSV has to be followed, and lines to be counted, all the same. */
		do
			n = s->way->holes(s, hole, cap);
		while (n >= 0 && !s->done);
		return n < 0 ? n : 0;
	}
	return s->way->holes(s, hole, cap);
}
