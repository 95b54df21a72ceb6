/* SPDX-License-Identifier: MIT */
#ifndef OUT_SHELLWORD_H
#define OUT_SHELLWORD_H

/* Command lines as a shell takes them, to be shown and copied. */
#include "base/buf.h"

/* @word as one word of a POSIX shell: as it is, or in single quotes. Bytes stay bytes. */
void shellword_add(struct buf *b, const char *word);
/*
 * A command of the store, a JSON array of strings, as words with blanks between. What is
 * no such array is added as it is.
 */
void shellword_add_argv(struct buf *b, const char *json);

#endif
