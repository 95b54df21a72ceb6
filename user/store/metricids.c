/* SPDX-License-Identifier: MIT */
#include "store/metricids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = { [STORE_COUNT] = "count", [STORE_TIME] = "time", NULL };

static const struct field metric_fields[] = {
	{ "name", FIELD_TEXT, offsetof(struct metric, name), 0, NULL },
	{ "unit", FIELD_TEXT, offsetof(struct metric, unit), 0, NULL },
	{ "kind", FIELD_NAME, offsetof(struct metric, kind), 0, kinds },
};

#define FIELDS (sizeof(metric_fields) / sizeof(*metric_fields))

void metrics_release(struct metrics *list)
{
	free(list->metric);
	text_free(list->pool);
	memset(list, 0, sizeof(*list));
}

/* The index of the first whose name is not before @name. */
static size_t place_of(const struct metrics *list, const char *name)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(list->metric[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct metric *metrics_find(const struct metrics *list, const char *name)
{
	size_t i = place_of(list, name);

	return i < list->n && !strcmp(list->metric[i].name, name) ? &list->metric[i] : NULL;
}

static const struct metric *insert(struct metrics *list, const struct metric *m)
{
	size_t i = place_of(list, m->name);

	if (list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct metric *p = reallocarray(list->metric, room, sizeof(*p));

		if (!p)
			return NULL;
		list->metric = p;
		list->room = room;
	}
	memmove(&list->metric[i + 1], &list->metric[i], (list->n - i) * sizeof(*m));
	list->metric[i] = *m;
	list->n++;
	return &list->metric[i];
}

/* The metric of @st's row: its key and its fields. */
static const struct metric *take_row(struct metrics *list, struct db_stmt *st, struct err *err)
{
	const struct metric *m;
	struct metric row;

	row.key = db_int(st, 0);
	if (fields_read(metric_fields, FIELDS, st, 1, &row, &list->pool, err))
		return NULL;
	m = insert(list, &row);
	if (!m)
		err_sys(err, ENOMEM, "cannot read the store");
	return m;
}

int metrics_read(struct metrics *list, struct db *db, struct err *err)
{
	struct db_stmt *st = db_start(db, "SELECT key, name, unit, kind FROM metric", NULL, 0, err);
	int r;

	if (!st)
		return -err->code;
	metrics_release(list);
	while ((r = db_step(st, err)) > 0) {
		if (!take_row(list, st, err)) {
			r = -err->code;
			break;
		}
	}
	db_stop(st);
	return r;
}

/* The row of @name, which is there, into @list. */
static const struct metric *read_one(struct metrics *list, struct db *db, const char *name,
				     struct err *err)
{
	const struct db_value v = db_value_text(name);
	const struct metric *m = NULL;
	struct db_stmt *st = db_start(db, "SELECT key, name, unit, kind FROM metric"
				      " WHERE name = $1", &v, 1, err);
	int r;

	if (!st)
		return NULL;
	r = db_step(st, err);
	if (r > 0)
		m = take_row(list, st, err);
	else if (!r)
		err_set(err, EIO, "store %s: metric %s is gone", db->name, name);
	db_stop(st);
	return m;
}

static const struct metric *add(struct metrics *list, struct db *db, const struct store_value *v,
				struct err *err)
{
	const struct metric m = { .name = v->metric, .unit = v->unit, .kind = v->kind };
	const char *lock = db->backend->words.lock;
	int64_t key;

	/* Two that add the same metrics in another order each would wait for one another. */
	if (lock && db_exec(db, lock, err))
		return NULL;
	/* Another process may have added it, and with its own unit. */
	if (fields_insert(db, "metric", metric_fields, FIELDS, &m,
			  "ON CONFLICT (name) DO NOTHING RETURNING key", &key, err) < 0)
		return NULL;
	return read_one(list, db, v->metric, err);
}

int metrics_intern(struct metrics *list, struct db *db, const struct store_value *v,
		   const struct metric **found, struct err *err)
{
	const struct metric *m;

	if (!v->metric || !v->metric[0] || !v->unit)
		return err_set(err, EINVAL, "a metric has no name or no unit");
	m = metrics_find(list, v->metric);
	if (!m)
		m = add(list, db, v, err);
	if (!m)
		return -err->code;
	if (strcmp(m->unit, v->unit) != 0 || m->kind != v->kind) {
		err_set(err, EINVAL, "metric %s is a %s in '%s', and store %s has it as a %s in "
			"'%s'", v->metric, kinds[v->kind], v->unit, db->name, kinds[m->kind],
			m->unit);
		err_hint(err, "name another store with --store");
		return -EINVAL;
	}
	*found = m;
	return 0;
}
