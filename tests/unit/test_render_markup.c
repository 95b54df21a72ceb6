/* SPDX-License-Identifier: MIT */
/* Markdown, JUnit and HTML of reports; tests/cli/test_report_formats.py has parsers read them. */
#include "report_text.h"

#include "json_check.h"

static struct fixture_regress f;

static void looks_as_it_did(const char *format, const char *path)
{
	struct buf text;

	fixture_regress(&f);
	report_text(format, &f.r, NULL, &text);
	assert_golden(path, &text);
	buf_release(&text);
}

static void markdown_looks_as_it_did(void **state)
{
	(void)state;
	looks_as_it_did("markdown", "tests/golden/report.md.txt");
}

static void junit_looks_as_it_did(void **state)
{
	(void)state;
	looks_as_it_did("junit", "tests/golden/report.junit.xml");
}

/* The page's own part, without its style, script and JSON. */
static void html_looks_as_it_did(void **state)
{
	struct buf text, body = BUF_INIT;
	const char *from, *to;

	(void)state;
	fixture_regress(&f);
	report_text("html", &f.r, NULL, &text);
	from = strstr(text.data, "<body>");
	to = strstr(text.data, "<script type=\"application/json\"");
	assert_true(from && to > from);
	buf_add(&body, from, (size_t)(to - from));
	assert_golden("tests/golden/report-body.html", &body);
	buf_release(&body);
	buf_release(&text);
}

static void any_report_is_harmless(void **state)
{
	static const char *const formats[] = { "markdown", "junit", "html" };
	struct buf text;
	size_t i, k;

	(void)state;
	for (i = 0; i < FIXTURE_R_ROWS; i++) {
		for (k = 0; k < sizeof(formats) / sizeof(formats[0]); k++) {
			size_t n = 0;

			fixture_regress_rows[i].fill(&f);
			report_text(formats[k], &f.r, NULL, &text);
			/* The page's own script and style are indented by tabs. */
			for (; n < text.len; n++)
				if (text.data[n] == '\t' && k == 2)
					text.data[n] = ' ';
			assert_harmless(&text);
			buf_release(&text);
		}
	}
}

/* Every line of a table has as many cells as its head, so no name has cut one. */
static void markdown_tables_keep_their_cells(void **state)
{
	const char *line, *end, *p;
	size_t want = 0, rows = 0;
	struct buf text;

	(void)state;
	fixture_regress_hostile(&f);
	report_text("markdown", &f.r, NULL, &text);
	for (line = text.data; (end = strchr(line, '\n')); line = end + 1) {
		size_t bars = 0;

		for (p = line; *line == '|' && p < end; p++)
			bars += *p == '|';
		if (want && bars)
			assert_int_equal(bars, want);
		rows += bars > 0;
		want = bars;
	}
	assert_int_equal(rows, 2 + 7 + 2 + 11 + 2 + 5);
	assert_int_equal(times_in(text.data, "<details>"), 3);
	assert_int_equal(times_in(text.data, "</details>"), 3);
	/* A mention is code, in either form of it, and what would be HTML is not. */
	assert_not(&text, "<script");
	assert_not(&text, "@team");
	assert_has(&text, "&#64;team");
	assert_has(&text, "<code>@</code>team");
	buf_release(&text);
}

static void junit_counts_what_failed(void **state)
{
	struct render_opts strict = { .strict = true };
	struct buf text;

	(void)state;
	fixture_regress(&f);
	report_text("junit", &f.r, NULL, &text);
	assert_has(&text, "tests=\"18\" failures=\"3\" errors=\"0\" skipped=\"2\"");
	assert_int_equal(times_in(text.data, "<failure type=\"worse\""), 3);
	assert_int_equal(times_in(text.data, "<skipped message="), 2);
	buf_release(&text);
	report_text("junit", &f.r, &strict, &text);
	assert_has(&text, "tests=\"18\" failures=\"5\" errors=\"0\" skipped=\"0\"");
	assert_int_equal(times_in(text.data, "<failure type=\"inconclusive\""), 2);
	buf_release(&text);
}

/* Two sets of nothing are not a success. */
static void junit_of_no_metrics_is_not_green(void **state)
{
	struct render_opts strict = { .strict = true };
	struct buf text;

	(void)state;
	fixture_regress_empty(&f);
	report_text("junit", &f.r, NULL, &text);
	assert_has(&text, "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\"");
	assert_has(&text, "<skipped message=\"the sides have no metric in common\"/>");
	buf_release(&text);
	report_text("junit", &f.r, &strict, &text);
	assert_has(&text, "tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\"");
	buf_release(&text);
}

/* Nothing of others is markup, and its JSON ends where it should. */
static void a_page_has_our_tags_alone(void **state)
{
	const char *json, *end;
	struct buf text;
	size_t where;

	(void)state;
	fixture_regress_hostile(&f);
	report_text("html", &f.r, NULL, &text);
	assert_not(&text, "<script>alert");
	assert_not(&text, "<!--");
	assert_int_equal(times_in(text.data, "<script"), 2);
	assert_int_equal(times_in(text.data, "</script>"), 2);
	json = strstr(text.data, "<script type=\"application/json\" id=\"report\">");
	assert_non_null(json);
	json = strchr(json, '>') + 1;
	end = strstr(json, "</script>");
	if (!json_check(json, (size_t)(end - json), &where))
		fail_msg("no JSON at byte %zu", where);
	assert_null(memchr(json, '<', (size_t)(end - json)));
	buf_release(&text);
}

static void formats_are_found_by_name(void **state)
{
	static const char *const names[] = { "text", "json", "html", "markdown", "junit" };
	size_t i;

	(void)state;
	assert_int_equal(render_nformats, sizeof(names) / sizeof(names[0]));
	for (i = 0; i < render_nformats; i++) {
		assert_string_equal(render_formats[i]->name, names[i]);
		assert_ptr_equal(render_find(names[i]), render_formats[i]);
	}
	assert_null(render_find("xml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markdown_looks_as_it_did),
		cmocka_unit_test(junit_looks_as_it_did),
		cmocka_unit_test(html_looks_as_it_did),
		cmocka_unit_test(any_report_is_harmless),
		cmocka_unit_test(markdown_tables_keep_their_cells),
		cmocka_unit_test(junit_counts_what_failed),
		cmocka_unit_test(junit_of_no_metrics_is_not_green),
		cmocka_unit_test(a_page_has_our_tags_alone),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
