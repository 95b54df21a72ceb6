/* SPDX-License-Identifier: MIT */
#ifndef TAPE_RXSYNTAX_H
#define TAPE_RXSYNTAX_H

/*
 * The patterns of -g and -D are those of Rust's regex crate
 * (docs.rs/regex, "Syntax"); they are matched by PCRE2. This reads the one and writes the
 * other: what only PCRE2 has is refused, what only Rust has (a class in a class, &&, --, ~~,
 * \u, repeated repetition) is put in other words.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* What a pattern of one atom matches: one character, or with a plus behind it a run. */
enum rx_shape { RX_GENERAL, RX_ONE, RX_RUN };

#define RX_ASCII 1u
#define RX_GUARDED 2u

/*
 * Writes at @out, which is empty, what PCRE2 is to compile with PCRE2_UTF, PCRE2_UCP and
 * PCRE2_MULTILINE; with RX_ASCII without the first two, to match subjects that are ASCII; with
 * RX_GUARDED with a callout behind each repetition that may be long, *long_repeats of them.
 * There are @len bytes of @pattern, NUL among them or not. *shape says what it is made of.
 * -EINVAL with a message of four lines: "regex parse error:", the pattern, a caret below the
 * place, "error: " and why; -ENOMEM.
 */
int rxsyntax_translate(struct buf *out, const char *pattern, size_t len, unsigned int how,
		       enum rx_shape *shape, unsigned int *long_repeats, struct err *err);

#endif
