/* SPDX-License-Identifier: MIT */
#ifndef RR_GDB_H
#define RR_GDB_H

/* A replay that GDB drives, forwards and backwards, over a connected socket. */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct gdb_opts {
	const char *dir;
	bool output;		/* what the program printed is printed, once */
	uint32_t pid;		/* the process that is shown; 0: the first */
	bool from_fork;		/* from its beginning, not from its exec */
	uint64_t event;		/* where it begins; 0: with the process */
};

/* Until GDB goes; the socket is closed. -errno with words. */
int gdb_replay(const struct gdb_opts *opts, int fd, struct err *err);

#endif
