/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMINTERN_H
#define SYM_SYMINTERN_H

#include <stddef.h>

/* A set of strings, each kept once and at one address until the set is freed. */
struct symintern;

#define SYMINTERN_BYTES_MAX ((size_t)256 << 20)

struct symintern *symintern_new(void);		/* NULL: no memory */
void symintern_free(struct symintern *t);
/*
 * The kept copy of @bytes bytes at @s, NUL-terminated (and cut at a NUL within);
 * NULL: no memory, or more than SYMINTERN_BYTES_MAX kept.
 */
const char *symintern_add(struct symintern *t, const char *s, size_t bytes);
size_t symintern_bytes(const struct symintern *t);	/* of all kept strings */

#endif
