/* SPDX-License-Identifier: MIT */
#ifndef RR_REFUSED_H
#define RR_REFUSED_H

/* What a recording ends for: a call of the program that could not be replayed. */
#include "base/err.h"
#include "shared/rr.h"

/* Which it was, who made it, and what to do. Returns -ENOTSUP. */
int refused_set(struct err *err, const struct rr_counts *c);

#endif
