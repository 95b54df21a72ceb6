/* SPDX-License-Identifier: MIT */
#ifndef RR_CODECACHE_H
#define RR_CODECACHE_H

/*
 * What is known of files from earlier recordings: tracer/code below XDG_CACHE_HOME. To look through
 * a compiler takes 27 ms, while the recorded program waits. A file whose times are others is not
 * the one that was looked through; a cache that is damaged is none.
 */
#include <stddef.h>

#include "base/buf.h"
#include "base/caller.h"
#include "rr/replaced.h"

#define CODECACHE_FILES 2000	/* the newest are kept */

/* Where @who's is, into @path, with the directories above it; false: nowhere. */
bool codecache_path(struct buf *path, const struct caller *who);
/* Into @x, which has nothing as yet; nothing is no error. */
void codecache_load(struct replaced *x, const char *path, const struct caller *who);
/* If there is anything new. It is not missed when it cannot be written. */
void codecache_save(const struct replaced *x, const char *path, const struct caller *who);

/* The same in memory: 0, -EBADMSG or -ENOMEM. */
int codecache_parse(struct replaced *x, const void *data, size_t n);
int codecache_format(struct buf *b, const struct replaced *x);
/* Of what stands behind its first 16 bytes, the last 8 of which are it. */
uint64_t codecache_sum(const void *of, size_t n);

#endif
