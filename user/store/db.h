/* SPDX-License-Identifier: MIT */
#ifndef STORE_DB_H
#define STORE_DB_H

/*
 * What SQLite and PostgreSQL differ in. All SQL of the store is one text for both:
 * parameters are $1, $2, ... in the order of their first use, which both take;
 * results are integers, reals, text and blobs. Words that differ are in struct
 * db_words and stand as {word} in the schema's text alone.
 *
 * One statement runs at a time: from db_start to db_stop. Errors are in words, with
 * the name of the store, as store.h has them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "store/store.h"

enum db_type { DB_INT, DB_REAL, DB_TEXT, DB_BLOB };

/* A parameter. A real that is a NAN, and a blob at NULL, is NULL. */
struct db_value {
	enum db_type type;
	union {
		int64_t i;
		double r;
		const void *bytes;	/* borrowed until db_stop */
	};
	size_t len;	/* of text and blobs */
};

struct db;
struct db_stmt;

struct db_words {
	const char *key;	/* type of a table's own integer key */
	const char *integer, *real, *blob;
	const char *table;	/* ends the definition of a table */
	const char *clustered;	/* the same for one that is kept in order of its key */
	const char *create;	/* statement before the first table */
	const char *begin_read, *begin_write;
	/* Keeps others that say it waiting until the transaction ends; NULL: begin_write does. */
	const char *lock;
};

struct db_backend {
	struct db_words words;
	/* How long statements wait for others from now on. */
	int (*set_wait)(struct db *db, unsigned int ms, struct err *err);
	/* Whether tables of ours are there: 1, 0 or an error. */
	int (*found)(struct db *db, struct err *err);
	/* @sql may be several statements; no parameters, no results. */
	int (*exec)(struct db *db, const char *sql, struct err *err);
	/* @sql stays until finalize. */
	int (*prepare)(struct db *db, const char *sql, void **handle, struct err *err);
	void (*finalize)(struct db *db, void *handle);
	int (*start)(struct db *db, void *handle, const struct db_value *v, size_t n,
		     struct err *err);
	int (*step)(struct db *db, void *handle, struct err *err);
	void (*stop)(struct db *db, void *handle);
	int64_t (*get_int)(const struct db *db, void *handle, int column);
	double (*get_real)(const struct db *db, void *handle, int column);
	/* Text has a NUL behind it. NULL: SQL's NULL. */
	const char *(*get_bytes)(const struct db *db, void *handle, int column, size_t *len);
	/* The connection is lost: to be made anew before the next transaction. */
	bool (*lost)(const struct db *db);
	int (*reconnect)(struct db *db, struct err *err);
	void (*close)(struct db *db);
};

/* What each backend's own struct begins with. */
struct db {
	const struct db_backend *backend;
	char *name;		/* for people, without a password */
	bool read_only;
	struct db_stmt *stmts;	/* prepared ones, by their text */
};

/*
 * A file that is there, which begins with no byte of ours being written. NULL with
 * @err set. STORE_CREATE is as STORE_WRITE.
 */
struct db *db_sqlite_open(const char *path, enum store_mode mode, struct err *err);
/* A new file with @fill's tables, put in place when it is whole; one that came meanwhile stays. */
int db_sqlite_create(const char *path, int (*fill)(struct db *db, struct err *err),
		     struct err *err);
struct db *db_pg_open(const char *url, enum store_mode mode, struct err *err);
/* Whether @where is a URL for db_pg_open. */
bool db_pg_url(const char *where);

void db_close(struct db *db);	/* NULL: nothing */

int db_exec(struct db *db, const char *sql, struct err *err);
/* All reads until db_rollback see one state. */
int db_begin_read(struct db *db, struct err *err);
/* Waits for other writers. Connects anew when the server was gone. */
int db_begin_write(struct db *db, struct err *err);
/* A failed commit has rolled back. */
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);

/* Begins @sql, prepared once, with @n parameters; NULL with @err set. */
struct db_stmt *db_start(struct db *db, const char *sql, const struct db_value *v, size_t n,
			 struct err *err);
/* To the next row: 1; 0: there is none; or an error. */
int db_step(struct db_stmt *st, struct err *err);
/* Ends it; NULL: nothing. Must come after every db_start. */
void db_stop(struct db_stmt *st);
/* db_start, one db_step and db_stop, for what has no result: 0, or an error. */
int db_run(struct db *db, const char *sql, const struct db_value *v, size_t n, struct err *err);
/* The same for one integer: 1, 0 when there is no row, or an error. */
int db_run_int(struct db *db, const char *sql, const struct db_value *v, size_t n, int64_t *result,
	       struct err *err);

/* Of the row that db_step came to; @column from 0. NULL is 0, NAN, "" with *len 0. */
int64_t db_int(struct db_stmt *st, int column);
double db_real(struct db_stmt *st, int column);
const char *db_bytes(struct db_stmt *st, int column, size_t *len);

static inline struct db_value db_value_int(int64_t i)
{
	return (struct db_value){ .type = DB_INT, .i = i };
}

static inline struct db_value db_value_real(double r)
{
	return (struct db_value){ .type = DB_REAL, .r = r };
}

static inline struct db_value db_value_text(const char *s)
{
	return (struct db_value){ .type = DB_TEXT, .bytes = s, .len = __builtin_strlen(s) };
}

static inline struct db_value db_value_blob(const void *bytes, size_t len)
{
	return (struct db_value){ .type = DB_BLOB, .bytes = bytes, .len = len };
}

#endif
