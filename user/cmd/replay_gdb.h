/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPLAY_GDB_H
#define CMD_REPLAY_GDB_H

/* A replay for gdb: one that is started on it, or one that comes to a port. */
#include "base/err.h"

struct replay_opts;

/*
 * Serves until gdb goes: 0, or -errno with words. Where gdb is started it takes the place of
 * this process; -ENOENT when there is none.
 */
int replay_gdb(const struct replay_opts *o, struct err *err);

#endif
