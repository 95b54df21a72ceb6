/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_IMPORT_H
#define FIXTURE_IMPORT_H

/* Reading results of other tools, and looking at what came of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "base/io.h"
#include "report/import.h"

/* A file of the fuzzers' corpus: those named after versions are as these versions write them. */
__attribute__((unused)) static void import_corpus(const char *name, struct buf *text)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/fuzz/corpus/%s", name);
	*text = (struct buf)BUF_INIT;
	if (io_read_file(path, text, 1 << 20))
		fail_msg("%s: cannot be read (run from the top of the tree)", path);
}

__attribute__((unused)) static void import_good(struct import *imp, const char *text)
{
	struct err err = { 0 };

	if (import_text(text, strlen(text), imp, &err))
		fail_msg("%s", err.msg);
}

__attribute__((unused)) static void import_good_corpus(struct import *imp, const char *name)
{
	struct err err = { 0 };
	struct buf text;

	import_corpus(name, &text);
	if (import_text(text.data, text.len, imp, &err))
		fail_msg("%s: %s", name, err.msg);
	buf_release(&text);
}

/* Refused with @code and a message that has @words in it. */
__attribute__((unused)) static void import_bad(const char *text, int code, const char *words)
{
	struct err err = { 0 };
	struct import imp;

	if (import_text(text, strlen(text), &imp, &err) != -code)
		fail_msg("%.200s: code %d, '%s'", text, err.code, err.msg);
	if (!strstr(err.msg, words))
		fail_msg("%.200s: '%s' lacks '%s'", text, err.msg, words);
	assert_null(imp.bench);
	assert_null(imp.text);
}

/* The value of @metric in run @run of bench @bench; NULL: it has none. */
__attribute__((unused)) static const struct store_value *
import_find(const struct import *imp, size_t bench, size_t run, const char *metric)
{
	const struct import_run *r = &imp->bench[bench].run[run];
	size_t i;

	assert_true(bench < imp->benches && run < imp->bench[bench].runs);
	for (i = 0; i < r->values; i++)
		if (!strcmp(r->value[i].metric, metric))
			return &r->value[i];
	return NULL;
}

/* Whether it is @want, to within what a double rounds. */
__attribute__((unused)) static void import_value(const struct import *imp, size_t bench,
						 size_t run, const char *metric, double want)
{
	const struct store_value *v = import_find(imp, bench, run, metric);

	if (!v)
		fail_msg("run %zu has no %s", run, metric);
	if (fabs(v->value - want) > 1e-12 * want)
		fail_msg("%s of run %zu is %.17g, not %.17g", metric, run, v->value, want);
}

#endif
