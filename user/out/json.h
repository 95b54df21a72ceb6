/* SPDX-License-Identifier: MIT */
#ifndef OUT_JSON_H
#define OUT_JSON_H

/*
 * A writer of JSON (RFC 8259). Keys are ours and go out as they are; values
 * that are strings go through escape_json. Members of
 * the outer objects and elements of the outer arrays start a line of their own,
 * so the rows of a table are lines. What nests wrongly is a bug of the caller and asserted.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "out/outstream.h"

#define JSON_DEPTH 16
/* Depth down to which members, and elements, start a line. */
#define JSON_MEMBER_LINES 2
#define JSON_ELEMENT_LINES 3

struct json {
	struct out_stream *out;
	struct buf buf;
	bool one_line, in_html;
	unsigned int depth;
	struct { char close; bool any; } level[JSON_DEPTH];
};

/* @o is borrowed. The document is one value: begin with json_object(j, NULL). */
void json_init(struct json *j, struct out_stream *o);
/* The same, and the document is one line: for several of them in a stream. */
void json_init_line(struct json *j, struct out_stream *o);
/* The same as json_init for the inside of a script element: no string has a "<". */
void json_init_html(struct json *j, struct out_stream *o);
/* Ends the document with a newline and frees; -ENOMEM when memory ran out on the way. */
int json_finish(struct json *j);

/* @key is NULL inside arrays and for the document itself. */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
/* Whole values as integers, others with up to six decimals; what JSON cannot say is null. */
void json_real(struct json *j, const char *key, double v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);
/* NULL: null. */
void json_str(struct json *j, const char *key, const char *s);
/* "0x7f12…", as 64 bits do not survive readers that take numbers for doubles. */
void json_hex(struct json *j, const char *key, uint64_t v);

#endif
