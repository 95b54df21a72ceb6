/* SPDX-License-Identifier: MIT */
#ifndef STORE_TEXT_H
#define STORE_TEXT_H

/* Texts that go into the store and come out of it. */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* A list of blocks; NULL is an empty one. Texts in it do not move. */
struct text_block;

/* A copy of @s (@n bytes) with a NUL behind it, which is @pool's; NULL: no memory. */
const char *text_keep(struct text_block **pool, const char *s, size_t n);
void text_free(struct text_block *pool);

/*
 * Whether the store takes @s as @what ("label"): 0; -EINVAL: not UTF-8 (RFC 3629, which
 * is what PostgreSQL takes), longer than STORE_TEXT_MAX, or NULL.
 */
int text_check(const char *what, const char *s, struct err *err);
/* Whether all of @s is lower-case hex digits. */
bool text_is_hex(const char *s);

#endif
