/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_SEEN_H
#define COLLECT_SEEN_H

/*
 * Remembers what was looked at, a bounded number of keys whose like a traced
 * program can make without end: when it is full it forgets them all, and what
 * it forgot is looked at once more.
 */
#include <stdbool.h>
#include <stddef.h>

struct seen;

/* For keys of @key_bytes, @max of them; NULL: no memory. */
struct seen *seen_new(size_t key_bytes, size_t max);
void seen_free(struct seen *s);
/* Whether @key is new, which it no longer is afterwards; so is all, without memory. */
bool seen_first(struct seen *s, const void *key);
/* How many it remembers now. */
size_t seen_count(const struct seen *s);

#endif
