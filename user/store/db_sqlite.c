/* SPDX-License-Identifier: MIT */
#include "store/db_sqlite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * DESIGN: the journal is a write-ahead log, so that readers and a writer do not wait
 * for each other, and each commit is synced to the disk. The file may be somebody
 * else's: its triggers, views and functions are not run, nor is it mapped into
 * memory, where a file that is cut short would end the process.
 */

#define MAX_VALUE_BYTES (STORE_DETAIL_MAX + ((size_t)16 << 20))

struct sqlite {
	struct db db;
	sqlite3 *h;
};

static struct sqlite *of(const struct db *db)
{
	return (struct sqlite *)db;
}

struct fault {
	int code;	/* primary or extended; the first row that fits counts */
	int error;
	const char *words;
	const char *hint;
};

static const struct fault faults[] = {
	{ SQLITE_CONSTRAINT_FOREIGNKEY, ENOENT, "lacks what this belongs to", NULL },
	{ SQLITE_CONSTRAINT, EEXIST, "has this already", NULL },
	{ SQLITE_BUSY, EBUSY, "is locked by another process",
	  "its writer may be stopped or hang: 'fuser FILE' says who has it open" },
	{ SQLITE_LOCKED, EBUSY, "is locked by another process", NULL },
	{ SQLITE_FULL, ENOSPC, "cannot grow",
	  "make room on its file system, or name another with --store" },
	{ SQLITE_CORRUPT, EBADMSG, "is damaged",
	  "move it away, or save what can be read: sqlite3 FILE .recover | sqlite3 NEW" },
	{ SQLITE_NOTADB, EBADMSG, "is damaged or no store: it is no SQLite file",
	  "it is left as it is; name another with --store, or move it away" },
	{ SQLITE_READONLY, EROFS, "cannot be written", NULL },
	{ SQLITE_PERM, EACCES, "cannot be opened", NULL },
	{ SQLITE_AUTH, EACCES, "cannot be opened", NULL },
	{ SQLITE_CANTOPEN, EACCES, "cannot be opened", "its directory must be writable too" },
	{ SQLITE_TOOBIG, EFBIG, "cannot hold a value of this size", NULL },
	{ SQLITE_NOMEM, ENOMEM, "cannot be used", NULL },
	{ SQLITE_IOERR, EIO, "cannot be read or written", NULL },
	{ SQLITE_ERROR, EBADMSG, "is damaged or no store", NULL },
};

/*
 * The error of SQLite's @code, with errno's words where the kernel refused: callers set
 * errno to 0 before what they do.
 */
static int fail(const struct db *db, int code, struct err *err)
{
	const struct fault *f = faults, *end = f + sizeof(faults) / sizeof(*faults);
	int kernel = sqlite3_system_errno(of(db)->h), r;

	/* SQLite notes it where a file is opened, and not where a commit is written. */
	if (!kernel && (code & 0xff) == SQLITE_IOERR)
		kernel = errno;
	while (f < end && f->code != code && f->code != (code & 0xff))
		f++;
	if (f == end)
		return err_set(err, EIO, "store %s: %s", db->name, sqlite3_errmsg(of(db)->h));
	switch (f->code) {
	case SQLITE_FULL:
		kernel = ENOSPC;
		/* fall through */
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		r = err_sys(err, kernel ? kernel : f->error, "store %s %s", db->name, f->words);
		break;
	case SQLITE_ERROR:
		r = err_set(err, f->error, "store %s %s: %s", db->name, f->words,
			    sqlite3_errmsg(of(db)->h));
		break;
	default:
		r = err_set(err, f->error, "store %s %s", db->name, f->words);
	}
	if (f->hint)
		err_hint(err, "%s", f->hint);
	return r;
}

static int sqlite_exec(struct db *db, const char *sql, struct err *err)
{
	int code;

	errno = 0;
	code = sqlite3_exec(of(db)->h, sql, NULL, NULL, NULL);
	return code ? fail(db, code, err) : 0;
}

static int sqlite_prepare(struct db *db, const char *sql, void **handle, struct err *err)
{
	sqlite3_stmt *st;
	int code = sqlite3_prepare_v3(of(db)->h, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);

	*handle = st;
	return code ? fail(db, code, err) : 0;
}

static void sqlite_finalize(struct db *db, void *handle)
{
	(void)db;
	sqlite3_finalize(handle);
}

static int bind(sqlite3_stmt *st, int i, const struct db_value *v)
{
	switch (v->type) {
	case DB_INT:
		return sqlite3_bind_int64(st, i, v->i);
	case DB_REAL:	/* a NAN is bound as NULL */
		return sqlite3_bind_double(st, i, v->r);
	case DB_TEXT:
		return sqlite3_bind_text64(st, i, v->bytes, v->len, SQLITE_STATIC, SQLITE_UTF8);
	case DB_BLOB:
		break;
	}
	return sqlite3_bind_blob64(st, i, v->bytes, v->len, SQLITE_STATIC);
}

static void sqlite_stop(struct db *db, void *handle)
{
	(void)db;
	sqlite3_reset(handle);
	sqlite3_clear_bindings(handle);
}

static int sqlite_start(struct db *db, void *handle, const struct db_value *v, size_t n,
			struct err *err)
{
	size_t i;
	int code;

	for (i = 0; i < n; i++) {
		code = bind(handle, (int)i + 1, &v[i]);
		if (code) {
			fail(db, code, err);
			sqlite_stop(db, handle);
			return -err->code;
		}
	}
	return 0;
}

static int sqlite_step(struct db *db, void *handle, struct err *err)
{
	int code;

	errno = 0;
	code = sqlite3_step(handle);
	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : fail(db, code, err);
}

static int64_t sqlite_get_int(const struct db *db, void *handle, int column)
{
	(void)db;
	return sqlite3_column_int64(handle, column);
}

static double sqlite_get_real(const struct db *db, void *handle, int column)
{
	(void)db;
	if (sqlite3_column_type(handle, column) == SQLITE_NULL)
		return NAN;
	return sqlite3_column_double(handle, column);
}

static const char *sqlite_get_bytes(const struct db *db, void *handle, int column, size_t *len)
{
	const char *s;

	(void)db;
	/* A text has its NUL from column_text alone; a blob must not be read by that. */
	if (sqlite3_column_type(handle, column) == SQLITE_BLOB)
		s = sqlite3_column_blob(handle, column);
	else
		s = (const char *)sqlite3_column_text(handle, column);
	*len = (size_t)sqlite3_column_bytes(handle, column);
	return s;
}

static int sqlite_set_wait(struct db *db, unsigned int ms, struct err *err)
{
	int code = sqlite3_busy_timeout(of(db)->h, (int)ms);

	return code ? fail(db, code, err) : 0;
}

static int sqlite_found(struct db *db, struct err *err)
{
	int64_t id = 0;
	int r = db_run_int(db, "PRAGMA application_id", NULL, 0, &id, err);

	return r < 0 ? r : id == SQLITE_APPLICATION_ID;
}

static bool sqlite_lost(const struct db *db)
{
	(void)db;
	return false;
}

static int sqlite_reconnect(struct db *db, struct err *err)
{
	return err_sys(err, ENOSYS, "store %s", db->name);
}

static void sqlite_close(struct db *db)
{
	sqlite3_close(of(db)->h);
	free(of(db));
}

static const struct db_backend sqlite_backend = {
	.words = {
		.key = "INTEGER PRIMARY KEY",
		.integer = "INTEGER",
		.real = "REAL",
		.blob = "BLOB",
		.table = "STRICT",
		.clustered = "STRICT, WITHOUT ROWID",
		.create = "PRAGMA application_id = " SQLITE_APPLICATION_ID_TEXT,
		.begin_read = "BEGIN",
		.begin_write = "BEGIN IMMEDIATE",
	},
	.set_wait = sqlite_set_wait,
	.found = sqlite_found,
	.exec = sqlite_exec,
	.prepare = sqlite_prepare,
	.finalize = sqlite_finalize,
	.start = sqlite_start,
	.step = sqlite_step,
	.stop = sqlite_stop,
	.get_int = sqlite_get_int,
	.get_real = sqlite_get_real,
	.get_bytes = sqlite_get_bytes,
	.lost = sqlite_lost,
	.reconnect = sqlite_reconnect,
	.close = sqlite_close,
};

/* What a file that somebody else made may do is cut down before its schema is read. */
static int harden(struct sqlite *s, struct err *err)
{
	static const struct {
		int what, value;
	} configs[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
		int code = sqlite3_db_config(s->h, configs[i].what, configs[i].value, NULL);

		if (code)
			return fail(&s->db, code, err);
	}
	sqlite3_limit(s->h, SQLITE_LIMIT_LENGTH, (int)MAX_VALUE_BYTES);
	return sqlite_exec(&s->db, "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
			   "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", err);
}

/* As a URI, in which a path may have any bytes: RFC 3986 in the form SQLite takes. */
static int add_uri(struct buf *uri, const char *path, const char *query)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._-/";

	/* ./ keeps a relative path from being taken for a name like ":memory:". */
	buf_adds(uri, path[0] == '/' ? "file://" : "file:./");
	for (; *path; path++) {
		if (strchr(plain, *path))
			buf_addc(uri, *path);
		else
			buf_addf(uri, "%%%02x", (unsigned char)*path);
	}
	return buf_adds(uri, query) || uri->failed ? -ENOMEM : 0;
}

struct db *sqlite_connect(const char *path, const char *name, int flags, const char *query,
			  struct err *err)
{
	struct sqlite *s = calloc(1, sizeof(*s));
	struct buf uri = BUF_INIT;
	int code;

	if (!s || !(s->db.name = strdup(name)) || add_uri(&uri, path, query)) {
		err_sys(err, ENOMEM, "store %s", name);
		goto fail;
	}
	s->db.backend = &sqlite_backend;
	code = sqlite3_open_v2(uri.data, &s->h, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
			       SQLITE_OPEN_EXRESCODE, NULL);
	if (code) {
		fail(&s->db, code, err);
		goto fail;
	}
	/* The first of them already may meet one that is closing the file. */
	if (sqlite_set_wait(&s->db, STORE_WAIT_MS, err) || harden(s, err))
		goto fail;
	buf_release(&uri);
	return &s->db;
fail:
	buf_release(&uri);
	if (s) {
		sqlite3_close(s->h);
		free(s->db.name);
		free(s);
	}
	return NULL;
}

bool sqlite_is_read_only(const struct db *db)
{
	return sqlite3_db_readonly(of(db)->h, "main") == 1;
}
