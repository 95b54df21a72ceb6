/* SPDX-License-Identifier: MIT */
#include "store/fields.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

void fields_list(struct buf *sql, const char *prefix, const struct field *f, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_addf(sql, "%s%s%s", i ? ", " : "", prefix, f[i].column);
}

static int bind_text(const struct field *f, const char *s, struct db_value *v, struct err *err)
{
	int r = text_check(f->column, s, err);

	if (r)
		return r;
	if (f->type == FIELD_CHARS && !text_is_hex(s))
		return err_set(err, EINVAL, "the %s is not of lower-case hex digits", f->column);
	*v = db_value_text(s);
	return 0;
}

static int bind(const struct field *f, const void *p, struct db_value *v, struct err *err)
{
	uint64_t u;

	switch (f->type) {
	case FIELD_TEXT:
		return bind_text(f, *(const char *const *)p, v, err);
	case FIELD_CHARS:
		return bind_text(f, p, v, err);
	case FIELD_U64:
		u = *(const uint64_t *)p;
		if (u > INT64_MAX)
			return err_set(err, EINVAL, "the %s is above 2^63 - 1", f->column);
		*v = db_value_int((int64_t)u);
		break;
	case FIELD_I64:
		*v = db_value_int(*(const int64_t *)p);
		break;
	case FIELD_INT:
		*v = db_value_int(*(const int *)p);
		break;
	case FIELD_BOOL:
		*v = db_value_int(*(const bool *)p);
		break;
	case FIELD_REAL:
		*v = db_value_real(*(const double *)p);
		break;
	case FIELD_NAME:
		*v = db_value_text(f->names[*(const unsigned int *)p]);
		break;
	}
	return 0;
}

int fields_bind(const struct field *f, size_t n, const void *object, struct db_value *v,
		struct err *err)
{
	size_t i;
	int r;

	for (i = 0; i < n; i++) {
		r = bind(&f[i], (const char *)object + f[i].offset, &v[i], err);
		if (r)
			return r;
	}
	return 0;
}

static void insert_sql(struct buf *sql, const char *table, const struct field *f, size_t n,
		       const char *tail)
{
	size_t i;

	buf_addf(sql, "INSERT INTO %s (", table);
	fields_list(sql, "", f, n);
	buf_adds(sql, ") VALUES (");
	for (i = 0; i < n; i++)
		buf_addf(sql, "%s$%zu", i ? ", " : "", i + 1);
	buf_addf(sql, ") %s", tail);
}

int fields_insert(struct db *db, const char *table, const struct field *f, size_t n,
		  const void *object, const char *tail, int64_t *key, struct err *err)
{
	struct db_value v[FIELDS_MAX];
	struct buf sql = BUF_INIT;
	int r = fields_bind(f, n, object, v, err);

	if (r)
		return r;
	insert_sql(&sql, table, f, n, tail);
	r = sql.failed ? err_sys(err, ENOMEM, "store %s", db->name) :
			 db_run_int(db, sql.data, v, n, key, err);
	buf_release(&sql);
	return r;
}

static int damaged(const struct field *f, struct err *err)
{
	return err_set(err, EBADMSG, "the store is damaged: a %s that no tracer wrote", f->column);
}

static int read_name(const struct field *f, const char *s, unsigned int *value, struct err *err)
{
	unsigned int i;

	for (i = 0; f->names[i]; i++) {
		if (!strcmp(f->names[i], s)) {
			*value = i;
			return 0;
		}
	}
	return damaged(f, err);
}

static int read_bytes(const struct field *f, struct db_stmt *st, int column, void *p,
		      struct text_block **pool, struct err *err)
{
	size_t n;
	const char *s = db_bytes(st, column, &n);

	if (f->type == FIELD_NAME)
		return read_name(f, s, p, err);
	if (f->type == FIELD_CHARS) {
		if (n >= f->size || !text_is_hex(s))
			return damaged(f, err);
		memcpy(p, s, n);
		((char *)p)[n] = '\0';
		return 0;
	}
	s = text_keep(pool, s, n);
	if (!s)
		return err_sys(err, ENOMEM, "cannot read the store");
	*(const char **)p = s;
	return 0;
}

static int read_int(const struct field *f, int64_t i, void *p, struct err *err)
{
	switch (f->type) {
	case FIELD_U64:
		if (i < 0)
			return damaged(f, err);
		*(uint64_t *)p = (uint64_t)i;
		break;
	case FIELD_INT:
		if (i < INT_MIN || i > INT_MAX)
			return damaged(f, err);
		*(int *)p = (int)i;
		break;
	case FIELD_BOOL:
		*(bool *)p = i != 0;
		break;
	default:
		*(int64_t *)p = i;
	}
	return 0;
}

int fields_read(const struct field *f, size_t n, struct db_stmt *st, int column, void *object,
		struct text_block **pool, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < n; i++, column++) {
		void *p = (char *)object + f[i].offset;

		switch (f[i].type) {
		case FIELD_TEXT:
		case FIELD_CHARS:
		case FIELD_NAME:
			r = read_bytes(&f[i], st, column, p, pool, err);
			break;
		case FIELD_REAL:
			*(double *)p = db_real(st, column);
			break;
		default:
			r = read_int(&f[i], db_int(st, column), p, err);
		}
	}
	return r;
}
