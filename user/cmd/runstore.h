/* SPDX-License-Identifier: MIT */
#ifndef CMD_RUNSTORE_H
#define CMD_RUNSTORE_H

/* The run store of `bench` and `report`, as the user who called sudo has it. */
#include "base/caller.h"
#include "store/store.h"

/*
 * Opens @where, or the default place in the caller's home, with the caller's ids: the file
 * is the caller's, and a link in somebody's home leads root nowhere. A named place that is
 * root's alone is opened as root, and c->change is then false. As store_open.
 */
struct store *runstore_open(struct caller *c, const char *where, enum store_mode mode,
			    struct err *err);

#endif
