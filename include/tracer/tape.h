/* SPDX-License-Identifier: MIT */
#ifndef TRACER_TAPE_H
#define TRACER_TAPE_H

/*
 * The tape engine as a library: a splitter that finds the selected pieces (holes) of a
 * stream, and a joiner that puts a command's output lines in their place. Link libtape.a,
 * then -lpcre2-8. Nothing here prints, exits, starts a thread or touches a signal. Objects
 * are used by one thread at a time; different ones are independent.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPE_MESSAGE_BYTES 512

/* What is selected. */
enum tape_by {
	TAPE_LINES,		/* .list of records */
	TAPE_MATCHING,		/* records that .pattern matches, and those around them */
	TAPE_NUMBERED,		/* records whose number was told, tape_splitter_number() */
	TAPE_MATCHES,		/* what .pattern matches */
	TAPE_CHARS,		/* .list of code points; a byte that is not UTF-8 is one too */
	TAPE_FIELDS,		/* .list of fields between runs of Unicode white space */
	TAPE_FIELDS_AT,		/* the same between occurrences of .delimiter */
	TAPE_FIELDS_MATCHING,	/* the same between matches of .pattern */
	TAPE_CSV,		/* .list of fields of RFC 4180 */
};

struct tape_select {
	size_t size;		/* sizeof(struct tape_select): the struct may grow */
	enum tape_by by;
	const char *list;	/* as cut(1): "N,N-,-M,N-M" */
	const char *pattern;	/* .pattern_bytes, in the syntax of Rust's regex crate */
	size_t pattern_bytes;
	const char *delimiter;	/* .delimiter_bytes; 0: between all characters */
	size_t delimiter_bytes;
	bool oniguruma;		/* .pattern is in Oniguruma's syntax */
	bool invert;		/* what is not selected is */
	bool nul;		/* records end at NUL instead of a newline; of CSV, at either */
	bool whole;		/* TAPE_CSV: a field with newlines is one hole, not one a line */
	bool unquote;		/* TAPE_CSV: holes are values, see enum tape_kind */
	uint64_t before, after;	/* TAPE_MATCHING: records around a match */
	uint64_t header;	/* so many records at the start have no holes */
};

/* How a hole's bytes are handed to a command, and its answer written back. */
enum tape_kind {
	TAPE_PLAIN,		/* as they are */
	TAPE_QUOTED,		/* inside of a CSV field's quotes: "" stands for " */
	TAPE_BARE,		/* a CSV field without quotes: the answer may come to need them */
};

struct tape_span {
	size_t start, end;	/* bytes of the record; end is not in it */
	enum tape_kind kind;
};

struct tape_splitter;

/*
 * NULL with words in @message: what is wrong with the list or pattern, no memory, or no
 * Oniguruma. Everything that @sel points to is copied.
 */
struct tape_splitter *tape_splitter_new(const struct tape_select *sel,
					char message[TAPE_MESSAGE_BYTES]);
void tape_splitter_free(struct tape_splitter *s);

/*
 * How many of the @n bytes at @data are the next record with its end; 0: more is needed to
 * say so, and @data is to come again, longer. @last: nothing follows; then all is used up
 * record by record; -EINVAL then when bytes that were shown before do not come. @data must
 * stay as it is until the record's holes were asked for.
 * Negative errno as tape_splitter_holes() (a pattern is looked ahead with).
 */
ptrdiff_t tape_splitter_record(struct tape_splitter *s, const char *data, size_t n, bool last);

/*
 * Up to @cap holes of that record, ascending and without overlap; call again until it
 * returns 0. -E2BIG: the pattern takes too many steps; -ENOMEM. tape_splitter_message()
 * has the words then, with the record's number.
 */
ptrdiff_t tape_splitter_holes(struct tape_splitter *s, struct tape_span *holes, size_t cap);
const char *tape_splitter_message(const struct tape_splitter *s);
/* The number of the record at hand, from 1; 0 before the first. */
uint64_t tape_splitter_line(const struct tape_splitter *s);

/*
 * TAPE_NUMBERED: record @number is selected. Numbers ascend; one that does not is let go of:
 * -EINVAL. A record is not to be asked for before it is decided, by a number at or past it
 * or by UINT64_MAX, after which none comes.
 */
int tape_splitter_number(struct tape_splitter *s, uint64_t number);
bool tape_splitter_decided(const struct tape_splitter *s, uint64_t number);

/* ---- joining -------------------------------------------------------------- */

/* Where joined text goes: all of @n bytes, 0 or a negative errno, which is passed on. */
typedef int tape_write_fn(void *arg, const char *data, size_t n);

struct tape_joiner;

/*
 * Answers end at @end ('\n' or NUL). Text that waits for answers, and answers that wait for
 * holes, are held in memory up to @memory_bytes each and beyond that in unlinked files
 * below $TMPDIR, else /tmp. NULL: no memory.
 */
struct tape_joiner *tape_joiner_new(tape_write_fn *write, void *arg, char end,
				    size_t memory_bytes);
void tape_joiner_free(struct tape_joiner *j);
/* Text that is passed on behind what was joined so far; a hole that is to be filled. */
int tape_joiner_keep(struct tape_joiner *j, const char *data, size_t n);
int tape_joiner_hole(struct tape_joiner *j, enum tape_kind kind);
/* What the command wrote, cut anywhere; the last call has @n 0: it ended. */
int tape_joiner_answer(struct tape_joiner *j, const char *data, size_t n);
/* Fills holes for which there are answers already, of a command that is ahead of them. */
int tape_joiner_settle(struct tape_joiner *j);
/* Holes without an answer as yet; bytes that wait for those; of answers without a hole. */
uint64_t tape_joiner_open(const struct tape_joiner *j);
uint64_t tape_joiner_waiting_bytes(const struct tape_joiner *j);
uint64_t tape_joiner_surplus_bytes(const struct tape_joiner *j);
/* Lets go of answers that no hole is left for; how many ended. Nothing while holes are open. */
uint64_t tape_joiner_drop(struct tape_joiner *j);
/* The most bytes that its files held. */
uint64_t tape_joiner_spilled_bytes(const struct tape_joiner *j);

#ifdef __cplusplus
}
#endif

#endif
