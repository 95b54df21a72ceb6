/* SPDX-License-Identifier: MIT */
#include "fixture_import.h"

#include <errno.h>

static void a_run_has_the_nth_line_of_each_benchmark(void **state)
{
	static const double ns[] = { 154125, 154931, 153802 }, mb[] = { 64.88, 64.54, 65.02 };
	static const double encode[] = { 1213987963, 1209134023, 1215019777 };
	const struct store_bench *b;
	struct import imp;
	size_t i;

	(void)state;
	import_good_corpus(&imp, "gobench/count");
	assert_int_equal(imp.benches, 1);
	assert_int_equal(imp.runs, 3);
	assert_int_equal(imp.values, 15);
	assert_int_equal(imp.skipped, 0);
	b = &imp.bench[0].bench;
	assert_string_equal(b->label, "example.org/codec");
	assert_string_equal(b->source, "benchstat");
	assert_string_equal(b->argv, "[]");
	assert_string_equal(b->machine.cpu_model, "Example CPU E-2176 @ 2.70GHz");
	assert_string_equal(b->machine.kernel, "linux/amd64");
	for (i = 0; i < 3; i++) {
		assert_int_equal(imp.bench[0].run[i].run.order, i);
		import_value(&imp, 0, i, "go.cost.ns/op example.org/codec.Decode/size=1e4-8",
			     ns[i]);
		import_value(&imp, 0, i, "go.rate.MB/s example.org/codec.Decode/size=1e4-8",
			     mb[i]);
		import_value(&imp, 0, i, "go.cost.allocs/op example.org/codec.Decode/size=1e4-8",
			     7);
		import_value(&imp, 0, i, "go.cost.ns/op example.org/codec.Encode-8", encode[i]);
	}
	import_value(&imp, 0, 2, "go.cost.B/op example.org/codec.Decode/size=1e4-8", 40419);
	import_release(&imp);
}

static void packages_do_not_mix(void **state)
{
	struct import imp;

	(void)state;
	import_good_corpus(&imp, "gobench/packages");
	assert_int_equal(imp.runs, 1);
	assert_string_equal(imp.bench[0].bench.label, "");
	import_value(&imp, 0, 0, "go.cost.ns/op example.org/a.Sort", 612.5);
	import_value(&imp, 0, 0, "go.cost.ns/op example.org/b.Sort", 412.5);
	import_release(&imp);
}

/* Of runs that are repeated by a loop around the command, and grow in number. */
static void benchmarks_may_have_fewer_lines(void **state)
{
	struct import imp;

	(void)state;
	import_good(&imp, "BenchmarkA 1 1 ns/op\nBenchmarkB 1 2 ns/op\nBenchmarkA 1 3 ns/op\n"
		    "BenchmarkA 1 5 ns/op 6 B/op\n");
	assert_int_equal(imp.runs, 3);
	import_value(&imp, 0, 0, "go.cost.ns/op A", 1);
	import_value(&imp, 0, 0, "go.cost.ns/op B", 2);
	import_value(&imp, 0, 1, "go.cost.ns/op A", 3);
	assert_null(import_find(&imp, 0, 1, "go.cost.ns/op B"));
	import_value(&imp, 0, 2, "go.cost.B/op A", 6);
	import_release(&imp);
}

static void units_say_what_they_are(void **state)
{
	static const struct {
		const char *metric, *unit;
		double value;
		enum store_kind kind;
	} rows[] = {
		{ "go.rate.hits Cache", "hits", 10, STORE_TIME },
		{ "go.cost.p99-ms/op Cache", "ns", 5e5, STORE_TIME },
		{ "go.cost.L1-miss-ns/op Cache", "ns", 3, STORE_TIME },
		{ "go.cost.\xc2\xb5s Cache", "ns", 2e3, STORE_TIME },
		{ "go.cost.text-bytes Cache", "B", 7, STORE_COUNT },
		{ "go.rate.req/sec Cache", "req/sec", 12, STORE_TIME },
		{ "go.other.ratio Cache", "ratio", 0.25, STORE_TIME },
		{ "go.cost.heap-B Cache", "B", 1, STORE_COUNT },
	};
	struct import imp;
	size_t i;

	(void)state;
	import_good_corpus(&imp, "gobench/units");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		import_value(&imp, 0, 0, rows[i].metric, rows[i].value);
		assert_string_equal(import_find(&imp, 0, 0, rows[i].metric)->unit, rows[i].unit);
		assert_int_equal(import_find(&imp, 0, 0, rows[i].metric)->kind, rows[i].kind);
	}
	assert_string_equal(imp.bench[0].bench.commit, "7cd9055");
	/* NaN and -4, of one line. */
	assert_int_equal(imp.bench[0].run[1].values, 2);
	assert_int_equal(imp.skipped, 1);
	assert_int_equal(imp.skipped_line, 9);
	import_release(&imp);
}

/* Also behind the results: their metrics could not have two names. */
static void a_unit_line_holds_for_the_whole_file(void **state)
{
	struct import imp;

	(void)state;
	import_good(&imp, "BenchmarkA 1 1 x 2 ns/op\nUnit x better=higher\nUnit x better=higher "
		    "assume=exact odd\nUnit ns/op better=higher\nUnit y\nUnit\n"
		    "Unitx better=lower\n");
	import_value(&imp, 0, 0, "go.rate.x A", 1);
	import_value(&imp, 0, 0, "go.rate.ns/op A", 2);
	assert_int_equal(import_find(&imp, 0, 0, "go.rate.x A")->kind, STORE_COUNT);
	import_release(&imp);
}

static void what_is_printed_between_is_passed_over(void **state)
{
	struct import imp;

	(void)state;
	import_good_corpus(&imp, "gobench/noise");
	assert_int_equal(imp.runs, 1);
	import_value(&imp, 0, 0, "go.cost.ns/op Parse-4", 1050);
	import_value(&imp, 0, 0, "go.cost.ns/op Benchmark", 6);
	import_value(&imp, 0, 0, "go.cost.ns/op _x", 0.25);
	assert_int_equal(imp.values, 3);
	assert_int_equal(imp.skipped, 5);
	assert_int_equal(imp.skipped_line, 7);
	assert_string_equal(imp.skipped_why, "expected how many iterations it ran");
	import_release(&imp);
}

static void lines_that_are_no_results_are_counted(void **state)
{
	static const struct { const char *line, *why; } rows[] = {
		{ "BenchmarkX 10\n", "it has no value" },
		{ "BenchmarkX 1e3 5 ns/op\n", "expected how many iterations it ran" },
		{ "BenchmarkX -1 5 ns/op\n", "expected how many iterations it ran" },
		{ "BenchmarkX 10 5\n", "a value has no unit" },
		{ "BenchmarkX 10 5 ns/op 6\n", "a value has no unit" },
		{ "BenchmarkX 10 ns/op 5\n", "expected a number" },
		{ "BenchmarkX 10 5ns /op\n", "expected a number" },
		{ "BenchmarkX 10 5 x 6 x\n", "a unit stands there twice" },
		{ "BenchmarkX 10 -5 x\n", "a value is below 0 or not finite" },
		{ "BenchmarkX 10 inf x\n", "a value is below 0 or not finite" },
		{ "BenchmarkX 10 1e308 sec\n", "a value is below 0 or not finite" },
		{ "BenchmarkX\xff 10 5 x\n", "its name is too long, or not UTF-8" },
		{ "BenchmarkX 10 5 x\xff\n", "it is not UTF-8" },
		{ "BenchmarkX 10 5 x", "the file ends in it" },
	};
	struct import imp;
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "BenchmarkA 1 1 ns/op\n%s", rows[i].line);
		import_good(&imp, text);
		if (imp.skipped != 1 || strcmp(imp.skipped_why, rows[i].why) != 0)
			fail_msg("%s: %zu: %s", rows[i].line, imp.skipped, imp.skipped_why);
		assert_int_equal(imp.skipped_line, 2);
		assert_int_equal(imp.values, 1);
		import_release(&imp);
	}
}

static void names_have_a_limit(void **state)
{
	struct buf b = BUF_INIT;
	struct import imp;
	size_t i;

	(void)state;
	buf_adds(&b, "BenchmarkA 1 1 ns/op\nBenchmarkA 1 2 ");
	for (i = 0; i <= IMPORT_NAME_BYTES; i++)
		buf_addc(&b, 'u');
	buf_adds(&b, "\nBenchmarkA 1 3 ns/op\n");
	import_good(&imp, b.data);
	assert_string_equal(imp.skipped_why, "a unit is too long");
	import_value(&imp, 0, 1, "go.cost.ns/op A", 3);
	import_release(&imp);
	buf_release(&b);
}

static void a_file_is_one_side(void **state)
{
	static const char result[] = "BenchmarkX 1 1 ns/op\n";
	static const char *const keys[] = { "goos", "goarch", "cpu", "commit", "toolchain" };
	struct import imp;
	char text[256], words[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		snprintf(text, sizeof(text), "%s: a\n%s: b\n%s%s:  b \r\n%s%s: c\n", keys[i],
			 keys[i], result, keys[i], result, keys[i]);
		snprintf(words, sizeof(words), "line 6: '%s' changes from 'b' to 'c'", keys[i]);
		import_bad(text, EINVAL, words);
	}
	import_good(&imp, "cpu: A\nBenchmarkX 1 1 ns/op\ncpus: B\ncpu:B\nCpu: B\n cpu: B\n");
	assert_string_equal(imp.bench[0].bench.machine.cpu_model, "A");
	import_release(&imp);
	import_bad("BenchmarkX 1 1 x\npkg: \xff\n", EINVAL,
		   "line 2: 'pkg' is too long, or not UTF-8");
	import_bad("Unit x better=lower\nUnit x better=higher\nBenchmarkX 1 1 x\n", EINVAL,
		   "line 2: 'better=higher' contradicts a line before it");
	import_bad("Unit x assume=nothing\nUnit x assume=exact\n", EINVAL, "line 2: ");
}

static void what_is_no_benchmark_text_is_an_error(void **state)
{
	(void)state;
	import_bad("PASS\n", EINVAL, "has no result of Go's benchmarks, as 'BenchmarkName 100");
	import_bad("BenchmarkX-8\nok\n", EINVAL, "has no result");
	import_bad("\nBenchmarkX 1 ns/op 2\n", EINVAL,
		   "it has no result of Go's benchmarks: line 2: expected a number");
	import_bad("BenchmarkX 1 NaN ns/op\n", EINVAL, "line 1: a value is below 0 or not");
}

/* What @part gave is there in @all: the same metrics in the same runs with the same values. */
static void is_prefix(const struct import *part, const struct import *all)
{
	size_t i, k;

	for (i = 0; i < part->runs; i++) {
		const struct import_run *r = &part->bench[0].run[i];

		for (k = 0; k < r->values; k++)
			import_value(all, 0, i, r->value[k].metric, r->value[k].value);
	}
}

/* Lines before the last are there in full. */
static void a_cut_file_is_its_beginning_at_each_byte(void **state)
{
	static const char *const names[] = { "gobench/count", "gobench/units", "gobench/packages" };
	struct import all, part;
	struct buf text;
	size_t i, k, whole;

	(void)state;
	for (k = 0; k < sizeof(names) / sizeof(*names); k++) {
		import_corpus(names[k], &text);
		import_good(&all, text.data);
		for (i = 1, whole = 0; i <= text.len; i++) {
			struct err err = { 0 };

			if (import_text(text.data, i, &part, &err)) {
				assert_int_equal(err.code, EINVAL);
				assert_int_equal(whole, 0);
				continue;
			}
			assert_true(part.values >= whole);
			if (text.data[i - 1] == '\n')
				whole = part.values;
			is_prefix(&part, &all);
			import_release(&part);
		}
		assert_int_equal(whole, all.values);
		import_release(&all);
		buf_release(&text);
	}
}

static void hostile_names_are_text(void **state)
{
	struct import imp;

	(void)state;
	import_good_corpus(&imp, "gobench/hostile");
	assert_int_equal(imp.skipped, 2);
	assert_int_equal(imp.values, 1);
	import_value(&imp, 0, 0, "go.cost.ns/op \033]0;x\a", 2);
	import_release(&imp);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_has_the_nth_line_of_each_benchmark),
		cmocka_unit_test(packages_do_not_mix),
		cmocka_unit_test(benchmarks_may_have_fewer_lines),
		cmocka_unit_test(units_say_what_they_are),
		cmocka_unit_test(a_unit_line_holds_for_the_whole_file),
		cmocka_unit_test(what_is_printed_between_is_passed_over),
		cmocka_unit_test(lines_that_are_no_results_are_counted),
		cmocka_unit_test(names_have_a_limit),
		cmocka_unit_test(a_file_is_one_side),
		cmocka_unit_test(what_is_no_benchmark_text_is_an_error),
		cmocka_unit_test(a_cut_file_is_its_beginning_at_each_byte),
		cmocka_unit_test(hostile_names_are_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
