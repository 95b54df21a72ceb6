/* SPDX-License-Identifier: MIT */
#include "store/db.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct db_stmt {
	struct db *db;
	struct db_stmt *next;
	void *handle;	/* the backend's */
	char sql[];
};

static void forget_stmts(struct db *db)
{
	struct db_stmt *st;

	while ((st = db->stmts)) {
		db->stmts = st->next;
		db->backend->finalize(db, st->handle);
		free(st);
	}
}

void db_close(struct db *db)
{
	char *name;

	if (!db)
		return;
	forget_stmts(db);
	name = db->name;
	db->backend->close(db);
	free(name);
}

int db_exec(struct db *db, const char *sql, struct err *err)
{
	return db->backend->exec(db, sql, err);
}

int db_begin_read(struct db *db, struct err *err)
{
	return db_exec(db, db->backend->words.begin_read, err);
}

int db_begin_write(struct db *db, struct err *err)
{
	const char *begin = db->backend->words.begin_write;
	int r;

	if (db->read_only)
		return err_set(err, EROFS, "store %s is open for reading only", db->name);
	r = db_exec(db, begin, err);
	/* A server that was started again has closed what was idle, which only this call sees. */
	if (r && db->backend->lost(db)) {
		forget_stmts(db);
		r = db->backend->reconnect(db, err);
		if (!r)
			r = db_exec(db, begin, err);
	}
	return r;
}

int db_commit(struct db *db, struct err *err)
{
	int r = db_exec(db, "COMMIT", err);

	if (r)
		db_rollback(db);
	return r;
}

void db_rollback(struct db *db)
{
	struct err ignored = { 0 };

	/* Some errors have rolled back already, and a lost connection has too. */
	db_exec(db, "ROLLBACK", &ignored);
}

static struct db_stmt *stmt_new(struct db *db, const char *sql, struct err *err)
{
	size_t n = strlen(sql) + 1;
	struct db_stmt *st = malloc(sizeof(*st) + n);

	if (!st) {
		err_sys(err, ENOMEM, "store %s", db->name);
		return NULL;
	}
	memcpy(st->sql, sql, n);
	st->db = db;
	if (db->backend->prepare(db, st->sql, &st->handle, err)) {
		free(st);
		return NULL;
	}
	st->next = db->stmts;
	db->stmts = st;
	return st;
}

struct db_stmt *db_start(struct db *db, const char *sql, const struct db_value *v, size_t n,
			 struct err *err)
{
	struct db_stmt *st;

	for (st = db->stmts; st; st = st->next)
		if (!strcmp(st->sql, sql))
			break;
	if (!st)
		st = stmt_new(db, sql, err);
	if (!st || db->backend->start(db, st->handle, v, n, err))
		return NULL;
	return st;
}

int db_step(struct db_stmt *st, struct err *err)
{
	return st->db->backend->step(st->db, st->handle, err);
}

void db_stop(struct db_stmt *st)
{
	if (st)
		st->db->backend->stop(st->db, st->handle);
}

int db_run(struct db *db, const char *sql, const struct db_value *v, size_t n, struct err *err)
{
	struct db_stmt *st = db_start(db, sql, v, n, err);
	int r;

	if (!st)
		return -err->code;
	r = db_step(st, err);
	db_stop(st);
	return r < 0 ? r : 0;
}

int db_run_int(struct db *db, const char *sql, const struct db_value *v, size_t n, int64_t *result,
	       struct err *err)
{
	struct db_stmt *st = db_start(db, sql, v, n, err);
	int r;

	if (!st)
		return -err->code;
	r = db_step(st, err);
	if (r > 0)
		*result = db_int(st, 0);
	db_stop(st);
	return r;
}

int64_t db_int(struct db_stmt *st, int column)
{
	return st->db->backend->get_int(st->db, st->handle, column);
}

double db_real(struct db_stmt *st, int column)
{
	return st->db->backend->get_real(st->db, st->handle, column);
}

const char *db_bytes(struct db_stmt *st, int column, size_t *len)
{
	const char *s = st->db->backend->get_bytes(st->db, st->handle, column, len);

	if (!s)
		*len = 0;
	return s ? s : "";
}
