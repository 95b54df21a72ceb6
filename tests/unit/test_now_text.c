/* SPDX-License-Identifier: MIT */
#include "out_text.h"

#include "fixture_now.h"

static void print(const struct now *n, const struct now_text_opts *opts, struct buf *text)
{
	struct out_stream o;
	struct err err = { 0 };
	int fd = memfd_create("now", MFD_CLOEXEC);

	assert_true(fd >= 0);
	*text = (struct buf)BUF_INIT;
	assert_int_equal(out_stream_init(&o, fd, "memory", 0, &err), 0);
	assert_int_equal(now_text(n, opts, &o, &err), 0);
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, text, 1 << 26), 0);
	close(fd);
}

static struct now_text_opts opts_of(enum now_tab tab, unsigned int width)
{
	return (struct now_text_opts){ .tab = tab, .sort = now_tabs[tab].ncol, .width = width,
				       .color = OUT_COLOR_NEVER, .charset = OUT_CHARSET_UTF8 };
}

/* All tabs of the fixture as they come after one another. */
static void print_all(enum sum_mode mode, unsigned int width, bool totals, bool ascii,
		      struct buf *all)
{
	struct fixture_now f;
	enum now_tab tab;

	fixture_now(&f, mode);
	for (tab = 0; tab < NOW_TABS; tab++) {
		struct now_text_opts opts = opts_of(tab, width);
		struct buf text;

		opts.totals = totals;
		opts.charset = ascii ? OUT_CHARSET_ASCII : OUT_CHARSET_UTF8;
		print(&f.now, &opts, &text);
		buf_add(all, text.data, text.len);
		buf_release(&text);
	}
}

static void the_blocks_are_those_of_the_golden_files(void **state)
{
	static const struct {
		const char *name;
		enum sum_mode mode;
		unsigned int width;
		bool totals, ascii;
	} golden[] = {
		{ "80", SUM_EXACT, 80, false, false },
		{ "140", SUM_EXACT, 140, false, false },
		{ "80-wait", SUM_WAIT, 80, false, false },
		{ "140-totals-ascii", SUM_EXACT, 140, true, true },
	};
	char path[64];
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(golden) / sizeof(*golden); i++) {
		struct buf all = BUF_INIT;

		print_all(golden[i].mode, golden[i].width, golden[i].totals, golden[i].ascii, &all);
		snprintf(path, sizeof(path), "tests/golden/top-%s.txt", golden[i].name);
		assert_golden(path, &all);
		for (k = 0; golden[i].ascii && k < all.len; k++)
			assert_in_range((unsigned char)all.data[k], '\n', '~');
		buf_release(&all);
	}
}

/* No line is wider than @width, nor ends with a blank. */
static void check_lines(const struct buf *text, unsigned int width)
{
	const char *p = text->data, *end = text->data + text->len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		assert_non_null(nl);
		if (nl > p && nl[-1] == ' ')
			fail_msg("a line ends with a blank: %.*s", (int)(nl - p), p);
		if (utf8_width(p, (size_t)(nl - p)) > width)
			fail_msg("wider than %u columns: %.*s", width, (int)(nl - p), p);
		p = nl + 1;
	}
}

static void every_width_is_kept(void **state)
{
	static void (*const fill[])(struct fixture_now *, enum sum_mode) = {
		fixture_now, fixture_now_hostile, fixture_now_absurd,
	};
	struct fixture_now f;
	unsigned int width, mode, i;
	enum now_tab tab;

	(void)state;
	for (i = 0; i < 3 * 2 * 2; i++) {
		mode = i / 3 % 2;
		fill[i % 3](&f, (enum sum_mode)mode);
		for (tab = 0; tab < NOW_TABS; tab++) {
			for (width = 44; width < 220; width += 1 + width / 9) {
				struct now_text_opts opts = opts_of(tab, width);
				struct buf text;

				opts.totals = i / 6;
				print(&f.now, &opts, &text);
				check_lines(&text, width);
				buf_release(&text);
			}
		}
	}
}

/* Nothing is promised of them but that they are printed. */
static void widths_that_nobody_has_do_no_harm(void **state)
{
	static const unsigned int widths[] = { 1, 2, 3, 7, 20, 39, 40, 499, 500, 4000000000u };
	struct fixture_now f;
	enum now_tab tab;
	size_t i;

	(void)state;
	fixture_now_hostile(&f, SUM_EXACT);
	for (i = 0; i < sizeof(widths) / sizeof(*widths); i++) {
		for (tab = 0; tab < NOW_TABS; tab++) {
			struct now_text_opts opts = opts_of(tab, widths[i]);
			struct buf text;

			print(&f.now, &opts, &text);
			assert_harmless(&text);
			buf_release(&text);
		}
	}
}

static void hostile_names_are_shown_and_do_nothing(void **state)
{
	static const char *const seen[NOW_TABS] = {
		"\\e]0;owned\\x07", "<script>", "\\e]0;owned\\x07", "futex", "\\e]0;owned\\x07",
	};
	struct fixture_now f;
	enum now_tab tab;

	(void)state;
	fixture_now_hostile(&f, SUM_EXACT);
	for (tab = 0; tab < NOW_TABS; tab++) {
		struct now_text_opts opts = opts_of(tab, 300);
		struct buf text;

		print(&f.now, &opts, &text);
		assert_harmless(&text);
		if (!strstr(text.data, seen[tab]))
			fail_msg("no %s in:\n%s", seen[tab], text.data);
		buf_release(&text);
	}
}

static void colour_is_for_those_who_want_it(void **state)
{
	struct fixture_now f;
	struct now_text_opts opts = opts_of(NOW_LOCKS, 100);
	struct buf plain, colour;
	size_t i, n = 0;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	print(&f.now, &opts, &plain);
	assert_null(memchr(plain.data, 0x1b, plain.len));
	opts.color = OUT_COLOR_ALWAYS;
	print(&f.now, &opts, &colour);
	for (i = 0; i < colour.len; i++) {
		if (colour.data[i] == 0x1b)
			i += strcspn(colour.data + i, "m");
		else
			colour.data[n++] = colour.data[i];
	}
	assert_true(n < colour.len);
	assert_int_equal(n, plain.len);
	assert_memory_equal(colour.data, plain.data, n);
	buf_release(&plain);
	buf_release(&colour);
	/* A memory file is no terminal. */
	opts.color = OUT_COLOR_AUTO;
	print(&f.now, &opts, &plain);
	assert_null(memchr(plain.data, 0x1b, plain.len));
	buf_release(&plain);
}

static void rows_are_limited_and_the_rest_is_counted(void **state)
{
	struct fixture_now f;
	struct now_text_opts opts = opts_of(NOW_THREADS, 100);
	struct buf text;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	opts.rows = 2;
	print(&f.now, &opts, &text);
	assert_non_null(strstr(text.data, "\n  … 4 more (--rows 0 shows all)\n"));
	/* worker-2 and worker-3 ran as long as each other: the one of the smaller id stays. */
	assert_non_null(strstr(text.data, "worker-1"));
	assert_non_null(strstr(text.data, "worker-2"));
	assert_null(strstr(text.data, "worker-3"));
	buf_release(&text);
	opts.rows = 6;
	print(&f.now, &opts, &text);
	assert_null(strstr(text.data, "more ("));
	buf_release(&text);
}

static void the_title_tells_what_the_figures_are(void **state)
{
	struct fixture_now f;
	struct now_text_opts opts = opts_of(NOW_PIPES, 100);
	struct buf text;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	print(&f.now, &opts, &text);
	assert_non_null(strstr(text.data,
			       "2026-11-30 06:08:08  Pipes by BYTES/s, the last 2.00 s\n"));
	buf_release(&text);
	opts.totals = true;
	print(&f.now, &opts, &text);
	assert_non_null(strstr(text.data, "  Pipes by BYTES, all since tracing began 754 s ago\n"));
	buf_release(&text);
	/* A column that wait mode knows nothing of is not named. */
	f.now.mode = SUM_WAIT;
	opts.totals = false;
	print(&f.now, &opts, &text);
	assert_non_null(strstr(text.data, "  Pipes, the last 2.00 s\n"));
	buf_release(&text);
	opts.tab = NOW_THREADS;
	opts.sort = now_col_find(&now_tabs[NOW_THREADS], "for");
	print(&f.now, &opts, &text);
	assert_non_null(strstr(text.data, "  Threads by FOR, the last 2.00 s\n"));
	buf_release(&text);
}

/* Rows in an order that nothing explains would be a riddle. */
static void what_it_is_sorted_by_is_shown(void **state)
{
	struct fixture_now f;
	enum now_tab tab;
	size_t c;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	for (tab = 0; tab < NOW_TABS; tab++) {
		for (c = 0; c < now_tabs[tab].ncol; c++) {
			struct now_text_opts opts = opts_of(tab, 60);
			struct buf text;
			char head[32];

			opts.sort = c;
			print(&f.now, &opts, &text);
			check_lines(&text, 60);
			/* Once in the title, and once over the column. */
			snprintf(head, sizeof(head), " %s", now_tabs[tab].col[c].head);
			if (!strstr(strchr(text.data, '\n'), head))
				fail_msg("no %s in:\n%s", head, text.data);
			buf_release(&text);
		}
	}
}

static void an_empty_tab_says_so(void **state)
{
	static const char *const words[NOW_TABS] = {
		"\n  no threads\n", "\n  nothing waited for a lock\n", "\n  no pipe was seen\n",
		"\n  no system call was seen\n", "\n  no processes\n",
	};
	const struct now empty = { .mode = SUM_WAIT };
	enum now_tab tab;

	(void)state;
	for (tab = 0; tab < NOW_TABS; tab++) {
		struct now_text_opts opts = opts_of(tab, 80);
		struct buf text;

		print(&empty, &opts, &text);
		assert_non_null(strstr(text.data, words[tab]));
		check_lines(&text, 80);
		buf_release(&text);
	}
}

/* What is empty now may not be so in the next block: headings must not move. */
static void columns_stay_from_block_to_block(void **state)
{
	struct fixture_now f;
	struct now_text_opts opts = opts_of(NOW_THREADS, 120);
	struct buf full, idle;
	const char *head, *other;
	size_t i;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	print(&f.now, &opts, &full);
	for (i = 0; i < 6; i++)
		f.thread[i] = (struct now_thread){ .tid = (pid_t)i, .state = NOW_BLOCKED };
	print(&f.now, &opts, &idle);
	head = strstr(full.data, "    TID");
	other = strstr(idle.data, "    TID");
	assert_non_null(head);
	assert_non_null(other);
	/* WAIT is the last and may have any width: what is before it is alike. */
	assert_memory_equal(head, other, 1 + (size_t)(strstr(head, "WAIT") - head));
	buf_release(&full);
	buf_release(&idle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_blocks_are_those_of_the_golden_files),
		cmocka_unit_test(every_width_is_kept),
		cmocka_unit_test(widths_that_nobody_has_do_no_harm),
		cmocka_unit_test(hostile_names_are_shown_and_do_nothing),
		cmocka_unit_test(colour_is_for_those_who_want_it),
		cmocka_unit_test(rows_are_limited_and_the_rest_is_counted),
		cmocka_unit_test(the_title_tells_what_the_figures_are),
		cmocka_unit_test(what_it_is_sorted_by_is_shown),
		cmocka_unit_test(an_empty_tab_says_so),
		cmocka_unit_test(columns_stay_from_block_to_block),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
