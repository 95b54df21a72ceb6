/* SPDX-License-Identifier: MIT */
#ifndef RR_RECDIR_H
#define RR_RECDIR_H

/* Where recordings are: a directory each, below XDG_DATA_HOME unless one was named. */
#include "base/buf.h"
#include "base/caller.h"
#include "base/err.h"

/*
 * Makes the directory @name, or a new one for the program @program where that is NULL, as the
 * user's own; its path into *path. -EEXIST, -ENOENT (no place for it), ... with words.
 */
int recdir_make(struct buf *path, const char *name, const char *program,
		const struct caller *who, struct err *err);
/* Where this user's recordings are. */
int recdir_base(struct buf *path, struct err *err);
/* Takes away one into which nothing was recorded. */
void recdir_remove(const char *path, const struct caller *who);
/*
 * The one that was named: a directory, or the last part of one of this user's. -ENOENT, -ENOTDIR,
 * ... with words.
 */
int recdir_named(struct buf *path, const char *name, struct err *err);
/* The newest of this user; -ENOENT with words when there is none. */
int recdir_newest(struct buf *path, struct err *err);

#endif
