/* SPDX-License-Identifier: MIT */
#ifndef IMPORT_PROMISES_H
#define IMPORT_PROMISES_H

/* What report/import.h promises of any bytes at all; abort() where it is not kept. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/import.h"
#include "store/text.h"

static void promise(bool kept)
{
	if (!kept)
		abort();
}

static void promise_text(const char *s)
{
	struct err err = { 0 };

	promise(!text_check("text", s, &err));
}

static void promise_bench(const struct store_bench *b)
{
	const char *const texts[] = {
		b->label, b->argv, b->cwd, b->commit, b->tracer, b->source, b->machine.cpu_model,
		b->machine.governor, b->machine.kernel, b->machine.vendor,
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		promise_text(texts[i]);
	promise(text_is_hex(b->commit));
	promise(b->argv[0] == '[' && b->argv[strlen(b->argv) - 1] == ']');
}

static void promise_values(const struct import_run *r)
{
	size_t i, k;

	for (i = 0; i < r->values; i++) {
		const struct store_value *v = &r->value[i];

		promise(v->metric[0] && v->value >= 0 && isfinite(v->value));
		promise(v->kind == STORE_COUNT || v->kind == STORE_TIME);
		promise_text(v->metric);
		promise_text(v->unit);
		for (k = 0; k < i && k < 64; k++)
			promise(strcmp(v->metric, r->value[k].metric) != 0);
	}
}

static void promise_import(const struct import *imp)
{
	size_t i, k, runs = 0, values = 0;

	promise(imp->benches && imp->runs);
	for (i = 0; i < imp->benches; i++) {
		const struct import_bench *b = &imp->bench[i];

		promise_bench(&b->bench);
		for (k = 0; k < b->runs; k++) {
			promise(b->run[k].run.order == k);
			promise_values(&b->run[k]);
			values += b->run[k].values;
		}
		runs += b->runs;
	}
	promise(runs == imp->runs && values == imp->values);
	promise(values || imp->summary);
	promise(!imp->skipped == !imp->skipped_why);
}

__attribute__((unused)) static void import_promises(const char *text, size_t len)
{
	struct err err = { 0 };
	struct import imp;

	if (import_text(text, len, &imp, &err)) {
		promise(err.msg[0] && !imp.bench && !imp.text && !imp.summary);
		return;
	}
	promise_import(&imp);
	import_release(&imp);
}

#endif
