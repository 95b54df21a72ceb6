/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMFETCH_H
#define SYM_SYMFETCH_H

/*
 * Debug files from debuginfod's servers, by elfutils' own client: a program of
 * its own, which runs as the user who called, never as root, and only where that
 * user has DEBUGINFOD_URLS set. Its cache is the user's, and is shared with gdb.
 */
#include <stdint.h>

struct err;

#define SYMFETCH_MS 30000	/* for one file; then the client is ended */
#define SYMFETCH_ALL_MS 60000	/* for all; then nothing is asked for */

/*
 * Whether there is somebody to ask and somebody to ask as: 0, or -errno with the
 * words and what to do in @err.
 */
int symfetch_ready(struct err *err);
/*
 * The debug file of a build id of @bytes bytes: a descriptor for reading, or
 * -ENOENT, -ETIMEDOUT or another -errno. Blocks for @timeout_ms at most, and runs
 * a child, which it waits for by its pid.
 */
int symfetch_debug(const unsigned char *id, unsigned int bytes, int timeout_ms);

#endif
