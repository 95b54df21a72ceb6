/* SPDX-License-Identifier: MIT */
#ifndef CMD_RUNSTORE_H
#define CMD_RUNSTORE_H

/* The run store of `bench` and `report`, as the user who called sudo has it. */
#include "base/caller.h"
#include "store/store.h"

/*
 * Opens @where, or the default place in the caller's home, with the caller's ids: the file
 * is the caller's, and a link in somebody's home leads root nowhere. A named place that is
 * there and root's alone is opened as root, and *as_root says so. As store_open.
 */
struct store *runstore_open(const struct caller *c, const char *where, enum store_mode mode,
			    bool *as_root, struct err *err);

#endif
