/* SPDX-License-Identifier: MIT */
#ifndef TAPE_RXPARSE_H
#define TAPE_RXPARSE_H

/* Between rxsyntax.c, rxescape.c and rxclass.c: a pattern while it is read. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define RX_DEPTH_MAX 250	/* groups or classes in each other, as the crate's nest_limit */

struct rx_flags {
	bool ignore_case, multi_line, dot_all, swap_greed, unicode, extended;
};

struct rx_parse {
	const char *start, *p, *end;
	struct rx_flags flags;
	struct err *err;
	unsigned int depth;	/* of classes */
	bool ascii;		/* what is written is for ASCII subjects alone */
};

/* An escape, read from behind its backslash. */
enum rx_escape { RX_ESC_CHAR, RX_ESC_CLASS, RX_ESC_ASSERT };

struct rx_escaped {
	enum rx_escape kind;
	uint32_t cp;		/* RX_ESC_CHAR */
	bool byte;		/* \xNN: without Unicode a byte, not a code point */
	bool negated;		/* RX_ESC_CLASS: \D, \P{..}, ... */
	char text[400];		/* RX_ESC_CLASS: what stands in a class; RX_ESC_ASSERT: all of it */
};

/* -EINVAL, @at being the place in the pattern. */
int rx_refuse(struct rx_parse *r, const char *at, const char *why);
int rx_read_escape(struct rx_parse *r, struct rx_escaped *e);
/*
 * The property of the @n bytes at @p, what is behind \p, into e->text, its case let go of when
 * @fold; false: there is none of that form. PCRE2 knows which scripts there are.
 */
bool rx_property(struct rx_escaped *e, const char *p, size_t n, bool fold);
/* Skips one character of White_Space or a comment, for (?x); false: there is none. */
bool rx_skip_blank(struct rx_parse *r);
/* Reads a class from behind its bracket and writes an expression of one character. */
int rx_read_class(struct rx_parse *r, struct buf *out);
/* Writes a literal so that it means itself, in a class and outside. */
void rx_add_char(struct buf *out, uint32_t cp);
/* Behind "(?<", up to behind its ">"; @open: where the group begins. */
int rx_skip_name(struct rx_parse *r, const char *open);
bool rx_at_text(const struct rx_parse *r, const char *text);
/* The next character, which is not consumed; its length, 0 at the end. */
unsigned int rx_peek(const struct rx_parse *r, uint32_t *cp);

#endif
