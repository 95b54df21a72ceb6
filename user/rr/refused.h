/* SPDX-License-Identifier: MIT */
#ifndef RR_REFUSED_H
#define RR_REFUSED_H

/* What is not recorded: a program, or a call of one, that could not be replayed. */
#include "base/err.h"
#include "shared/rr.h"

/* Which it was, who made it, and what to do. Returns -ENOTSUP. */
int refused_set(struct err *err, const struct rr_counts *c);
/* Of the file that is to be run, before it is: 0, or -ENOTSUP with words. */
int refused_program(struct err *err, const char *path);

#endif
