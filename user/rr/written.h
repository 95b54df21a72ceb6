/* SPDX-License-Identifier: MIT */
#ifndef RR_WRITTEN_H
#define RR_WRITTEN_H

/* What calls changed in files that are mapped: memory has changed with them. */
#include "base/err.h"
#include "rr/recfile.h"

/* Adds what the call @e, of RR_FLAG_WROTE, changed, as it is in the file now. -errno with words. */
int written_add(const struct rr_ev_call *e, struct recfile *f, struct err *err);

#endif
