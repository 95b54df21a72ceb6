/* SPDX-License-Identifier: MIT */
#ifndef OUT_ESCAPE_H
#define OUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * Text from other processes (comm, arguments, paths, symbols) on its way into
 * an output: one function per format, each taking any bytes at all. They append
 * to @b and never fail by themselves; a buffer at its maximum sets b->failed.
 * @n is the number of bytes; none of them needs a NUL.
 */

/*
 * For a terminal: printable UTF-8 stays (with @ascii only printable ASCII), all
 * else becomes visible: \e \n \t \r, \xNN for other controls and for bytes that
 * are not UTF-8, \u{N} for characters that are unsafe (utf8_unsafe) or not
 * ASCII. A backslash is doubled, so the form is unambiguous.
 */
void escape_term(struct buf *b, const char *s, size_t n, bool ascii);

/*
 * The inside of a JSON string (RFC 8259), without its quotes. Each byte that is
 * not UTF-8 becomes U+FFFD; controls, DEL, C1 and the other unsafe characters
 * become \u escapes, so that the file may be shown on a terminal as it is.
 */
void escape_json(struct buf *b, const char *s, size_t n);

/*
 * One CSV field (RFC 4180), quoted where needed. Text is made printable as
 * escape_term does, so a record is always one line; a field that a spreadsheet
 * would take for a formula (leading = + - @ or their full-width forms, tab,
 * carriage return) gets a leading apostrophe.
 */
void escape_csv(struct buf *b, const char *s, size_t n);

/*
 * Text, or the inside of a quoted attribute, in HTML and in XML 1.0: printable as
 * escape_term makes it, so that no character is left that XML forbids, and & < > " '
 * as references.
 */
void escape_xml(struct buf *b, const char *s, size_t n);

/*
 * A run of text in GitHub's Markdown, also in a cell of a table: printable as
 * escape_term makes it, one line, and nothing in it is markup, HTML, a link or a mention. It
 * must not be the first on its line.
 */
void escape_markdown(struct buf *b, const char *s, size_t n);
/* The same as code: in backticks, or in <code> where it has some or a |; "" is nothing. */
void escape_markdown_code(struct buf *b, const char *s, size_t n);

#endif
