/* SPDX-License-Identifier: MIT */
#ifndef TAPE_SPLIT_H
#define TAPE_SPLIT_H

/* Between split.c and the ways to select, a file each: the splitter's inside. */
#include "base/err.h"
#include "tape/ranges.h"
#include "tape/rx.h"
#include "tracer/tape.h"

enum csv_state { CSV_START, CSV_BARE, CSV_QUOTED, CSV_CLOSED, CSV_JUNK };

/* A way to select. */
struct split_way {
	/* The holes of the record at hand, as tape_splitter_holes(). */
	ptrdiff_t (*holes)(struct tape_splitter *s, struct tape_span *hole, size_t cap);
	bool list, pattern;	/* what it needs */
};

struct tape_splitter {
	struct tape_select sel;
	const struct split_way *way;
	struct ranges list;
	struct rx *rx;
	char *delimiter;
	char end;		/* of a record: '\n' or NUL */
	uint64_t line;		/* of the record at hand, from 1 */
	size_t searched;	/* bytes of the next record that hold no end */

	/* The record at hand, without its end. */
	const char *rec;
	size_t len;
	bool done;		/* no more holes */
	size_t pos;		/* where the search goes on */
	uint64_t field;		/* the field or character that begins at pos, from 1 */
	size_t field_start;
	size_t at;		/* in .list, for this record */
	size_t line_at;		/* in .list of lines, for all */
	struct rx_walk walk;

	/* TAPE_MATCHING with records around a match. */
	uint64_t scanned;	/* the last record that was looked at */
	size_t scanned_bytes;	/* from the next record's start to behind that one */
	uint64_t hit_before, hit_next;	/* 0: none known */

	/* TAPE_NUMBERED: numbers that were told and not reached, a ring. */
	uint64_t *told;
	size_t told_first, told_n, told_cap;
	uint64_t told_last;

	/* TAPE_CSV: where the record before ended. */
	enum csv_state csv;
	bool csv_inside;	/* the record at hand begins inside of quotes */
	uint64_t csv_records;	/* those that ended */
	enum csv_state csv_scan;	/* of the search for a record's end */

	struct err err;
};

extern const struct split_way split_lines, split_matching, split_numbered, split_matches,
	split_chars, split_fields, split_fields_at, split_fields_matching, split_csv;

/* Bytes of @rec without its one line end: \r\n, \n or NUL. */
size_t split_content(const char *rec, size_t n);
/* The pattern failed at the record at hand: its words and number into s->err. */
ptrdiff_t split_failed(struct tape_splitter *s, int code, uint64_t line);
/* Looks ahead for matches; 1: decided, 0: more is needed, negative errno. */
int split_look_ahead(struct tape_splitter *s, const char *data, size_t n, bool last);
/* The end of a record of CSV whose fields may hold newlines; 0: more is needed. */
size_t split_csv_end(struct tape_splitter *s, const char *data, size_t n);

#endif
