/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "store/detail.h"
#include "store/parts.h"

/*
 * DESIGN: a value is a row of its own, (run, metric, value) in order of run. 600,000
 * of them are read in 0.15 s by SQLite and 0.25 s from a PostgreSQL beside it; a blob
 * for each run would take 0.02 s and be closed to people who ask by SQL. What is
 * asked for is read in a transaction, some benches a query.
 */

/* Benches of a query. Where there are fewer, the last one is named again. */
#define BATCH 64

struct load {
	struct store *s;
	const struct store_bench *bench;
	size_t n;
	const struct metric *only;	/* NULL: all */
	struct store_columns *c;
	struct map *bench_of;		/* key of a bench: index in .bench */
	struct map *run_of;		/* key of a run: index in .c->run */
	struct map *column_of;		/* key of a metric: index in .c->column */
};

static int no_memory(struct err *err)
{
	return err_sys(err, ENOMEM, "cannot read the store");
}

static int put(struct map *m, int64_t key, size_t index, struct err *err)
{
	size_t *p = map_put(m, &key);

	if (!p)
		return no_memory(err);
	*p = index;
	return 0;
}

/* Starts @select, which ends in a list of parameters, for the batch of benches at @at. */
static struct db_stmt *start_batch(const struct load *l, const char *select, size_t at,
				   bool metric, struct err *err)
{
	struct db_value v[BATCH + 1];
	struct buf sql = BUF_INIT;
	struct db_stmt *st = NULL;
	size_t i;

	buf_adds(&sql, select);
	for (i = 0; i < BATCH; i++) {
		v[i] = db_value_int(l->bench[at + i < l->n ? at + i : l->n - 1].key);
		buf_addf(&sql, "%s$%zu", i ? ", " : " (", i + 1);
	}
	buf_addc(&sql, ')');
	if (metric) {
		buf_addf(&sql, " AND v.metric = $%d", BATCH + 1);
		v[BATCH] = db_value_int(l->only->key);
	}
	if (sql.failed)
		no_memory(err);
	else
		st = db_start(l->s->db, sql.data, v, BATCH + (metric ? 1 : 0), err);
	buf_release(&sql);
	return st;
}

static int take_run(struct load *l, struct db_stmt *st, size_t *room, struct err *err)
{
	struct store_columns *c = l->c;
	struct store_run *run;
	const size_t *bench;
	int r;

	if (c->runs == *room) {
		*room = *room ? 2 * *room : 64;
		run = reallocarray(c->run, *room, sizeof(*run));
		if (!run)
			return no_memory(err);
		c->run = run;
	}
	run = &c->run[c->runs];
	memset(run, 0, sizeof(*run));
	run->key = db_int(st, 0);
	r = fields_read(store_run_fields, RUN_FIELDS, st, 1, run, &c->text, err);
	if (r)
		return r;
	bench = map_get(l->bench_of, &run->bench_key);
	if (!bench)
		return err_set(err, EBADMSG, "store %s is damaged: a run of no bench",
			       l->s->db->name);
	run->bench = *bench;
	c->runs++;
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	if (x->bench != y->bench)
		return x->bench < y->bench ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int load_runs(struct load *l, struct err *err)
{
	struct buf select = BUF_INIT;
	size_t at, i, room = 0;
	int r = 0;

	buf_adds(&select, "SELECT r.key, ");
	fields_list(&select, "r.", store_run_fields, RUN_FIELDS);
	if (buf_adds(&select, " FROM run r WHERE r.bench IN") || select.failed)
		r = no_memory(err);
	for (at = 0; !r && at < l->n; at += BATCH) {
		struct db_stmt *st = start_batch(l, select.data, at, false, err);

		r = st ? 0 : -err->code;
		while (!r && (r = db_step(st, err)) > 0)
			r = take_run(l, st, &room, err);
		db_stop(st);
	}
	buf_release(&select);
	if (!r && l->c->runs)
		qsort(l->c->run, l->c->runs, sizeof(*l->c->run), by_order);
	for (i = 0; !r && i < l->c->runs; i++)
		r = put(l->run_of, l->c->run[i].key, i, err);
	return r;
}

/* The index of a column for the metric @key, added when it is the first value of it. */
static int column_of(struct load *l, int64_t key, size_t *index, struct err *err)
{
	const size_t *known = map_get(l->column_of, &key);
	struct store_columns *c = l->c;
	struct store_column *p;
	size_t i;

	if (known) {
		*index = *known;
		return 0;
	}
	p = reallocarray(c->column, c->columns + 1, sizeof(*p));
	if (!p)
		return no_memory(err);
	c->column = p;
	p += c->columns;
	memset(p, 0, sizeof(*p));
	p->value = reallocarray(NULL, c->runs, sizeof(*p->value));
	if (!p->value)
		return no_memory(err);
	for (i = 0; i < c->runs; i++)
		p->value[i] = NAN;
	*index = c->columns++;
	return put(l->column_of, key, *index, err);
}

/* All values of a query; rows of a run, and its metrics, mostly follow each other. */
static int take_values(struct load *l, struct db_stmt *st, struct err *err)
{
	int64_t last = 0;
	const size_t *run = NULL;
	size_t column = 0;
	int r;

	while ((r = db_step(st, err)) > 0) {
		int64_t key = db_int(st, 0);
		double value = db_real(st, 2);

		if (!run || key != last)
			run = map_get(l->run_of, &key);
		last = key;
		if (!run || isnan(value))
			return err_set(err, EBADMSG, "store %s is damaged: a value of no run",
				       l->s->db->name);
		r = column_of(l, db_int(st, 1), &column, err);
		if (r)
			return r;
		l->c->column[column].value[*run] = value;
		l->c->column[column].known++;
	}
	return r;
}

static int load_values(struct load *l, struct err *err)
{
	size_t at;
	int r = 0;

	for (at = 0; !r && at < l->n; at += BATCH) {
		struct db_stmt *st = start_batch(l, "SELECT v.run, v.metric, v.value FROM run r"
						 " JOIN value v ON v.run = r.key WHERE r.bench IN",
						 at, l->only != NULL, err);

		r = st ? take_values(l, st, err) : -err->code;
		db_stop(st);
	}
	return r;
}

static int by_metric(const void *a, const void *b)
{
	return strcmp(((const struct store_column *)a)->metric,
		      ((const struct store_column *)b)->metric);
}

/* The names of the columns, which are known by their keys so far. */
static int name_columns(struct load *l, const struct metrics *metrics, struct err *err)
{
	size_t i;

	for (i = 0; i < metrics->n; i++) {
		const struct metric *m = &metrics->metric[i];
		const size_t *index = map_get(l->column_of, &m->key);
		struct store_column *column;

		if (!index)
			continue;
		column = &l->c->column[*index];
		column->metric = text_keep(&l->c->text, m->name, strlen(m->name));
		column->unit = text_keep(&l->c->text, m->unit, strlen(m->unit));
		column->kind = m->kind;
		if (!column->metric || !column->unit)
			return no_memory(err);
	}
	for (i = 0; i < l->c->columns; i++)
		if (!l->c->column[i].metric)
			return err_set(err, EBADMSG, "store %s is damaged: a value of no metric",
				       l->s->db->name);
	if (l->c->columns)
		qsort(l->c->column, l->c->columns, sizeof(*l->c->column), by_metric);
	return 0;
}

static int load_all(struct load *l, const char *metric, struct err *err)
{
	struct metrics metrics = { 0 };
	int r = metrics_read(&metrics, l->s->db, err);

	if (!r && metric)
		l->only = metrics_find(&metrics, metric);
	if (!r)
		r = load_runs(l, err);
	if (!r && l->c->runs && (!metric || l->only))
		r = load_values(l, err);
	if (!r)
		r = name_columns(l, &metrics, err);
	metrics_release(&metrics);
	return r;
}

static int index_benches(struct load *l, struct err *err)
{
	size_t i;
	int r = 0;

	l->bench_of = map_new(sizeof(int64_t), sizeof(size_t));
	l->run_of = map_new(sizeof(int64_t), sizeof(size_t));
	l->column_of = map_new(sizeof(int64_t), sizeof(size_t));
	if (!l->bench_of || !l->run_of || !l->column_of)
		return no_memory(err);
	for (i = 0; !r && i < l->n; i++)
		r = put(l->bench_of, l->bench[i].key, i, err);
	return r;
}

int store_load(struct store *s, const struct store_bench *bench, size_t n, const char *metric,
	       struct store_columns *c, struct err *err)
{
	struct load l = { .s = s, .bench = bench, .n = n, .c = c };
	int r;

	memset(c, 0, sizeof(*c));
	r = index_benches(&l, err);
	if (!r)
		r = db_begin_read(s->db, err);
	if (!r) {
		r = load_all(&l, metric, err);
		db_rollback(s->db);
	}
	map_free(l.bench_of);
	map_free(l.run_of);
	map_free(l.column_of);
	if (r)
		store_columns_release(c);
	return r;
}

void store_columns_release(struct store_columns *c)
{
	size_t i;

	for (i = 0; i < c->columns; i++)
		free(c->column[i].value);
	free(c->column);
	free(c->run);
	text_free(c->text);
	memset(c, 0, sizeof(*c));
}

int store_detail(struct store *s, int64_t key, struct buf *out, struct err *err)
{
	const struct db_value v = db_value_int(key);
	struct db_stmt *st = db_start(s->db, "SELECT bytes, zstd FROM detail WHERE run = $1", &v, 1,
				      err);
	const char *frame;
	size_t n;
	int r;

	if (!st)
		return -err->code;
	r = db_step(st, err);
	if (r > 0) {
		frame = db_bytes(st, 1, &n);
		r = detail_unpack(frame, n, (size_t)db_int(st, 0), out, err);
	} else if (!r) {
		r = err_set(err, ENOENT, "the run has no summary in store %s", s->db->name);
	}
	db_stop(st);
	return r;
}
