/* SPDX-License-Identifier: MIT */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

/* Colour on @fd: a terminal, TERM is not "dumb", NO_COLOR is not set (no-color.org). */
bool cli_term_color(int fd);
/* Columns of @fd's terminal, else those of COLUMNS, else @otherwise. */
unsigned int cli_term_width(int fd, unsigned int otherwise);

/*
 * Appends "PROGRAM: message" and, when there is a hint, a line with it. What
 * could steer a terminal (a name may come from anywhere) is written as \xNN.
 */
void cli_err_text(struct buf *b, const char *program, const struct err *err);
/* Appends @line and a newline, written as there: the further lines of a message. */
void cli_line_text(struct buf *b, const char *line);
/* Prints what cli_err_text() makes to stderr; returns @code. */
int cli_fail(const char *program, const struct err *err, int code);
/* The same for a message that is no failure, as long as one may be. */
void cli_vnote(const char *program, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

#endif
