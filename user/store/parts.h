/* SPDX-License-Identifier: MIT */
#ifndef STORE_PARTS_H
#define STORE_PARTS_H

/* What the files of the store share. */
#include "store/db.h"
#include "store/fields.h"
#include "store/metricids.h"

struct store {
	struct db *db;
	struct metrics metrics;		/* those that were read or added so far */
	bool metrics_known;
	bool together;			/* between store_begin and store_end */
};

#define BENCH_FIELDS 16
#define MACHINE_FIELDS 7
#define RUN_FIELDS 6
_Static_assert(BENCH_FIELDS <= FIELDS_MAX, "the widest table");
extern const struct field store_bench_fields[BENCH_FIELDS];
extern const struct field store_machine_fields[MACHINE_FIELDS];	/* of struct store_machine */
extern const struct field store_run_fields[RUN_FIELDS];

#endif
