/* SPDX-License-Identifier: MIT */
#ifndef REPORT_IMPORT_SLICE_H
#define REPORT_IMPORT_SLICE_H

/* Pieces of a text that is borrowed: lines, and fields that blanks part. */
#include <stdbool.h>
#include <stddef.h>

struct slice { const char *s; size_t n; };

/* Takes the first line off @rest, without its newline; *whole: it had one. False: none is left. */
bool slice_line(struct slice *rest, struct slice *line, bool *whole);
/* Takes the first field off @rest; false: none is left, and *field is empty. */
bool slice_field(struct slice *rest, struct slice *field);
struct slice slice_trim(struct slice f);
bool slice_is(struct slice f, const char *word);
bool slice_begins(struct slice f, const char *word);
/* Whether it begins with a blank. */
bool slice_is_blank(struct slice f);
/* Whether it is UTF-8 without a NUL, so that a string can hold it. */
bool slice_is_text(struct slice f);
/* Whether all of it is decimal digits, at least one. */
bool slice_is_digits(struct slice f);
/* A number as strtod(3) takes it, all of @f. */
bool slice_number(struct slice f, double *v);

#endif
