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
 * A store that was opened for @mode has, or gets, the tables of @schema: STORE_CREATE
 * makes them, it and STORE_WRITE bring older ones up to date. 0; -ENOENT: there are
 * none; -EPROTO: a newer tracer made them, or an older one and the mode is STORE_READ;
 * -EBADMSG: what there is has no version.
 */
int schema_settle(struct db *db, const struct schema *schema, enum store_mode mode,
		  struct err *err);
/*
 * From any older version, or none, to that of @schema: all steps in one transaction.
 * Two at once do it once. Errors as above.
 */
int schema_upgrade(struct db *db, const struct schema *schema, struct err *err);

#endif
