/* SPDX-License-Identifier: MIT */
#ifndef RR_RECDUMP_H
#define RR_RECDUMP_H

/* A recording as text: a line for each event. */
#include "base/err.h"

/* Writes to @fd; -errno with words, what is before the damage having been written. */
int recdump(const char *dir, int fd, struct err *err);

#endif
