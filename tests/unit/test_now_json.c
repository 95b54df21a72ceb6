/* SPDX-License-Identifier: MIT */
#include "out_text.h"

#include "fixture_now.h"
#include "json_check.h"

static void print(const struct now *n, size_t rows, struct buf *text)
{
	struct out_stream o;
	struct err err = { 0 };
	int fd = memfd_create("now", MFD_CLOEXEC);

	assert_true(fd >= 0);
	*text = (struct buf)BUF_INIT;
	assert_int_equal(out_stream_init(&o, fd, "memory", 0, &err), 0);
	assert_int_equal(now_json(n, rows, &o, &err), 0);
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, text, 1 << 26), 0);
	close(fd);
}

static void assert_has(const struct buf *text, const char *part)
{
	if (!strstr(text->data, part))
		fail_msg("'%s' is not in:\n%s", part, text->data);
}

static void assert_not(const struct buf *text, const char *part)
{
	if (strstr(text->data, part))
		fail_msg("'%s' is in:\n%s", part, text->data);
}

/* One JSON text, on one line. */
static void check_form(const struct buf *text)
{
	size_t where;

	if (!json_check(text->data, text->len, &where))
		fail_msg("no JSON at byte %zu:\n%s", where, text->data);
	assert_int_equal((size_t)(strchr(text->data, '\n') - text->data), text->len - 1);
}

static void any_moment_is_json_on_a_line(void **state)
{
	static void (*const fill[])(struct fixture_now *, enum sum_mode) = {
		fixture_now, fixture_now_hostile, fixture_now_absurd,
	};
	const struct now empty = { .mode = SUM_WAIT };
	struct fixture_now f;
	struct buf text;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++) {
		fill[i % 3](&f, (enum sum_mode)(i / 3));
		print(&f.now, i, &text);
		check_form(&text);
		assert_harmless(&text);
		buf_release(&text);
	}
	print(&empty, 0, &text);
	check_form(&text);
	assert_has(&text, "\"threads\": [], \"locks\": [], \"pipes\": [], \"calls\": [], "
			  "\"processes\": []");
	buf_release(&text);
}

/* Enough rows to fill the writer's buffers several times. */
static void many_rows_are_one_line(void **state)
{
	struct fixture_now f;
	struct now_thread *t;
	struct buf text;
	const char *p;
	size_t i, n = 0;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	FIXTURE_ARRAY(t, 3000);
	for (i = 0; i < 3000; i++) {
		t[i] = f.thread[i % 6];
		t[i].tid = (pid_t)i;
	}
	f.now.thread = t;
	f.now.nthread = 3000;
	print(&f.now, 0, &text);
	check_form(&text);
	for (p = text.data; (p = strstr(p, "{\"tid\": ")); p++)
		n++;
	/* Three ends of pipes, and one more. */
	assert_int_equal(n, 3000 + 5);
	buf_release(&text);
	free(t);
}

static void the_contract_is_kept(void **state)
{
	struct fixture_now f;
	struct buf text;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	print(&f.now, 0, &text);
	assert_golden("tests/golden/top.json", &text);
	buf_release(&text);
}

static bool page_has(const struct buf *page, const char *name, size_t len)
{
	char quoted[64];

	snprintf(quoted, sizeof(quoted), "`%.*s`", (int)len, name);
	if (strstr(page->data, quoted))
		return true;
	snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)len, name);
	return strstr(page->data, quoted) != NULL;
}

/* Each member is on the format's page, or on that of the summary, whose parts it shares. */
static void the_page_names_all(void **state)
{
	struct buf text, page = BUF_INIT;
	struct fixture_now f;
	const char *p, *from;
	size_t n = 0;

	(void)state;
	if (io_read_file("docs/formats/top-json.md", &page, 1 << 20) ||
	    io_read_file("docs/formats/summary-json.md", &page, 1 << 20))
		fail_msg("docs/formats cannot be read (run from the top of the tree)");
	fixture_now(&f, SUM_EXACT);
	print(&f.now, 0, &text);
	/* Where the kernel keeps its own is nobody's business. */
	assert_null(strstr(text.data, "ffff8881"));
	for (p = text.data; (p = strstr(p, "\": ")); p++) {
		for (from = p; from[-1] != '"'; from--)
			continue;
		if (!page_has(&page, from, (size_t)(p - from)))
			fail_msg("%.*s is not on the page", (int)(p - from), from);
		n++;
	}
	assert_true(n > 90);
	buf_release(&page);
	buf_release(&text);
}

static void wait_mode_claims_nothing_it_does_not_see(void **state)
{
	static const char *const unknown[] = {
		"\"calls\": null}", "\"timeouts\": null, \"wakes\": null, \"wasted_wakes\": null",
		"\"chunks_written\": null, \"chunks_read\": null, \"bytes\": null, ",
		"\"bytes_read\": null",
		"\"chunks\": null, \"bytes\": null, \"blocked\": {", "\"errors\": null",
	};
	struct fixture_now f;
	struct buf text;
	size_t i;

	(void)state;
	fixture_now(&f, SUM_WAIT);
	print(&f.now, 0, &text);
	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_has(&text, unknown[i]);
	assert_has(&text, "\"name\": \"futex\", \"nr\": 202, \"calls\": {\"total\": 81322");
	buf_release(&text);
	f.now.mode = SUM_EXACT;
	print(&f.now, 0, &text);
	for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_not(&text, unknown[i]);
	buf_release(&text);
}

static void the_first_rows_of_each_table_are_kept(void **state)
{
	struct fixture_now f;
	struct buf text;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	print(&f.now, 1, &text);
	assert_has(&text, "\"rows\": {\"threads\": 6, \"locks\": 3,");
	assert_has(&text, "\"threads\": [{\"tid\": 4211,");
	assert_not(&text, "worker-3");
	assert_not(&text, "clock_nanosleep");
	assert_not(&text, "0x7f3a6c000ba0");
	buf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_moment_is_json_on_a_line),
		cmocka_unit_test(many_rows_are_one_line),
		cmocka_unit_test(the_contract_is_kept),
		cmocka_unit_test(the_page_names_all),
		cmocka_unit_test(wait_mode_claims_nothing_it_does_not_see),
		cmocka_unit_test(the_first_rows_of_each_table_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
