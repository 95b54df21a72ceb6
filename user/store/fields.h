/* SPDX-License-Identifier: MIT */
#ifndef STORE_FIELDS_H
#define STORE_FIELDS_H

/* Columns of a table as members of a struct: rows that make statements, bind and read. */
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "store/db.h"
#include "store/text.h"

#define FIELDS_MAX 16	/* of a table */

enum field_type {
	FIELD_TEXT,	/* const char * */
	FIELD_CHARS,	/* char [.size], hex digits or "" */
	FIELD_U64,	/* uint64_t, at most INT64_MAX */
	FIELD_I64, FIELD_INT, FIELD_BOOL,
	FIELD_REAL,	/* NAN is SQL's NULL */
	FIELD_NAME,	/* an enum whose values are indices of .names */
};

struct field {
	const char *column;
	enum field_type type;
	size_t offset;
	size_t size;			/* FIELD_CHARS */
	const char *const *names;	/* FIELD_NAME: ends with NULL */
};

/* The @n members of @object into @v; -EINVAL: one is not what a store takes. */
int fields_bind(const struct field *f, size_t n, const void *object, struct db_value *v,
		struct err *err);
/*
 * Inserts @object into @table; @tail ends the statement, with "RETURNING key" in it for
 * *key. 1, 0 when there is no result, or an error; -EINVAL as fields_bind.
 */
int fields_insert(struct db *db, const char *table, const struct field *f, size_t n,
		  const void *object, const char *tail, int64_t *key, struct err *err);
/* Appends "COLUMN, ...", each with @prefix ("b.", "") before it. */
void fields_list(struct buf *sql, const char *prefix, const struct field *f, size_t n);
/*
 * The columns of @st from @column on into @object; texts go to @pool. -EBADMSG for what
 * this store would not have written, -ENOMEM.
 */
int fields_read(const struct field *f, size_t n, struct db_stmt *st, int column, void *object,
		struct text_block **pool, struct err *err);

#endif
