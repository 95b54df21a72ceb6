/* SPDX-License-Identifier: MIT */
#ifndef RR_RECPS_H
#define RR_RECPS_H

/* The processes of a recording. */
#include "base/buf.h"
#include "base/err.h"

/* A line for each process and image: id, parent, how it ended, program. -errno with words. */
int recps(struct buf *out, const char *dir, struct err *err);

#endif
