/* SPDX-License-Identifier: MIT */
#ifndef TAPE_CSVQUOTE_H
#define TAPE_CSVQUOTE_H

/* Quoting of CSV fields (RFC 4180) into a write function; its error is passed on. */
#include "tracer/tape.h"

/* What stands between a field's quotes: " becomes "". */
int csvquote_inside(tape_write_fn *write, void *arg, const char *data, size_t n);
/* A field without quotes gets them when it has a quote, a comma or a line end in it. */
int csvquote_field(tape_write_fn *write, void *arg, const char *data, size_t n);
/* The other way: "" becomes ". */
int csvquote_value(tape_write_fn *write, void *arg, const char *data, size_t n);

#endif
