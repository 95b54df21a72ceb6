/* SPDX-License-Identifier: MIT */
#include "store/db_pg.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * DESIGN: statements are prepared when they first run, since the types of their
 * parameters are then known; parameters and results go in binary. Rows come one by
 * one (single-row mode): a report's 600,000 are read twice as fast so as in one
 * result, and take no memory.
 */

/* Of src/include/catalog/pg_type.dat: these never change. */
enum { OID_BYTEA = 17, OID_INT8 = 20, OID_TEXT = 25, OID_FLOAT8 = 701 };

#define GRANT_HINT "its owner can allow it by GRANT, as docs/formats/store.md says"

struct pg_stmt {
	char name[16];		/* "" before it is prepared */
	const char *sql;	/* the statement cache's */
};

/* How a parameter goes: all arrays are those that libpq takes. */
struct params {
	Oid type[PG_PARAMS_MAX];
	const char *value[PG_PARAMS_MAX];
	int len[PG_PARAMS_MAX];
	int format[PG_PARAMS_MAX];
	uint64_t number[PG_PARAMS_MAX];	/* big-endian */
};

static struct pg *of(const struct db *db)
{
	return (struct pg *)db;
}

/* By how an SQLSTATE begins: appendix A of the PostgreSQL manual. */
static const struct {
	const char *state;
	int error;
	const char *words;
	const char *hint;
} faults[] = {
	{ "23503", ENOENT, "lacks what this belongs to", NULL },
	{ "23", EEXIST, "has this already", NULL },
	{ "53100", ENOSPC, "cannot grow", "make room on the server's file system" },
	{ "55P03", EBUSY, "is locked by another process", NULL },
	{ "40", EBUSY, "is in use by another process", NULL },
	{ "42501", EACCES, "refuses this user", GRANT_HINT },
	{ "25006", EROFS, "cannot be written", NULL },
	{ "42", EBADMSG, "is damaged or no store", "its tables are those of schema tracer" },
	{ "57014", EINTR, "has cancelled this", NULL },
	{ "57P", ECONNRESET, "has closed the connection", NULL },
	{ "08", ECONNRESET, "has closed the connection", NULL },
	{ "XX", EBADMSG, "is damaged", NULL },
	{ "", EIO, "cannot do this", NULL },
};

/* The error of @r, or of the connection itself; @r is cleared. */
static int fail(struct db *db, PGresult *r, struct err *err)
{
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	const char *words = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	struct buf b = BUF_INIT;
	size_t i = 0;

	/* What has no state is libpq's own, and then of the connection, whatever PQstatus says. */
	if (!state)
		state = "08";
	pg_clean(&b, words ? words : PQerrorMessage(of(db)->conn));
	while (strncmp(state, faults[i].state, strlen(faults[i].state)) != 0)
		i++;
	err_set(err, faults[i].error, "store %s %s: %s", db->name, faults[i].words,
		b.data ? b.data : "");
	if (faults[i].hint)
		err_hint(err, "%s", faults[i].hint);
	if (faults[i].error == ECONNRESET)
		of(db)->lost = true;
	buf_release(&b);
	PQclear(r);
	return -faults[i].error;
}

static int pg_exec(struct db *db, const char *sql, struct err *err)
{
	PGresult *r = PQexec(of(db)->conn, sql);
	ExecStatusType status = PQresultStatus(r);

	if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
		return fail(db, r, err);
	/* The server answers the COMMIT of a transaction that has failed by ROLLBACK. */
	if (!strcmp(sql, "COMMIT") && strcmp(PQcmdStatus(r), "COMMIT") != 0) {
		PQclear(r);
		return err_set(err, EIO, "store %s has undone the transaction", db->name);
	}
	PQclear(r);
	return 0;
}

static int pg_prepare(struct db *db, const char *sql, void **handle, struct err *err)
{
	struct pg_stmt *st = calloc(1, sizeof(*st));

	if (!st)
		return err_sys(err, ENOMEM, "store %s", db->name);
	st->sql = sql;
	*handle = st;
	return 0;
}

static void pg_finalize(struct db *db, void *handle)
{
	(void)db;
	free(handle);	/* the server's ends with the connection */
}

static void set_number(struct params *p, size_t i, Oid type, uint64_t bits)
{
	p->number[i] = htobe64(bits);
	p->type[i] = type;
	p->value[i] = (const char *)&p->number[i];
	p->len[i] = (int)sizeof(p->number[i]);
}

static void set_param(struct params *p, size_t i, const struct db_value *v)
{
	uint64_t bits;

	p->format[i] = 1;
	switch (v->type) {
	case DB_INT:
		set_number(p, i, OID_INT8, (uint64_t)v->i);
		return;
	case DB_REAL:
		memcpy(&bits, &v->r, sizeof(bits));
		set_number(p, i, OID_FLOAT8, bits);
		if (isnan(v->r))
			p->value[i] = NULL;
		return;
	case DB_TEXT:
	case DB_BLOB:
		p->type[i] = v->type == DB_TEXT ? OID_TEXT : OID_BYTEA;
		p->value[i] = v->bytes;
		p->len[i] = (int)v->len;
	}
}

static int prepare_now(struct db *db, struct pg_stmt *st, const struct params *p, size_t n,
		       struct err *err)
{
	struct pg *pg = of(db);
	PGresult *r;

	snprintf(st->name, sizeof(st->name), "s%u", pg->prepared++);
	r = PQprepare(pg->conn, st->name, st->sql, (int)n, p->type);
	if (PQresultStatus(r) == PGRES_COMMAND_OK) {
		PQclear(r);
		return 0;
	}
	st->name[0] = '\0';
	return fail(db, r, err);
}

static void pg_stop(struct db *db, void *handle)
{
	struct pg *pg = of(db);
	PGresult *r;

	(void)handle;
	PQclear(pg->row);
	pg->row = NULL;
	while ((r = PQgetResult(pg->conn)))
		PQclear(r);
}

static int pg_start(struct db *db, void *handle, const struct db_value *v, size_t n,
		    struct err *err)
{
	struct pg_stmt *st = handle;
	struct pg *pg = of(db);
	struct params p;
	size_t i;
	int r;

	if (n > PG_PARAMS_MAX)
		return err_sys(err, E2BIG, "store %s", db->name);
	for (i = 0; i < n; i++)
		set_param(&p, i, &v[i]);
	if (!st->name[0]) {
		r = prepare_now(db, st, &p, n, err);
		if (r)
			return r;
	}
	if (!PQsendQueryPrepared(pg->conn, st->name, (int)n, p.value, p.len, p.format, 1) ||
	    !PQsetSingleRowMode(pg->conn)) {
		r = fail(db, NULL, err);
		pg_stop(db, handle);
		return r;
	}
	return 0;
}

static int pg_step(struct db *db, void *handle, struct err *err)
{
	struct pg *pg = of(db);
	PGresult *r;

	(void)handle;
	PQclear(pg->row);
	pg->row = NULL;
	while ((r = PQgetResult(pg->conn))) {
		switch (PQresultStatus(r)) {
		case PGRES_SINGLE_TUPLE:
			pg->row = r;
			return 1;
		case PGRES_TUPLES_OK:	/* behind the last row */
		case PGRES_COMMAND_OK:
			PQclear(r);
			break;
		default:
			return fail(db, r, err);
		}
	}
	return 0;
}

/* An integer of 8, 4 or 2 bytes, big-endian, as the column's type has it. */
static int64_t pg_get_int(const struct db *db, void *handle, int column)
{
	const PGresult *r = of(db)->row;
	const char *p = PQgetvalue(r, 0, column);
	uint64_t big;
	uint32_t middle;
	uint16_t small;

	(void)handle;
	switch (p ? PQgetlength(r, 0, column) : 0) {
	case sizeof(big):
		memcpy(&big, p, sizeof(big));
		return (int64_t)be64toh(big);
	case sizeof(middle):
		memcpy(&middle, p, sizeof(middle));
		return (int32_t)be32toh(middle);
	case sizeof(small):
		memcpy(&small, p, sizeof(small));
		return (int16_t)be16toh(small);
	}
	return 0;
}

static double pg_get_real(const struct db *db, void *handle, int column)
{
	uint64_t bits;
	double v;

	if (PQgetisnull(of(db)->row, 0, column) ||
	    PQgetlength(of(db)->row, 0, column) != (int)sizeof(v))
		return NAN;
	bits = (uint64_t)pg_get_int(db, handle, column);
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static const char *pg_get_bytes(const struct db *db, void *handle, int column, size_t *len)
{
	const PGresult *r = of(db)->row;

	(void)handle;
	if (PQgetisnull(r, 0, column))
		return NULL;
	*len = (size_t)PQgetlength(r, 0, column);
	return PQgetvalue(r, 0, column);
}

static int pg_set_wait(struct db *db, unsigned int ms, struct err *err)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "SET lock_timeout = %u", ms);
	return pg_exec(db, sql, err);
}

/* A schema that one may not use is passed over in search_path, as if it were not there. */
static int pg_found(struct db *db, struct err *err)
{
	int64_t n = 0;	/* 1: may be used, 2: may not */
	int r = db_run_int(db, "SELECT max(CASE WHEN has_schema_privilege(n.oid, 'USAGE')"
			   " THEN 1 ELSE 2 END) FROM pg_catalog.pg_class c"
			   " JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
			   " WHERE n.nspname = 'tracer' AND c.relname = 'meta'", NULL, 0, &n, err);

	if (r >= 0 && n == 2) {
		r = err_set(err, EACCES, "store %s refuses this user: it may not use schema tracer",
			    db->name);
		err_hint(err, GRANT_HINT);
	}
	return r < 0 ? r : n == 1;
}

static bool pg_lost(const struct db *db)
{
	return of(db)->lost;
}

static int pg_reconnect(struct db *db, struct err *err)
{
	int r = pg_connect_again(of(db)->conn, db->name, err);

	if (r)
		return r;
	of(db)->lost = false;
	return pg_set_wait(db, STORE_WAIT_MS, err);
}

static void pg_close(struct db *db)
{
	PQclear(of(db)->row);
	PQfinish(of(db)->conn);
	free(of(db));
}

static const struct db_backend pg_backend = {
	.words = {
		.key = "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
		.integer = "bigint",
		.real = "double precision",
		.blob = "bytea",
		.table = "",
		.clustered = "",
		/* CREATE SCHEMA IF NOT EXISTS wants the right to make one even where there is. */
		.create = "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace"
			  " WHERE nspname = 'tracer') THEN CREATE SCHEMA tracer; END IF; END $$",
		.begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
		.begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
		/* "trcr": any number that nobody else takes. */
		.lock = "SELECT pg_catalog.pg_advisory_xact_lock(1953653618)",
	},
	.set_wait = pg_set_wait,
	.found = pg_found,
	.exec = pg_exec,
	.prepare = pg_prepare,
	.finalize = pg_finalize,
	.start = pg_start,
	.step = pg_step,
	.stop = pg_stop,
	.get_int = pg_get_int,
	.get_real = pg_get_real,
	.get_bytes = pg_get_bytes,
	.lost = pg_lost,
	.reconnect = pg_reconnect,
	.close = pg_close,
};

struct db *db_pg_open(const char *url, enum store_mode mode, struct err *err)
{
	struct pg *pg = calloc(1, sizeof(*pg));

	if (!pg) {
		err_sys(err, ENOMEM, "cannot open the store");
		return NULL;
	}
	pg->conn = pg_connect(url, &pg->db.name, err);
	if (!pg->conn) {
		free(pg);
		return NULL;
	}
	pg->db.backend = &pg_backend;
	pg->db.read_only = mode == STORE_READ;
	if (pg_set_wait(&pg->db, STORE_WAIT_MS, err)) {
		db_close(&pg->db);
		return NULL;
	}
	return &pg->db;
}
