/* SPDX-License-Identifier: MIT */
#ifndef OUT_UTF8_H
#define OUT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/codepoint.h"

/*
 * Terminal columns that @cp takes: 0 (combining), 1 or 2 (wide). The ranges are
 * those of Unicode's EastAsianWidth (W and F) and of the common combining
 * blocks; it needs no locale. Controls count 1: they are escaped before.
 */
unsigned int utf8_cp_width(uint32_t cp);

/* Terminal columns of the @n bytes at @s; a byte that is not UTF-8 counts 1. */
size_t utf8_width(const char *s, size_t n);

/*
 * Bytes of @s (of @n) that fit into @columns; *used gets the columns they take
 * (NULL: not wanted). Combining marks stay with their character.
 */
size_t utf8_fit(const char *s, size_t n, size_t columns, size_t *used);

/*
 * Characters that must not reach a terminal as they are although they are valid:
 * C0 and C1 controls, DEL, bidirectional controls, line separators, invisible
 * formatting characters and non-characters.
 */
bool utf8_unsafe(uint32_t cp);

#endif
