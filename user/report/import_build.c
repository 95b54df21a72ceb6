/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "report/import_impl.h"
#include "store/text.h"

static int no_memory(struct err *err)
{
	return err_sys(err, ENOMEM, "cannot keep what is in it");
}

/* Room for twice as many at each power of two. */
int import_grow(void **rows, size_t n, size_t size, struct err *err)
{
	void *p;

	if (n & (n - 1))
		return 0;
	p = reallocarray(*rows, n ? n * 2 : 1, size);
	if (!p)
		return no_memory(err);
	*rows = p;
	return 0;
}

struct import_bench *import_add_bench(struct import *imp, const char *source, struct err *err)
{
	void *rows = imp->bench;
	struct import_bench *b;

	if (imp->benches == IMPORT_BENCHES) {
		err_set(err, EFBIG, "it has more than %zu benchmarks", IMPORT_BENCHES);
		return NULL;
	}
	if (import_grow(&rows, imp->benches, sizeof(*b), err))
		return NULL;
	imp->bench = rows;
	b = &imp->bench[imp->benches++];
	memset(b, 0, sizeof(*b));
	b->bench = (struct store_bench){
		.label = "", .argv = "[]", .cwd = "", .commit = "", .tracer = "",
		.source = source, .mode = "", .load = NAN, .steal = NAN,
		.machine = { .cpu_model = "", .governor = "", .kernel = "", .vendor = "" },
	};
	return b;
}

struct import_run *import_add_run(struct import *imp, struct import_bench *b, struct err *err)
{
	void *rows = b->run;
	struct import_run *r;

	if (imp->runs == IMPORT_RUNS) {
		err_set(err, EFBIG, "it has more than %zu runs", IMPORT_RUNS);
		return NULL;
	}
	if (import_grow(&rows, b->runs, sizeof(*r), err))
		return NULL;
	b->run = rows;
	r = &b->run[b->runs];
	memset(r, 0, sizeof(*r));
	r->run.order = b->runs++;
	imp->runs++;
	return r;
}

int import_add_value(struct import *imp, struct import_run *run, const struct store_value *v,
		     struct err *err)
{
	void *rows = run->value;
	int e;

	if (imp->values == IMPORT_VALUES)
		return err_set(err, EFBIG, "it has more than %zu values", IMPORT_VALUES);
	e = import_grow(&rows, run->values, sizeof(*v), err);
	if (e)
		return e;
	run->value = rows;
	run->value[run->values++] = *v;
	imp->values++;
	return 0;
}

int import_keep(struct import *imp, const char *s, size_t n, const char **kept, struct err *err)
{
	const char *copy = text_keep(&imp->text, s, n);

	if (!copy)
		return no_memory(err);
	*kept = copy;
	return 0;
}

int import_keep_argv(struct import *imp, char *const *word, size_t n, const char **kept,
		     struct err *err)
{
	struct buf b = { .max = STORE_TEXT_MAX };
	size_t i;
	int e;

	buf_addc(&b, '[');
	for (i = 0; i < n; i++) {
		buf_adds(&b, i ? ", \"" : "\"");
		escape_json(&b, word[i], strlen(word[i]));
		buf_addc(&b, '"');
	}
	buf_addc(&b, ']');
	e = b.failed ? err_set(err, EFBIG, "its command has more than %zu bytes", STORE_TEXT_MAX) :
		       import_keep(imp, b.data, b.len, kept, err);
	buf_release(&b);
	return e;
}

int import_where(const struct jread *j, struct err *err)
{
	size_t line, column;

	jread_where(j, &line, &column);
	return err_prefix(err, "line %zu, column %zu", line, column);
}

static void release_bench(struct import_bench *b)
{
	size_t i;

	for (i = 0; i < b->runs; i++)
		free(b->run[i].value);
	free(b->run);
}

void import_release(struct import *imp)
{
	size_t i;

	for (i = 0; i < imp->benches; i++)
		release_bench(&imp->bench[i]);
	free(imp->bench);
	if (imp->summary)
		summary_file_release(imp->summary);
	free(imp->summary);
	text_free(imp->text);
	memset(imp, 0, sizeof(*imp));
}
