/* SPDX-License-Identifier: MIT */
#ifndef OUT_JSONSUM_H
#define OUT_JSONSUM_H

/* The members that the JSON of a summary and that of a live view have in common. */
#include "out/json.h"
#include "out/summary.h"

/* "mode" and "collected". */
void jsonsum_mode(struct json *j, enum sum_mode mode, unsigned int collected);
/* What wait mode does not see is null: 0 would be a claim. */
void jsonsum_exact(struct json *j, bool exact, const char *key, uint64_t v);
/* "overhead"; @routines: --start-routine was asked for. */
void jsonsum_overhead(struct json *j, const struct sum_overhead *o, bool routines);
/* "loss". */
void jsonsum_loss(struct json *j, const struct sum_loss *l);

#endif
