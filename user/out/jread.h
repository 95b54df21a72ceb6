/* SPDX-License-Identifier: MIT */
#ifndef OUT_JREAD_H
#define OUT_JREAD_H

/*
 * A reader of JSON (RFC 8259) that is asked for one value after another and
 * keeps nothing: no tree, so memory does not grow with the text, and 64-bit
 * integers keep all their bits, which libraries that store them as long long or
 * double lose. Its text is hostile: what is no JSON, no UTF-8, cut short or
 * nested deeper than JREAD_DEPTH is -EINVAL with a message; a string with a NUL
 * in it too, since no string of ours can hold one.
 *
 * After an error only .err and .bad_at mean anything.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JREAD_DEPTH 64

struct jread {
	const char *text;
	size_t len, at;
	unsigned int depth;
	uint64_t is_array, has_any;	/* a bit a level */
	const char *s;		/* the last key or string: .n bytes, not terminated */
	size_t n;
	struct buf unescaped;
	struct err *err;
	size_t bad_at;		/* where the error is */
	bool cut;		/* it is that the text ends too soon */
};

enum jread_type {
	JREAD_OBJECT, JREAD_ARRAY, JREAD_STRING, JREAD_NUMBER, JREAD_BOOL, JREAD_NULL, JREAD_BAD
};

/* @text (@len bytes, no NUL needed) and @err are borrowed. */
void jread_init(struct jread *j, const char *text, size_t len, struct err *err);
void jread_release(struct jread *j);

/* Of the value that comes next, by its first character; JREAD_BAD: there is none. */
enum jread_type jread_peek(struct jread *j);
/* Goes into the object, or the array, that comes next. 0 or -EINVAL. */
int jread_object(struct jread *j);
int jread_array(struct jread *j);
/*
 * To the next member, whose key is then .s, or the next element: 1, and its value
 * must be read or skipped; 0 at the end, which is left; -EINVAL.
 */
int jread_member(struct jread *j);
int jread_element(struct jread *j);

/* All: 0, -EINVAL for another type or a value that does not fit, -ENOMEM. */
int jread_u64(struct jread *j, uint64_t *v);	/* also 5.0 and 5e3 */
int jread_i64(struct jread *j, int64_t *v);
int jread_real(struct jread *j, double *v);
int jread_bool(struct jread *j, bool *v);
int jread_string(struct jread *j);		/* into .s and .n, until the next call */
int jread_null(struct jread *j);
/* Any value with all that is in it. */
int jread_skip(struct jread *j);
/* Nothing but blanks follows. */
int jread_end(struct jread *j);

/* An error of the caller's own about the value before .at; -EINVAL. */
int jread_fail(struct jread *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The line and column, from 1 and in bytes, of .bad_at. */
void jread_where(const struct jread *j, size_t *line, size_t *column);

#endif
