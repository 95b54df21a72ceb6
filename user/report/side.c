/* SPDX-License-Identifier: MIT */
#include "report/side.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/values.h"
#include "store/text.h"

#define ID_LEAST 6	/* digits from which a word may be an id or a commit */

/* ---- a file ---- */

static int by_metric(const void *a, const void *b)
{
	const struct store_column *x = a, *y = b;

	return strcmp(x->metric, y->metric);
}

static struct store_column *column_for(struct store_columns *c, const struct store_value *v)
{
	struct store_column *grown, *to;
	size_t i;

	for (i = 0; i < c->columns; i++)
		if (!strcmp(c->column[i].metric, v->metric))
			return &c->column[i];
	grown = realloc(c->column, (c->columns + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	c->column = grown;
	to = &grown[c->columns];
	*to = (struct store_column){
		.metric = text_keep(&c->text, v->metric, strlen(v->metric)),
		.unit = text_keep(&c->text, v->unit, strlen(v->unit)),
		.kind = v->kind, .value = calloc(c->runs + 1, sizeof(double)),
	};
	c->columns++;
	if (!to->metric || !to->unit || !to->value)
		return NULL;
	for (i = 0; i < c->runs; i++)
		to->value[i] = NAN;
	return to;
}

int side_columns(const struct import_bench *b, struct store_columns *c, struct err *err)
{
	struct store_column *column;
	size_t i, j;

	memset(c, 0, sizeof(*c));
	c->run = calloc(b->runs + 1, sizeof(*c->run));
	if (!c->run)
		return err_sys(err, ENOMEM, "cannot take the runs");
	c->runs = b->runs;
	for (i = 0; i < b->runs; i++) {
		c->run[i] = b->run[i].run;
		c->run[i].key = (int64_t)i;
		for (j = 0; j < b->run[i].values; j++) {
			column = column_for(c, &b->run[i].value[j]);
			if (!column) {
				store_columns_release(c);
				return err_sys(err, ENOMEM, "cannot take the runs");
			}
			column->value[i] = b->run[i].value[j].value;
			column->known++;
		}
	}
	qsort(c->column, c->columns, sizeof(*c->column), by_metric);
	return 0;
}

int side_measure(struct import *imp, struct err *err)
{
	struct import_run *run = &imp->bench[0].run[0];
	struct values v;
	size_t i;
	int r;

	if (!imp->summary)
		return 0;
	r = values_of(&v, NULL, &imp->summary->s);
	if (!r)
		run->value = calloc(v.n + 1, sizeof(*run->value));
	if (!run->value)
		r = -ENOMEM;
	for (i = 0; !r && i < v.n; i++) {
		run->value[i] = v.value[i];
		run->value[i].metric = text_keep(&imp->text, v.value[i].metric,
						 strlen(v.value[i].metric));
		run->values++;
		r = run->value[i].metric ? 0 : -ENOMEM;
	}
	values_release(&v);
	return r ? err_sys(err, ENOMEM, "cannot take the runs") : 0;
}

static int file_detail(void *ctx, int64_t key, struct buf *out, struct err *err)
{
	struct side *s = ctx;
	const struct import_run *run = NULL;
	size_t i;

	for (i = 0; i < s->imp.benches; i++)
		if (&s->imp.bench[i].bench == s->bench)
			run = &s->imp.bench[i].run[key];
	if (!run || !run->detail)
		return -ENOENT;
	return buf_add(out, run->detail, run->detail_len) ?
		err_sys(err, ENOMEM, "cannot read the summary") : 0;
}

/* "FILE#2": cuts the number off; 0: none. */
static size_t cut_number(char *name, char mark)
{
	char *at = strrchr(name, mark), *end;
	unsigned long n;

	if (!at || at[1] < '0' || at[1] > '9')
		return 0;
	n = strtoul(at + 1, &end, 10);
	if (*end)
		return 0;
	*at = '\0';
	return n;
}

static int find_in_file(struct side *s, struct err *err)
{
	size_t n = access(s->name, F_OK) ? cut_number(s->label, '#') : 0;
	int r = import_file(s->label, &s->imp, err);

	if (r)
		return r;
	s->from_file = true;
	r = side_measure(&s->imp, err);
	if (r)
		return r;
	if (n > s->imp.benches)
		return err_set(err, ENOENT, "%s has %zu benches, not %zu", s->label,
			       s->imp.benches, n);
	if (!n && s->imp.benches > 1) {
		err_set(err, EINVAL, "%s has %zu benches", s->label, s->imp.benches);
		err_hint(err, "name one of them: %s#1 to %s#%zu", s->label, s->label,
			 s->imp.benches);
		return -EINVAL;
	}
	s->bench = &s->imp.bench[n ? n - 1 : 0].bench;
	return side_columns(&s->imp.bench[n ? n - 1 : 0], &s->columns, err);
}

/* ---- the store ---- */

/*
 * The @back-th before the newest of the list that is whole, else of those that have runs;
 * NULL: there is none.
 */
static struct store_bench *newest(struct store_benches *list, size_t back)
{
	size_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		size_t skip = back;

		for (i = 0; i < list->n; i++) {
			struct store_bench *b = &list->bench[i];

			if (b->runs && (pass || b->runs >= b->planned) && !skip--)
				return b;
		}
	}
	return NULL;
}

static int try_query(struct side *s, const struct store_query *q, size_t back, struct err *err)
{
	int r;

	store_benches_release(&s->list);
	s->list = (struct store_benches){ 0 };
	r = store_select(s->store, q, &s->list, err);
	if (!r)
		s->bench = newest(&s->list, back);
	return r;
}

static bool may_be_hex(const char *s)
{
	size_t n = strlen(s);

	return n >= ID_LEAST && n <= 64 && strspn(s, "0123456789abcdefABCDEF") == n;
}

static int find_in_store(struct side *s, struct err *err)
{
	const struct store_query whole = { .label = s->name };
	size_t back;
	int r = try_query(s, &whole, 0, err);

	if (r || s->bench)
		return r;
	back = cut_number(s->label, '~');
	if (strcmp(s->label, s->name))
		r = try_query(s, &(struct store_query){ .label = s->label }, back, err);
	if (!r && !s->bench && may_be_hex(s->label))
		r = try_query(s, &(struct store_query){ .id = s->label }, back, err);
	if (!r && !s->bench && may_be_hex(s->label))
		r = try_query(s, &(struct store_query){ .commit = s->label }, back, err);
	return r;
}

static bool looks_like_file(const char *name)
{
	const char *dot = strrchr(name, '.');

	return strchr(name, '/') ||
	       (dot && (!strncmp(dot, ".json", 5) || !strncmp(dot, ".txt", 4)));
}

static int not_found(const struct side *s, struct err *err)
{
	int r = err_set(err, ENOENT, "'%s' is no label, bench or commit with runs%s%s, and no file",
			s->name, s->store ? " in " : "", s->store ? store_name(s->store) : "");

	if (s->store)
		err_hint(err, "'tracer report --list --store %s' shows what there is",
			 store_name(s->store));
	else
		err_hint(err, "'tracer bench -l %s -- COMMAND' makes one", s->name);
	return r;
}

int side_find(struct side *s, struct store *store, const char *name, struct err *err)
{
	int r = 0;

	memset(s, 0, sizeof(*s));
	s->name = name;
	s->store = store;
	s->label = strdup(name);
	if (!s->label)
		return err_sys(err, ENOMEM, "cannot look for '%s'", name);
	/* Branches have names like files, and are labels: feature/x.txt. */
	if (store)
		r = find_in_store(s, err);
	if (r)
		return r;
	if (s->bench)
		return store_load(store, s->bench, 1, NULL, &s->columns, err);
	return access(name, F_OK) && !looks_like_file(name) ? not_found(s, err) :
							      find_in_file(s, err);
}

static int stored_detail(void *ctx, int64_t key, struct buf *out, struct err *err)
{
	struct side *s = ctx;

	return store_detail(s->store, key, out, err);
}

struct regress_input side_input(struct side *s)
{
	return (struct regress_input){
		.name = s->name, .bench = s->bench, .columns = &s->columns,
		.detail = s->from_file ? file_detail : stored_detail, .ctx = s,
	};
}

void side_release(struct side *s)
{
	store_columns_release(&s->columns);
	store_benches_release(&s->list);
	if (s->from_file)
		import_release(&s->imp);
	free(s->label);
	memset(s, 0, sizeof(*s));
}
