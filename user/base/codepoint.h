/* SPDX-License-Identifier: MIT */
#ifndef BASE_CODEPOINT_H
#define BASE_CODEPOINT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the first character of the @n bytes at @s into *cp. Returns its
 * length, 1..4, or 0 when the bytes are not UTF-8 (RFC 3629: no overlong form,
 * no surrogate, nothing above U+10FFFF, not cut) or @n is 0. Never blocks.
 */
unsigned int utf8_decode(const char *s, size_t n, uint32_t *cp);

/* Writes @cp (at most 0x10ffff) at @out, which holds 4 bytes; returns the length. */
unsigned int utf8_encode(uint32_t cp, char out[4]);

#endif
