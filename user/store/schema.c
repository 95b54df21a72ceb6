/* SPDX-License-Identifier: MIT */
#include "store/schema.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracer/version.h"

/* Metric names repeat with every run, machines with every bench: each stands once. */
static const char tables[] =
	"CREATE TABLE meta ("
	" name text PRIMARY KEY,"
	" value text NOT NULL"
	") {table};"
	"CREATE TABLE machine ("
	" key {key},"
	" hash text NOT NULL UNIQUE,"
	" cpu_model text NOT NULL,"
	" cores {integer} NOT NULL,"
	" governor text NOT NULL,"
	" kernel text NOT NULL,"
	" memory_bytes {integer} NOT NULL,"
	" vendor text NOT NULL"
	") {table};"
	"CREATE TABLE bench ("
	" key {key},"
	" id text NOT NULL UNIQUE,"
	" group_id text NOT NULL,"
	" side text NOT NULL CHECK (side IN ('command', 'baseline')),"
	" label text NOT NULL,"
	" argv text NOT NULL,"
	" cwd text NOT NULL,"
	" git_commit text NOT NULL,"
	" git_dirty {integer} NOT NULL CHECK (git_dirty IN (0, 1)),"
	" tracer text NOT NULL,"
	" source text NOT NULL,"
	" mode text NOT NULL,"
	" planned {integer} NOT NULL,"
	" when_ns {integer} NOT NULL,"
	" load_avg {real},"
	" steal {real},"
	" machine {integer} NOT NULL REFERENCES machine (key)"
	") {table};"
	"CREATE INDEX bench_label ON bench (label, when_ns);"
	"CREATE INDEX bench_group ON bench (group_id);"
	"CREATE TABLE metric ("
	" key {key},"
	" name text NOT NULL UNIQUE,"
	" kind text NOT NULL CHECK (kind IN ('count', 'time')),"
	" unit text NOT NULL"
	") {table};"
	"CREATE TABLE run ("
	" key {key},"
	" bench {integer} NOT NULL REFERENCES bench (key) ON DELETE CASCADE,"
	" run_order {integer} NOT NULL,"
	" start_ns {integer} NOT NULL,"
	" exit_code {integer} NOT NULL,"
	" signal {integer} NOT NULL,"
	" warmup {integer} NOT NULL CHECK (warmup IN (0, 1)),"
	" UNIQUE (bench, run_order)"
	") {table};"
	"CREATE TABLE value ("
	" run {integer} NOT NULL REFERENCES run (key) ON DELETE CASCADE,"
	" metric {integer} NOT NULL REFERENCES metric (key),"
	" value {real} NOT NULL,"
	" PRIMARY KEY (run, metric)"
	") {clustered};"
	"CREATE TABLE detail ("
	" run {integer} PRIMARY KEY REFERENCES run (key) ON DELETE CASCADE,"
	" bytes {integer} NOT NULL,"
	" zstd {blob} NOT NULL"
	") {table};";

static const char *const steps[] = { tables };

const struct schema schema_current = { steps, sizeof(steps) / sizeof(*steps) };

/* The word called @name (@n bytes), NULL: there is none. */
static const char *word(const struct db_words *w, const char *name, size_t n)
{
	const struct {
		const char *name, *word;
	} words[] = {
		{ "key", w->key }, { "integer", w->integer }, { "real", w->real },
		{ "blob", w->blob }, { "table", w->table }, { "clustered", w->clustered },
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].name) == n && !memcmp(words[i].name, name, n))
			return words[i].word;
	return NULL;
}

/* @step with the backend's words. A word that there is none for stays, and fails as SQL. */
static void translate(struct buf *b, const char *step, const struct db_words *words)
{
	const char *open, *close, *w;

	while ((open = strchr(step, '{')) && (close = strchr(open, '}'))) {
		w = word(words, open + 1, (size_t)(close - open - 1));
		buf_add(b, step, (size_t)((w ? open : close) - step));
		buf_adds(b, w ? w : "}");
		step = close + 1;
	}
	buf_adds(b, step);
}

/* The text of meta's @name into @value: 1, 0 when there is no such row, or an error. */
static int read_meta(struct db *db, const char *name, struct buf *value, struct err *err)
{
	const struct db_value v = db_value_text(name);
	struct db_stmt *st = db_start(db, "SELECT value FROM meta WHERE name = $1", &v, 1, err);
	const char *s;
	size_t n;
	int r;

	if (!st)
		return -err->code;
	r = db_step(st, err);
	if (r > 0) {
		s = db_bytes(st, 0, &n);
		if (buf_add(value, s, n))
			r = err_sys(err, ENOMEM, "store %s", db->name);
	}
	db_stop(st);
	return r;
}

static int write_meta(struct db *db, const char *name, const char *value, struct err *err)
{
	const struct db_value v[] = { db_value_text(name), db_value_text(value) };

	return db_run(db, "INSERT INTO meta (name, value) VALUES ($1, $2)"
		      " ON CONFLICT (name) DO UPDATE SET value = excluded.value", v, 2, err);
}

/* 0 in *version: there are no tables. */
static int read_version(struct db *db, int64_t *version, struct err *err)
{
	struct buf b = BUF_INIT;
	char *end = NULL;
	int r = db->backend->found(db, err);

	*version = 0;
	if (r > 0) {
		r = read_meta(db, "schema", &b, err);
		if (r > 0)
			*version = strtoll(b.data, &end, 10);
		if (r >= 0 && (!end || *end || *version < 1))
			r = err_set(err, EBADMSG, "store %s is damaged or no store: it has no "
				    "version", db->name);
		buf_release(&b);
	}
	return r < 0 ? r : 0;
}

static int newer(struct db *db, int64_t version, const struct schema *schema, struct err *err)
{
	struct buf tracer = BUF_INIT;
	struct err ignored = { 0 };

	read_meta(db, "tracer", &tracer, &ignored);
	err_set(err, EPROTO, "store %s has version %" PRId64 ", and this tracer reads up to %"
		PRId64, db->name, version, schema->steps);
	if (tracer.len)
		err_hint(err, "take tracer %s or a later one, which this is not (" TRACER_VERSION
			 "), or name another store with --store", tracer.data);
	else
		err_hint(err, "take a later tracer, or name another store with --store");
	buf_release(&tracer);
	return -EPROTO;
}

static int step_to(struct db *db, const struct schema *schema, int64_t version, struct err *err)
{
	struct buf sql = BUF_INIT;
	char text[24];
	int r = 0;

	if (!version)
		r = db_exec(db, db->backend->words.create, err);
	for (; !r && version < schema->steps; version++) {
		buf_reset(&sql);
		translate(&sql, schema->step[version], &db->backend->words);
		r = sql.failed ? err_sys(err, ENOMEM, "store %s", db->name) :
				 db_exec(db, sql.data, err);
	}
	buf_release(&sql);
	snprintf(text, sizeof(text), "%" PRId64, version);
	if (!r)
		r = write_meta(db, "schema", text, err);
	return r ? r : write_meta(db, "tracer", TRACER_VERSION, err);
}

int schema_upgrade(struct db *db, const struct schema *schema, struct err *err)
{
	const char *lock = db->backend->words.lock;
	int64_t version = 0;
	int r = db_begin_write(db, err);

	if (r)
		return r;
	if (lock)
		r = db_exec(db, lock, err);
	/* Another may have done it while this one waited. */
	if (!r)
		r = read_version(db, &version, err);
	if (!r && version > schema->steps)
		r = newer(db, version, schema, err);
	if (!r && version < schema->steps)
		r = step_to(db, schema, version, err);
	if (!r)
		return db_commit(db, err);
	db_rollback(db);
	return r;
}

int schema_settle(struct db *db, const struct schema *schema, enum store_mode mode,
		  struct err *err)
{
	int64_t version;
	int r = read_version(db, &version, err);

	if (r || version == schema->steps)
		return r;
	if (version > schema->steps)
		return newer(db, version, schema, err);
	if (!version && mode != STORE_CREATE) {
		err_set(err, ENOENT, "there is no store in %s", db->name);
		err_hint(err, "tracer bench makes it; --store names another");
		return -ENOENT;
	}
	if (mode == STORE_READ) {
		err_set(err, EPROTO, "store %s is of an older tracer", db->name);
		err_hint(err, "what writes into it, as tracer bench does, brings it up to date");
		return -EPROTO;
	}
	return schema_upgrade(db, schema, err);
}
