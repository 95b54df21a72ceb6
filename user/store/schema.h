/* SPDX-License-Identifier: MIT */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "store/db.h"

/*
 * The tables, as a list of steps: step i brings a store of version i to version i + 1,
 * so that the number of steps is the version that this tracer reads and writes. A step
 * that was ever released stays as it is. docs/formats/store.md describes the result.
 */
struct schema {
	const char *const *step;	/* SQL in which {words} are struct db_words' */
	int64_t steps;
};

extern const struct schema schema_current;

/*
 * Brings the tables from any older version, or none, to that of @schema: all steps in
 * one transaction. Two at once do it once. 0, or an error as schema_check's.
 */
int schema_upgrade(struct db *db, const struct schema *schema, struct err *err);
/*
 * 0: the version is that of @schema, 1: it is older. -EPROTO: it is newer, -ENOENT:
 * there are no tables, -EBADMSG: what there is has no version.
 */
int schema_check(struct db *db, const struct schema *schema, struct err *err);

#endif
