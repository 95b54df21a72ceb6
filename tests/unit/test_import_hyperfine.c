/* SPDX-License-Identifier: MIT */
#include "fixture_import.h"

#include <errno.h>
#include <unistd.h>

#define ONE(members) "{\"results\": [{\"command\": \"a\", " members "}]}"

static void each_command_is_a_bench_and_each_time_a_run(void **state)
{
	static const char *const labels[] = {
		"sleep 0.001 (n = 1)", "sh -c 'kill -9 $$' (n = 1)",
		"sleep 0.002 (n = 2)", "sh -c 'kill -9 $$' (n = 2)",
	};
	struct import imp;
	size_t i, k;

	(void)state;
	import_good_corpus(&imp, "hyperfine/v1.15");
	assert_int_equal(imp.benches, 4);
	assert_int_equal(imp.runs, 12);
	assert_int_equal(imp.values, 12);
	for (i = 0; i < 4; i++) {
		const struct import_bench *b = &imp.bench[i];

		assert_string_equal(b->bench.label, labels[i]);
		assert_string_equal(b->bench.source, "hyperfine");
		assert_true(isnan(b->bench.load) && isnan(b->bench.steal));
		assert_int_equal(b->runs, 3);
		for (k = 0; k < 3; k++) {
			assert_int_equal(b->run[k].run.order, k);
			assert_int_equal(b->run[k].run.exit_code, i % 2 ? 137 : 0);
			assert_int_equal(b->run[k].run.signal, 0);
			assert_int_equal(b->run[k].values, 1);
			assert_string_equal(b->run[k].value->unit, "ns");
			assert_int_equal(b->run[k].value->kind, STORE_TIME);
		}
	}
	assert_string_equal(imp.bench[1].bench.argv, "[\"sh -c 'kill -9 $$'\"]");
	import_value(&imp, 0, 0, "time.wall", 17336170);
	import_value(&imp, 3, 2, "time.wall", 21599548);
	import_release(&imp);
}

static void older_and_newer_versions_are_read(void **state)
{
	struct import imp;

	(void)state;
	import_good_corpus(&imp, "hyperfine/v1.10");
	assert_int_equal(imp.benches, 1);
	assert_string_equal(imp.bench[0].bench.label, "make -j2");
	assert_int_equal(imp.bench[0].run[1].run.exit_code, 0);
	import_value(&imp, 0, 1, "time.wall", 2.6e9);
	import_release(&imp);
	import_good_corpus(&imp, "hyperfine/v1.20");
	assert_int_equal(imp.benches, 2);
	/* Not memory_usage_byte: what the first command took is also the second's there. */
	assert_int_equal(imp.values, 4);
	import_value(&imp, 1, 0, "time.wall", 0);
	import_value(&imp, 1, 1, "time.wall", 90000);
	import_release(&imp);
}

static void any_name_is_taken(void **state)
{
	struct import imp;

	(void)state;
	import_good_corpus(&imp, "hyperfine/hostile");
	assert_string_equal(imp.bench[0].bench.label,
			    "\033]0;x\a \\ \" (a\033 = <script>, \xf0\x9f\x98\x80 = )");
	assert_string_equal(imp.bench[0].bench.argv, "[\"\\u001b]0;x\\u0007 \\\\ \\\"\"]");
	assert_int_equal(imp.bench[0].run[0].run.exit_code, -1073741510);
	assert_string_equal(imp.bench[1].bench.label, "");
	assert_string_equal(imp.bench[1].bench.argv, "[\"\"]");
	import_release(&imp);
}

static void errors_say_where_and_what(void **state)
{
	static const struct { const char *text, *msg; } rows[] = {
		{ "{\"results\": []}", "line 1, column 14: 'results' is empty" },
		{ "{\"results\": {}}", "line 1, column 13: results: expected an array, not an" },
		{ "{\"results\": [1]}", "results[0]: expected an object, not a number" },
		{ "{\"results\": [{}]}", "results[0]: 'command' is missing" },
		{ "{\n\"results\": [\n{\"command\": 1}]}",
		  "line 3, column 13: results[0].command: expected a string, not a number" },
		{ ONE("\"mean\": 1"), "results[0]: 'times' is missing" },
		{ ONE("\"times\": []"), "results[0]: 'times' is empty" },
		{ ONE("\"times\": null"), "results[0].times: expected an array, not null" },
		{ ONE("\"times\": [1, \"2\"]"),
		  "line 1, column 44: results[0].times[1]: expected a number, not a string" },
		{ ONE("\"times\": [1, -0.5]"), "times[1]: a time is below 0 or too large" },
		{ ONE("\"times\": [1, 1e306]"), "times[1]: a time is below 0 or too large" },
		{ ONE("\"times\": [NaN]"), "times[0]: expected a number" },
		{ ONE("\"times\": [1], \"times\": [1]"),
		  "results[0].times: it stands there twice" },
		{ ONE("\"times\": [1], \"exit_codes\": [0, 0]"),
		  "results[0]: 'times' has 1 elements, and 'exit_codes' 2" },
		{ ONE("\"times\": [1, 1], \"exit_codes\": [0]"),
		  "results[0]: 'times' has 2 elements, and 'exit_codes' 1" },
		{ ONE("\"times\": [1], \"exit_codes\": []"), "'exit_codes' 0" },
		{ ONE("\"times\": [1], \"exit_codes\": [null]"),
		  "results[0].exit_codes[0]: expected a number, not null" },
		{ ONE("\"times\": [1], \"exit_codes\": [2147483648]"), "is out of range" },
		{ ONE("\"times\": [1], \"parameters\": {\"n\": 1}"),
		  "results[0].parameters: expected a string, not a number" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1]}, {\"times\": [1]}]}",
		  "results[1]: 'command' is missing" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1]}], \"results\": []}",
		  "'results' stands there twice" },
		{ ONE("\"times\": [1]") " x", "something follows its end" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		import_bad(rows[i].text, EINVAL, rows[i].msg);
}

/* hyperfine writes its file anew after each command: one that is cut lacks most of it. */
static void a_cut_file_is_an_error_at_each_byte(void **state)
{
	struct import imp;
	struct buf text;
	size_t i;

	(void)state;
	import_corpus("hyperfine/v1.15", &text);
	for (i = 0; i + 1 < text.len; i++) {
		struct err err = { 0 };

		assert_int_equal(import_text(text.data, i, &imp, &err), -EINVAL);
		if (i)
			assert_non_null(strstr(err.msg, "line "));
	}
	buf_release(&text);
}

static void add_many(struct buf *b, const char *what, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		buf_addf(b, "%s%s", i ? "," : "", what);
}

static void what_is_too_much_is_refused(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	buf_adds(&b, "{\"results\": [{\"command\": \"a\", \"times\": [");
	add_many(&b, "0", IMPORT_RUNS + 1);
	buf_adds(&b, "]}]}");
	import_bad(b.data, EFBIG, "results[0].times[1000000]: it has more than 1000000 runs");
	buf_reset(&b);
	buf_adds(&b, "{\"results\": [");
	add_many(&b, "{\"command\": \"a\", \"times\": [1]}", IMPORT_BENCHES + 1);
	buf_adds(&b, "]}");
	import_bad(b.data, EFBIG, "results: it has more than 10000 benchmarks");
	buf_reset(&b);
	buf_adds(&b, "{\"results\": [{\"command\": \"");
	add_many(&b, "a", IMPORT_TEXT_BYTES / 2 + 1);
	buf_adds(&b, "\"}]}");
	import_bad(b.data, EFBIG, "results[0].command: it has more than 262144 bytes");
	buf_release(&b);
}

/* What the hyperfine that is installed writes, if any is. */
static void a_real_file_is_read(void **state)
{
	char path[] = "/tmp/tracer-import-XXXXXX", command[256];
	struct err err = { 0 };
	struct import imp;
	int fd;

	(void)state;
	if (system("command -v hyperfine >/dev/null 2>&1"))
		skip();
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "hyperfine -N -i -r 3 -P n 1 2 --export-json %s "
		 "'sleep 0.00{n}' false >/dev/null 2>&1", path);
	assert_int_equal(system(command), 0);
	if (import_file(path, &imp, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(imp.benches, 4);
	assert_int_equal(imp.values, 12);
	assert_string_equal(imp.bench[0].bench.label, "sleep 0.001 (n = 1)");
	assert_true(imp.bench[0].run[0].value[0].value > 1e6);
	assert_int_equal(imp.bench[1].run[2].run.exit_code, 1);
	assert_true(imp.bench[3].bench.when_ns > 1700000000ull * 1000000000);
	import_release(&imp);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_command_is_a_bench_and_each_time_a_run),
		cmocka_unit_test(older_and_newer_versions_are_read),
		cmocka_unit_test(any_name_is_taken),
		cmocka_unit_test(errors_say_where_and_what),
		cmocka_unit_test(a_cut_file_is_an_error_at_each_byte),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(a_real_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
