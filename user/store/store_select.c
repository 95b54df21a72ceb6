/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/parts.h"

/* The conditions of a query; each takes one parameter. */
static const struct {
	size_t offset;
	const char *column;
	bool prefix;	/* of hex digits, none of which LIKE takes for a wildcard */
} conditions[] = {
	{ offsetof(struct store_query, label), "b.label", false },
	{ offsetof(struct store_query, commit), "b.git_commit", true },
	{ offsetof(struct store_query, id), "b.id", true },
	{ offsetof(struct store_query, group), "b.group_id", false },
};

#define CONDITIONS (sizeof(conditions) / sizeof(*conditions))

struct where {
	struct buf sql;
	struct buf prefix[CONDITIONS];
	struct db_value v[CONDITIONS + 1];	/* one for a limit */
	size_t n;
};

static void where_release(struct where *w)
{
	size_t i;

	buf_release(&w->sql);
	for (i = 0; i < CONDITIONS; i++)
		buf_release(&w->prefix[i]);
}

/* @s in lower case, as ids are stored, and a wildcard. */
static int make_prefix(struct buf *b, const char *s, struct err *err)
{
	const char *p;

	for (p = s; *p; p++)
		buf_addc(b, (char)tolower((unsigned char)*p));
	if (!b->len || !text_is_hex(b->data)) {
		err_set(err, EINVAL, "'%s' is not the beginning of a commit or an id", s);
		err_hint(err, "they are hex digits, as in 5f3c9a1");
		return -EINVAL;
	}
	return buf_addc(b, '%') ? err_sys(err, ENOMEM, "cannot read the store") : 0;
}

static int add_condition(struct where *w, size_t i, const char *s, struct err *err)
{
	int r = text_check(conditions[i].column + 2, s, err);

	if (!r && conditions[i].prefix) {
		r = make_prefix(&w->prefix[i], s, err);
		s = w->prefix[i].data;
	}
	if (r)
		return r;
	buf_addf(&w->sql, " %s %s %s $%zu", w->n ? "AND" : "WHERE", conditions[i].column,
		 conditions[i].prefix ? "LIKE" : "=", w->n + 1);
	w->v[w->n++] = db_value_text(s);
	return 0;
}

static int add_conditions(struct where *w, const struct store_query *q, struct err *err)
{
	size_t i;

	for (i = 0; i < CONDITIONS; i++) {
		const char *s = *(const char *const *)((const char *)q + conditions[i].offset);
		int r = s ? add_condition(w, i, s, err) : 0;

		if (r)
			return r;
	}
	return 0;
}

static void select_sql(struct where *w, const struct store_query *q)
{
	const char *order = q->oldest_first ? "" : " DESC";
	struct buf head = BUF_INIT;

	buf_adds(&head, "SELECT b.key, (SELECT count(*) FROM run r WHERE r.bench = b.key), ");
	fields_list(&head, "b.", store_bench_fields, BENCH_FIELDS);
	buf_adds(&head, ", ");
	fields_list(&head, "m.", store_machine_fields, MACHINE_FIELDS);
	buf_addf(&head, " FROM bench b JOIN machine m ON m.key = b.machine%s"
		 " ORDER BY b.when_ns%s, b.key%s", w->sql.data ? w->sql.data : "", order, order);
	if (q->limit) {
		buf_addf(&head, " LIMIT $%zu", w->n + 1);
		w->v[w->n++] = db_value_int(q->limit > INT32_MAX ? INT32_MAX : (int64_t)q->limit);
	}
	head.failed |= w->sql.failed;
	buf_release(&w->sql);
	w->sql = head;
}

/* Room for one more of @size bytes behind @n. */
static int grow(void **array, size_t n, size_t size, struct err *err)
{
	void *p;

	if (n & (n - 1) || (n && n < 16))	/* it is doubled at powers of two from 16 on */
		return 0;
	p = reallocarray(*array, n ? 2 * n : 16, size);
	if (!p)
		return err_sys(err, ENOMEM, "cannot read the store");
	*array = p;
	return 0;
}

static int take_bench(struct store_benches *list, struct db_stmt *st, struct err *err)
{
	struct store_bench *b;
	int r = grow((void **)&list->bench, list->n, sizeof(*b), err);

	if (r)
		return r;
	b = &list->bench[list->n];
	memset(b, 0, sizeof(*b));
	b->key = db_int(st, 0);
	b->runs = (uint64_t)db_int(st, 1);
	r = fields_read(store_bench_fields, BENCH_FIELDS, st, 2, b, &list->text, err);
	if (!r)
		r = fields_read(store_machine_fields, MACHINE_FIELDS, st, 2 + BENCH_FIELDS,
				&b->machine, &list->text, err);
	if (!r)
		list->n++;
	return r;
}

int store_select(struct store *s, const struct store_query *q, struct store_benches *list,
		 struct err *err)
{
	struct db_stmt *st = NULL;
	struct where w = { 0 };
	int r = add_conditions(&w, q, err);

	memset(list, 0, sizeof(*list));
	if (!r) {
		select_sql(&w, q);
		if (w.sql.failed)
			r = err_sys(err, ENOMEM, "store %s", s->db->name);
	}
	if (!r) {
		st = db_start(s->db, w.sql.data, w.v, w.n, err);
		r = st ? 0 : -err->code;
	}
	while (!r && (r = db_step(st, err)) > 0)
		r = take_bench(list, st, err);
	db_stop(st);
	where_release(&w);
	if (r)
		store_benches_release(list);
	return r;
}

void store_benches_release(struct store_benches *list)
{
	free(list->bench);
	text_free(list->text);
	memset(list, 0, sizeof(*list));
}

static int take_label(struct store_labels *list, struct db_stmt *st, struct err *err)
{
	struct store_label *l;
	const char *name;
	size_t n;
	int r = grow((void **)&list->label, list->n, sizeof(*l), err);

	if (r)
		return r;
	name = db_bytes(st, 0, &n);
	l = &list->label[list->n];
	l->name = text_keep(&list->text, name, n);
	if (!l->name)
		return err_sys(err, ENOMEM, "cannot read the store");
	l->benches = (uint64_t)db_int(st, 1);
	l->last_ns = (uint64_t)db_int(st, 2);
	list->n++;
	return 0;
}

int store_labels(struct store *s, struct store_labels *list, struct err *err)
{
	struct db_stmt *st = db_start(s->db, "SELECT label, count(*), max(when_ns) FROM bench"
				      " GROUP BY label ORDER BY max(when_ns) DESC, label", NULL, 0,
				      err);
	int r = st ? 0 : -err->code;

	memset(list, 0, sizeof(*list));
	while (!r && (r = db_step(st, err)) > 0)
		r = take_label(list, st, err);
	db_stop(st);
	if (r)
		store_labels_release(list);
	return r;
}

void store_labels_release(struct store_labels *list)
{
	free(list->label);
	text_free(list->text);
	memset(list, 0, sizeof(*list));
}

/* In a transaction: how many @w names, and then without them. */
static int delete_benches(struct db *db, struct where *w, uint64_t *benches, struct err *err)
{
	struct buf sql = BUF_INIT;
	int64_t n = 0;
	int r;

	buf_addf(&sql, "SELECT count(*) FROM bench b%s", w->sql.data);
	r = sql.failed ? err_sys(err, ENOMEM, "store %s", db->name) :
			 db_run_int(db, sql.data, w->v, w->n, &n, err);
	buf_reset(&sql);
	buf_addf(&sql, "DELETE FROM bench AS b%s", w->sql.data);
	if (r >= 0)
		r = sql.failed ? err_sys(err, ENOMEM, "store %s", db->name) :
				 db_run(db, sql.data, w->v, w->n, err);
	buf_release(&sql);
	*benches = (uint64_t)n;
	return r < 0 ? r : 0;
}

int store_forget(struct store *s, const struct store_query *q, uint64_t *benches, struct err *err)
{
	struct where w = { 0 };
	int r = add_conditions(&w, q, err);

	*benches = 0;
	if (!r && !w.n)
		r = err_set(err, EINVAL, "no bench is named that could be deleted");
	if (!r)
		r = db_begin_write(s->db, err);
	if (!r) {
		r = delete_benches(s->db, &w, benches, err);
		if (!r)
			r = db_commit(s->db, err);
		else
			db_rollback(s->db);
	}
	where_release(&w);
	return r;
}
