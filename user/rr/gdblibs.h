/* SPDX-License-Identifier: MIT */
#ifndef RR_GDBLIBS_H
#define RR_GDBLIBS_H

/* Where GDB finds the libraries of a replay. */
#include <stdbool.h>

/*
 * Whether the recording in @dir has libraries that are not, or no longer so, where they were: GDB
 * has to read them through us. Reads all events.
 */
bool gdblibs_moved(const char *dir);

#endif
