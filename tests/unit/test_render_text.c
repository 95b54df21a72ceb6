/* SPDX-License-Identifier: MIT */
#include "report_text.h"

#define GOLDEN "tests/golden/report-%u%s.txt"

static struct fixture_regress f;

static const struct render_opts *opts(unsigned int width, bool all, enum out_color color,
				      enum out_charset charset)
{
	static struct render_opts o;

	o = (struct render_opts){ .width = width, .all = all, .color = color, .charset = charset,
				  .rows = RENDER_ROWS_DEFAULT };
	return &o;
}

static void golden(unsigned int width, bool all, enum out_charset charset, const char *what)
{
	char path[64];
	struct buf text;

	fixture_regress(&f);
	report_text("text", &f.r, opts(width, all, OUT_COLOR_NEVER, charset), &text);
	snprintf(path, sizeof(path), GOLDEN, width, what);
	assert_golden(path, &text);
	buf_release(&text);
}

static void a_report_looks_as_it_did(void **state)
{
	(void)state;
	golden(80, false, OUT_CHARSET_UTF8, "");
	golden(80, true, OUT_CHARSET_ASCII, "-all-ascii");
	golden(120, false, OUT_CHARSET_UTF8, "");
}

static void check_lines(const struct buf *text, unsigned int width)
{
	const char *line = text->data, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		const size_t columns = utf8_width(line, (size_t)(end - line));

		if (columns > width)
			fail_msg("%zu columns: %.*s", columns, (int)(end - line), line);
		if (end > line && end[-1] == ' ')
			fail_msg("a blank at the end: '%.*s'", (int)(end - line), line);
	}
	assert_int_equal(text->data[text->len - 1], '\n');
}

/* Whatever the names are, nothing but text comes out, within the width. */
static void any_report_is_harmless_and_fits(void **state)
{
	static const unsigned int widths[] = { 80, 100, 160 };
	enum out_charset charset;
	struct buf text;
	size_t i, w;

	(void)state;
	for (i = 0; i < FIXTURE_R_ROWS; i++) {
		for (w = 0; w < 2 * sizeof(widths) / sizeof(widths[0]); w++) {
			fixture_regress_rows[i].fill(&f);
			charset = w % 2 ? OUT_CHARSET_ASCII : OUT_CHARSET_UTF8;
			report_text("text", &f.r,
				    opts(widths[w / 2], w % 2, OUT_COLOR_NEVER, charset), &text);
			assert_harmless(&text);
			check_lines(&text, widths[w / 2]);
			buf_release(&text);
		}
	}
}

static void the_first_line_is_the_verdict(void **state)
{
	static const struct { const char *name, *line; } rows[] = {
		{ "normal", "worse: 3 of 18 metrics; the largest: futex.wait 3,000 → 4,000 "
			    "(+33 %)\n" },
		{ "edges", "inconclusive: 3 of 7 metrics; more runs would not decide\n" },
		{ "empty", "inconclusive: the sides have no metric in common\n" },
		{ "same", "same: none of 2 metrics changed\n" },
	};
	struct buf text;
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (k = 0; strcmp(fixture_regress_rows[k].name, rows[i].name); )
			k++;
		fixture_regress_rows[k].fill(&f);
		report_text("text", &f.r, NULL, &text);
		if (strncmp(text.data, rows[i].line, strlen(rows[i].line)))
			fail_msg("want '%s', got:\n%s", rows[i].line, text.data);
		buf_release(&text);
	}
}

/* One metric alone, and what an inconclusive one would take. */
static void headlines_count_in_words(void **state)
{
	struct buf text;

	(void)state;
	fixture_regress_empty(&f);
	fixture_metric(&f, "time.wall", "ns", METRIC_TIME, 2e9, 1e9, COMPARE_BETTER);
	f.r.verdict = COMPARE_BETTER;
	report_text("text", &f.r, NULL, &text);
	assert_has(&text, "better: 1 of 1 metric: time.wall 2.00 s → 1.00 s (-50 %)\n");
	buf_release(&text);
	f.metric[0].result.verdict = f.r.verdict = COMPARE_INCONCLUSIVE;
	f.metric[0].result.runs_needed = f.r.runs_needed = 1400;
	report_text("text", &f.r, NULL, &text);
	assert_has(&text, "inconclusive: 1 of 1 metric; about 1,400 runs a side would decide\n");
	buf_release(&text);
}

static void colour_comes_by_verdict_and_only_when_asked_for(void **state)
{
	struct buf text;

	(void)state;
	fixture_regress(&f);
	report_text("text", &f.r, opts(100, false, OUT_COLOR_ALWAYS, OUT_CHARSET_UTF8), &text);
	assert_has(&text, "\x1b[1;31mworse: \x1b[0m3 of 18");
	assert_has(&text, "\x1b[1;31mworse\x1b[0m\n");
	assert_has(&text, "\x1b[33minconclusive\x1b[0m\n");
	assert_has(&text, "\x1b[32mbetter\x1b[0m\n");
	buf_release(&text);
	report_text("text", &f.r, NULL, &text);
	assert_not(&text, "\x1b");
	buf_release(&text);
}

static void what_is_the_same_is_counted_and_shown_on_request(void **state)
{
	struct buf text;

	(void)state;
	fixture_regress(&f);
	report_text("text", &f.r, NULL, &text);
	assert_has(&text, "11 the same\n");
	assert_has(&text, "… 11 more (--all shows all)\n");
	assert_not(&text, "syscall.read");
	buf_release(&text);
	report_text("text", &f.r, opts(80, true, OUT_COLOR_NEVER, OUT_CHARSET_UTF8), &text);
	assert_has(&text, "  syscall.read ");
	assert_not(&text, "--all");
	buf_release(&text);
}

static void rows_are_limited_and_counted(void **state)
{
	struct render_opts o = *opts(80, false, OUT_COLOR_NEVER, OUT_CHARSET_UTF8);
	struct buf text;

	(void)state;
	fixture_regress(&f);
	o.rows = 3;
	report_text("text", &f.r, &o, &text);
	assert_has(&text, "… 15 more (--all shows all)\n");
	assert_has(&text, "… 2 more (--all shows all)\n");
	assert_not(&text, "mem.mmap_bytes");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_looks_as_it_did),
		cmocka_unit_test(any_report_is_harmless_and_fits),
		cmocka_unit_test(the_first_line_is_the_verdict),
		cmocka_unit_test(headlines_count_in_words),
		cmocka_unit_test(colour_comes_by_verdict_and_only_when_asked_for),
		cmocka_unit_test(what_is_the_same_is_counted_and_shown_on_request),
		cmocka_unit_test(rows_are_limited_and_counted),
	};

	return cmocka_run_group_tests(tests, in_utc, NULL);
}
