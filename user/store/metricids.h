/* SPDX-License-Identifier: MIT */
#ifndef STORE_METRICIDS_H
#define STORE_METRICIDS_H

/* The names of metrics, each of which the store has once, with its unit and kind. */
#include "store/db.h"
#include "store/fields.h"

struct metric {
	int64_t key;
	const char *name, *unit;	/* the list's */
	enum store_kind kind;
};

/* Sorted by name. */
struct metrics {
	struct metric *metric;
	size_t n, room;
	struct text_block *pool;
};

/* All that the store has, in place of what is in @list. */
int metrics_read(struct metrics *list, struct db *db, struct err *err);
void metrics_release(struct metrics *list);	/* leaves an empty one */
/* NULL: it is not there. */
const struct metric *metrics_find(const struct metrics *list, const char *name);
/*
 * The metric of @v, which is added to the store, in the transaction that runs, when it
 * is new. -EINVAL: not a metric, or the store has it with another unit or kind.
 */
int metrics_intern(struct metrics *list, struct db *db, const struct store_value *v,
		   const struct metric **found, struct err *err);

#endif
