/* SPDX-License-Identifier: MIT */
#include "fixture_import.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out_text.h"

/* A file with @text in it, last changed @seconds after 1970. */
static void make_file(char path[64], const char *text, time_t seconds)
{
	const struct timespec when[2] = { { seconds, 0 }, { seconds, 500 } };
	int fd;

	strcpy(path, "/tmp/tracer-import-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	assert_int_equal(futimens(fd, when), 0);
	close(fd);
}

static void a_file_without_a_date_has_that_of_its_last_change(void **state)
{
	struct err err = { 0 };
	struct import imp;
	char path[64];

	(void)state;
	make_file(path, "BenchmarkX 1 2 ns/op\n", 1500000000);
	assert_int_equal(import_file(path, &imp, &err), 0);
	assert_true(imp.bench[0].bench.when_ns == 1500000000ull * 1000000000 + 500);
	import_release(&imp);
	unlink(path);
}

static void errors_name_the_file(void **state)
{
	struct err err = { 0 };
	struct import imp;
	char path[64], words[128];

	(void)state;
	make_file(path, "{\n \"results\": [1]}", 0);
	assert_int_equal(import_file(path, &imp, &err), -EINVAL);
	snprintf(words, sizeof(words), "cannot read %s: line 2, column 14: results[0]: expected",
		 path);
	assert_non_null(strstr(err.msg, words));
	assert_non_null(strstr(err.hint, "hyperfine --export-json"));
	unlink(path);
	assert_int_equal(import_file(path, &imp, &err), -ENOENT);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(import_file("/", &imp, &err), -EISDIR);
}

static void what_is_too_large_is_not_read(void **state)
{
	struct err err = { 0 };
	struct import imp;
	char path[64];

	(void)state;
	make_file(path, "", 0);
	/* A file with a hole: it takes no room. */
	assert_int_equal(truncate(path, (off_t)IMPORT_FILE_BYTES + 1), 0);
	assert_int_equal(import_file(path, &imp, &err), -EFBIG);
	assert_non_null(strstr(err.msg, "it has more than 256 MiB"));
	unlink(path);
}

#define RESULTS "\"results\": [{\"command\": \"a\", \"times\": [1]}]"

static void the_content_tells_the_format(void **state)
{
	static const struct { const char *text, *source; } rows[] = {
		{ " {\"x\": [{\"schema\": 1}], " RESULTS "}", "hyperfine" },
		{ "\xef\xbb\xbf{" RESULTS "}", "hyperfine" },
		{ "\xef\xbb\xbf" "BenchmarkX 1 2 ns/op\r\n", "benchstat" },
		{ "\nBenchmarkX 1 2 ns/op\n", "benchstat" },
		{ "{\"schema\": \"tracer.summary/1\", \"mode\": \"wait\", \"results\": 1}", "run" },
	};
	struct import imp;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		import_good(&imp, rows[i].text);
		assert_string_equal(imp.bench[0].bench.source, rows[i].source);
		import_release(&imp);
	}
	import_bad("", EINVAL, "it is empty");
	import_bad(" \r\n\t", EINVAL, "it is empty");
	import_bad("[]", EINVAL, "line 1, column 1: expected an object, not an array");
	import_bad("{}", EINVAL, "it has no 'results' as hyperfine's, and no 'schema' as tracer's");
	import_bad("{\"a\": ", EINVAL, "line 1, column 7: it ends too soon");
	import_bad("{\"schema\": \"tracer.top/1\"}", EINVAL, "schema: it is 'tracer.top/1'");
	import_bad("{\"schema\": \"tracer.summary/9\"}", EPROTO, "it is 'tracer.summary/9'");
}

static void a_summary_is_a_run_whose_values_are_to_come(void **state)
{
	const struct out_opts opts = OUT_OPTS_INIT;
	const struct import_bench *b;
	struct import imp;
	struct summary s;
	struct buf text;

	(void)state;
	fixture_rich(&s);
	out_text("json", &s, &opts, &text);
	import_good(&imp, text.data);
	assert_int_equal(imp.benches, 1);
	assert_int_equal(imp.runs, 1);
	assert_int_equal(imp.values, 0);
	b = &imp.bench[0];
	assert_string_equal(b->bench.tracer, s.tracer_version);
	assert_string_equal(b->bench.argv, "[\"/opt/orders/bin/orders\", \"--workers\", \"8\", "
			    "\"--filter\", \"status = 'open'\", \"data/2024.csv\"]");
	assert_true(b->bench.when_ns == s.started_realtime_ns);
	assert_int_equal(b->run[0].run.exit_code, s.exit_code);
	assert_int_equal(b->run[0].detail_len, text.len);
	assert_string_equal(b->run[0].detail, text.data);
	assert_non_null(imp.summary);
	assert_int_equal(imp.summary->s.nlock, s.nlock);
	import_release(&imp);
	buf_release(&text);
	summary_release(&s);
}

/* The runs of @b in @store have its values, each in a column of its metric. */
static void same_columns(struct store *store, const struct import_bench *b)
{
	struct store_columns c;
	struct err err = { 0 };
	size_t i, k, n = 0, known = 0;

	assert_int_equal(store_load(store, &b->bench, 1, NULL, &c, &err), 0);
	assert_int_equal(c.runs, b->runs);
	for (i = 0; i < b->runs; i++)
		n += b->run[i].values;
	for (k = 0; k < c.columns; k++)
		known += c.column[k].known;
	assert_int_equal(known, n);
	for (k = 0; k < c.columns; k++)
		if (!strcmp(c.column[k].metric, b->run[0].value[0].metric))
			assert_true(c.column[k].value[0] == b->run[0].value[0].value);
	store_columns_release(&c);
}

static void store_all(struct store *store, struct import *imp)
{
	struct err err = { 0 };
	size_t i, k;

	for (i = 0; i < imp->benches; i++) {
		struct import_bench *b = &imp->bench[i];

		if (store_add_bench(store, &b->bench, &err))
			fail_msg("%s", err.msg);
		for (k = 0; k < b->runs; k++) {
			struct import_run *r = &b->run[k];
			const struct store_measured m = {
				r->value, r->values, r->detail, r->detail_len
			};

			if (store_add_run(store, &b->bench, &r->run, &m, &err))
				fail_msg("%s", err.msg);
		}
		if (b->run[0].values)
			same_columns(store, b);
	}
}

static void remove_store(const char *dir, const char *where)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[80];
	size_t i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(path, sizeof(path), "%s%s", where, ends[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(dir), 0);
}

/* All that is imported goes into a store as it is, and comes out of it again. */
static void the_store_takes_what_was_read(void **state)
{
	static const char *const names[] = {
		"hyperfine/v1.10", "hyperfine/v1.15", "hyperfine/v1.20", "hyperfine/hostile",
		"gobench/count", "gobench/packages", "gobench/units", "gobench/hostile",
		"sumread/rich", "sumread/hostile",
	};
	char path[] = "/tmp/tracer-import-XXXXXX", where[64];
	struct err err = { 0 };
	struct store *store;
	struct import imp;
	size_t i;

	(void)state;
	assert_non_null(mkdtemp(path));
	snprintf(where, sizeof(where), "%s/runs.db", path);
	store = store_open(where, STORE_CREATE, &err);
	if (!store)
		fail_msg("%s", err.msg);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		import_good_corpus(&imp, names[i]);
		store_all(store, &imp);
		import_release(&imp);
	}
	store_close(store);
	remove_store(path, where);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_without_a_date_has_that_of_its_last_change),
		cmocka_unit_test(errors_name_the_file),
		cmocka_unit_test(what_is_too_large_is_not_read),
		cmocka_unit_test(the_content_tells_the_format),
		cmocka_unit_test(a_summary_is_a_run_whose_values_are_to_come),
		cmocka_unit_test(the_store_takes_what_was_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
