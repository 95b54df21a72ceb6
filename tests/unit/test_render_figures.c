/* SPDX-License-Identifier: MIT */
#include "report_text.h"

#include "report/render_words.h"

static void raw(struct buf *b, const char *s, size_t n)
{
	buf_addc(b, '[');
	buf_add(b, s, n);
	buf_addc(b, ']');
}

static const struct words words = {
	.name = raw, .sentence = raw, .blank = "_", .sep = "|", .arrow = ">", .times = "x",
	.to = "..", .less = "LT", .infinity = "inf", .unknown = "none", .ascii = true,
};

static void check(struct buf *b, const char *want)
{
	assert_non_null(b->data);
	assert_string_equal(b->data, want);
	buf_reset(b);
}

static void values_have_their_unit(void **state)
{
	static const struct { double v; const char *unit, *want; } rows[] = {
		{ 0, "ns", "0" }, { 1204000000, "ns", "1.20_s" }, { 999.6, "ns", "1.00_us" },
		{ 65536, "B", "64_KiB" }, { 3000, "", "3,000" },
		{ 9999999, "", "9,999,999" }, { 12345678, "", "12.3M" }, { 2.5, "", "2.50" },
		{ 1234.5, "", "1,235" }, { 0.25, "MB/s", "0.25_[MB/s]" }, { 3, NULL, "3" },
		{ 0.00001, "", "1e-05" }, { -1500, "ns", "-1.50_us" },
		{ 1e300, "ns", "1e+300_[ns]" }, { 1e19, "B", "8.67_EiB" },
		{ NAN, "ns", "none" }, { INFINITY, "x", "inf" },
		{ -INFINITY, "", "-inf" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_value(&words, &b, rows[i].v, rows[i].unit);
		check(&b, rows[i].want);
	}
	buf_release(&b);
}

static void ratios_are_told_as_changes(void **state)
{
	static const struct { double ratio; const char *want; } rows[] = {
		{ 1, "0_%" }, { 1.3333, "+33_%" }, { 0.75, "-25_%" }, { 1.0051, "+0.5_%" },
		{ 1.00001, "LT0.01_%" }, { 0.99999, "LT0.01_%" }, { 1.0002, "+0.02_%" },
		{ 10, "+900_%" }, { 12.5, "x12.50" }, { INFINITY, "from_0" }, { NAN, "none" },
		{ 0, "-100_%" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_ratio(&words, &b, rows[i].ratio);
		check(&b, rows[i].want);
	}
	buf_release(&b);
}

static void intervals_may_have_no_end(void **state)
{
	static const struct { double low, high; unsigned int notes; const char *want; } rows[] = {
		{ 1.02, 1.05, 0, "+2.0..+5.0_%" }, { 0.9, INFINITY, 0, "-10..inf_%" },
		{ INFINITY, INFINITY, 0, "none" }, { NAN, 2, 0, "none" }, { 0, 1, 0, "-100..0_%" },
		{ 2, 2, COMPARE_CONSTANT, "exact" }, { 10, 20, 0, "+900..+1900_%" },
		{ 17662, 18500.4, 0, "x17,662..18,500" }, { 12.5, INFINITY, 0, "x12.50..inf" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_interval(&words, &b, &(struct metric_result){
			.ci = { rows[i].low, rows[i].high }, .notes = rows[i].notes });
		check(&b, rows[i].want);
	}
	buf_release(&b);
}

static void probabilities_are_short(void **state)
{
	static const struct { double p; const char *want; } rows[] = {
		{ 0, "LT0.001" }, { 0.00099, "LT0.001" }, { 0.001, "0.001" }, { 0.0123, "0.012" },
		{ 0.34, "0.34" },
		{ 0.999, "1.00" }, { 1, "1" }, { NAN, "none" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		words_p(&words, &b, rows[i].p);
		check(&b, rows[i].want);
	}
	buf_release(&b);
}

static void stacks_are_walked_from_the_inside(void **state)
{
	static const struct { const char *folded, *want; } rows[] = {
		{ "", "" }, { "main", "main," }, { "a;b;c", "c,b,a," }, { ";;", "?,?,?," },
		{ "a;", "?,a," },
	};
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct words_stack s = words_stack(rows[i].folded);

		buf_adds(&b, "");
		while (words_stack_next(&s)) {
			buf_add(&b, s.frame, s.n);
			buf_addc(&b, ',');
		}
		check(&b, rows[i].want);
	}
	buf_release(&b);
}

static void sides_say_what_is_known(void **state)
{
	const struct regress_side side = {
		.name = "abc", .label = "abc", .commit = "0123456789abcdef", .dirty = true,
		.source = "hyperfine", .mode = "", .runs = 1, .when_ns = 1796000000ULL * 1000000000,
	};
	struct buf b = BUF_INIT;

	(void)state;
	words_side(&words, &b, &side);
	check(&b, "[abc]|[0123456789ab]_with_changes|1_run|2026-11-30_00:53_UTC|from [hyperfine]");
	words_side(&words, &b, &(struct regress_side){ .name = "x", .label = "y", .command = "z" });
	check(&b, "[x]|[y]|0_runs|[z]");
	words_side(&words, &b, &(struct regress_side){ 0 });
	check(&b, "0_runs");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_their_unit),
		cmocka_unit_test(ratios_are_told_as_changes),
		cmocka_unit_test(intervals_may_have_no_end),
		cmocka_unit_test(probabilities_are_short),
		cmocka_unit_test(stacks_are_walked_from_the_inside),
		cmocka_unit_test(sides_say_what_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
