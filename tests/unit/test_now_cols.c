/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "fixture_now.h"
#include "out/utf8.h"

/* The row's cells of the columns that the view has, parted by bars. */
static void cells_of(struct buf *b, const struct now_view *v, const struct now_tab_desc *tab,
		     const void *row)
{
	bool first = true;
	size_t c;

	for (c = 0; c < tab->ncol; c++) {
		if (!now_col_shown(v, &tab->col[c]))
			continue;
		if (!first)
			buf_addc(b, '|');
		first = false;
		tab->col[c].put(b, v, row);
	}
}

static void heads_of(struct buf *b, const struct now_view *v, const struct now_tab_desc *tab)
{
	size_t c;

	for (c = 0; c < tab->ncol; c++)
		if (now_col_shown(v, &tab->col[c]))
			buf_addf(b, "%s%s", b->len ? "|" : "", now_col_head(v, &tab->col[c]));
}

/* @want: the headings, then a row each. */
static void check_tab(const struct now *n, enum now_tab which, bool totals, bool ascii,
		      const char *const *want)
{
	const struct now_view v = { .now = n, .totals = totals, .ascii = ascii };
	const struct now_tab_desc *tab = &now_tabs[which];
	size_t rows, i;
	const char *base = tab->rows(n, &rows);

	for (i = 0; i <= rows; i++) {
		struct buf b = BUF_INIT;

		if (i)
			cells_of(&b, &v, tab, base + (i - 1) * tab->row_bytes);
		else
			heads_of(&b, &v, tab);
		if (strcmp(b.data, want[i]) != 0)
			fail_msg("%s, row %zu:\n%s\nis not\n%s", tab->name, i, b.data, want[i]);
		buf_release(&b);
	}
}

#define CHECK(n, tab, totals, ascii, ...) \
	check_tab(n, tab, totals, ascii, (const char *const[]){ __VA_ARGS__ })

static void threads_say_where_their_time_goes(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	CHECK(&f.now, NOW_THREADS, false, false,
	      "TID|PID|COMMAND|CPU%|RUNQ%|LOCK%|BLOCK%|SWITCH/s|CALLS/s|AGE|PAST|STATE|FOR|WAIT",
	      "4211|4210|worker-1|92.5|2.50|4.80|5.00|1201|30.5k|754 s|▁▁▁▁▁▁▄█|run|3.21 ms|",
	      "4212|4210|worker-2|15.5|1.00|80.0|83.5|1000|1|754 s|       ▂|wait|812 ns|"
	      "futex queue_lock",
	      "4213|4210|worker-3|15.5|45.0|0|0|1|0|2.00 s|      █▂|queue|41.0 ms|",
	      "4300|4300|pack|0.01|0|0|100|0|0|1d01h|        |wait|3.00 s|read",
	      "4214|4210|idle|0|0|0|0|0|0|754 s|        |wait|754 s|",
	      "4215|4210|stat|0|0|100|100|0|0|754 s|        |wait|61.0 s|futex 0x7f3a6c000ba0");
	CHECK(&f.now, NOW_THREADS, true, true,
	      "TID|PID|COMMAND|CPU|RUNQ|LOCK|BLOCK|SWITCHES|CALLS|AGE|PAST|STATE|FOR|WAIT",
	      "4211|4210|worker-1|92.0 s|3.00 s|38.0 s|40.0 s|123k|1.23M|754 s|......=#|run|"
	      "3.21 ms|",
	      "4212|4210|worker-2|20.0 s|1.00 s|99.0 s|100 s|99.0k|99|754 s|       :|wait|812 ns|"
	      "futex queue_lock",
	      "4213|4210|worker-3|310 ms|900 ms|0|0|1|0|2.00 s|      #:|queue|41.0 ms|",
	      "4300|4300|pack|5.00 ms|0|0|700 s|12|0|1d01h|        |wait|3.00 s|read",
	      "4214|4210|idle|0|0|0|0|0|0|754 s|        |wait|754 s|",
	      "4215|4210|stat|0|0|700 s|700 s|0|0|754 s|        |wait|61.0 s|"
	      "futex 0x7f3a6c000ba0");
	f.now.mode = SUM_WAIT;
	f.now.nthread = 1;
	f.thread[0].state_ns = 3210;
	CHECK(&f.now, NOW_THREADS, false, true,
	      "TID|PID|COMMAND|CPU%|RUNQ%|LOCK%|BLOCK%|SWITCH/s|AGE|PAST|STATE|FOR|WAIT",
	      "4211|4210|worker-1|92.5|2.50|4.80|5.00|1201|754 s|......=#|run|3.21 us|");
}

static void locks_say_who_waits_and_how_long(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	CHECK(&f.now, NOW_LOCKS, false, false,
	      "LOCK|PID|COMMAND|WAITING|WAIT%|WAITS/s|P50|P99|MAX|WAKES/s|WASTED%|TIMEOUT/s|KIND|"
	      "PAST|MODULE",
	      "queue_lock|4210|orders|1|160|2001|31.2 µs|49.1 µs|418 µs|2000|6.25|1|private|"
	      "▄▄▄▄▄▄▆█|orders",
	      "0x7f3a6c000ba0|4210|orders|1|0|0||||0||0|shared|        |",
	      "join 0x55d1a40c4080|4300|pack|0|0.50|1|5.00 ms|5.00 ms|300 ms|0||0|join|        |");
	CHECK(&f.now, NOW_LOCKS, true, true,
	      "LOCK|PID|COMMAND|WAITING|WAITED|WAITS|MAX|WAKES|WASTED%|TIMEOUTS|KIND|PAST|MODULE",
	      "queue_lock|4210|orders|1|1.39 s|40.1k|418 us|40.3k|2.99|31|private|======*#|orders",
	      "0x7f3a6c000ba0|4210|orders|1|0|1||0||0|shared|        |",
	      "join 0x55d1a40c4080|4300|pack|0|900 ms|9|300 ms|0||0|join|        |");
	f.now.mode = SUM_WAIT;
	f.now.nlock = 1;
	/* Of a stripped program: its place in the file. */
	f.lock[0].symbol = NULL;
	f.lock[0].module_offset = 0x4060;
	CHECK(&f.now, NOW_LOCKS, false, false,
	      "LOCK|PID|COMMAND|WAITING|WAIT%|WAITS/s|P50|P99|MAX|KIND|PAST|MODULE",
	      "orders+0x4060|4210|orders|1|160|2001|31.2 µs|49.1 µs|418 µs|private|▄▄▄▄▄▄▆█|"
	      "orders");
	f.lock[0].symbol = "queue_lock";
	CHECK(&f.now, NOW_LOCKS, false, false,
	      "LOCK|PID|COMMAND|WAITING|WAIT%|WAITS/s|P50|P99|MAX|KIND|PAST|MODULE",
	      "queue_lock|4210|orders|1|160|2001|31.2 µs|49.1 µs|418 µs|private|▄▄▄▄▄▄▆█|orders");
}

static void pipes_say_what_flows_and_who_holds_it_up(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	CHECK(&f.now, NOW_PIPES, false, false,
	      "EDGE|BYTES/s|CHUNKS/s|CHUNK|W-WAIT%|R-WAIT%|KIND|PAST",
	      "worker-1 (4211) +1 → pack (4300)|6 MiB|100|61.4 KiB|45.0|0|pipe|      ▄█",
	      "? → thread 4301|1 B|1|1 B|0|100|fifo|        ",
	      "pack (4300) → ?|0 B|0||0|0|eventfd|        ");
	CHECK(&f.now, NOW_PIPES, true, true,
	      "EDGE|BYTES|CHUNKS|CHUNK|W-WAIT|R-WAIT|KIND|PAST",
	      "worker-1 (4211) +1 -> pack (4300)|1.17 GiB|19.0k|64.7 KiB|1.21 s|12.0 ms|pipe|"
	      "      =#",
	      "? -> thread 4301|3 B|3|1 B|0|700 s|fifo|        ",
	      "pack (4300) -> ?|0 B|0||0|0|eventfd|        ");
	/* In wait mode the past is of ends that waited: of one and a half, the most is full. */
	f.now.mode = SUM_WAIT;
	f.now.npipe = 1;
	fixture_past(f.pipe[0].past, f.now.tick, 0.5f, 0.25f, 0);
	CHECK(&f.now, NOW_PIPES, false, false, "EDGE|W-WAIT%|R-WAIT%|KIND|PAST",
	      "worker-1 (4211) +1 → pack (4300)|45.0|0|pipe|      ▂▄");
}

static void calls_say_how_often_and_how_long(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	CHECK(&f.now, NOW_CALLS, false, false,
	      "CALL|CALLS/s|ERRORS/s|WAITING|BLOCK%|TIME%|P50|P99|MAX|BLOCKED/s|PAST",
	      "futex|4001|2|2|260|280|15.5 µs|166 µs|208 µs|2002|      ▄█",
	      "clock_nanosleep|1|0|0|50.0|50.0|1.00 s|1.00 s|1.00 s|1|        ",
	      "page fault/other|0|0|0|0|0||||0|        ");
	CHECK(&f.now, NOW_CALLS, true, true,
	      "CALL|CALLS|ERRORS|WAITING|BLOCK|TIME|MAX|BLOCKED|PAST",
	      "futex|81.3k|242|2|1.39 s|1.41 s|208 us|50.3k|      =#",
	      "clock_nanosleep|3|0|0|3.00 s|3.00 s|1.00 s|3|        ",
	      "page fault/other|0|0|0|0|0||7|        ");
	f.now.mode = SUM_WAIT;
	f.now.ncall = 1;
	CHECK(&f.now, NOW_CALLS, false, false, "CALL|WAITING|BLOCK%|P50|P99|MAX|BLOCKED/s|PAST",
	      "futex|2|260|15.5 µs|166 µs|208 µs|2002|      ▄█");
}

static void processes_add_their_threads_up(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	CHECK(&f.now, NOW_PROCESSES, false, false,
	      "PID|COMMAND|THREADS|RUN|QUEUE|WAIT|CPU%|RUNQ%|LOCK%|BLOCK%|BORN/s|ENDED/s|SWITCH/s|"
	      "CALLS/s|AGE|PAST",
	      "4210|orders|5|1|1|2|124|48.5|185|189|1|0|2201|30.5k|754 s|      █▄",
	      "4300|pack|1|0|0|1|0.01|0|0|100|0|0|0|0|1d01h|        ");
	CHECK(&f.now, NOW_PROCESSES, true, true,
	      "PID|COMMAND|THREADS|RUN|QUEUE|WAIT|CPU|RUNQ|LOCK|BLOCK|BORN|ENDED|SWITCHES|CALLS|"
	      "AGE|PAST",
	      "4210|orders|5|1|1|2|112 s|5.00 s|837 s|840 s|12|7|222k|1.23M|754 s|      #=",
	      "4300|pack|1|0|0|1|5.00 ms|0|0|700 s|0|0|12|0|1d01h|        ");
	f.now.mode = SUM_WAIT;
	f.now.nprocess = 1;
	CHECK(&f.now, NOW_PROCESSES, false, false,
	      "PID|COMMAND|THREADS|RUN|QUEUE|WAIT|CPU%|RUNQ%|LOCK%|BLOCK%|BORN/s|ENDED/s|SWITCH/s|"
	      "AGE|PAST",
	      "4210|orders|5|1|1|2|124|48.5|185|189|1|0|2201|754 s|      █▄");
}

/* No rate can be told then, and none is. */
static void an_interval_of_no_length_has_no_rates(void **state)
{
	struct fixture_now f;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	f.now.interval_ns = 0;
	f.now.nthread = f.now.nlock = f.now.npipe = f.now.ncall = f.now.nprocess = 1;
	CHECK(&f.now, NOW_THREADS, false, false,
	      "TID|PID|COMMAND|CPU%|RUNQ%|LOCK%|BLOCK%|SWITCH/s|CALLS/s|AGE|PAST|STATE|FOR|WAIT",
	      "4211|4210|worker-1|||||||754 s|▁▁▁▁▁▁▄█|run|3.21 ms|");
	CHECK(&f.now, NOW_PIPES, false, false,
	      "EDGE|BYTES/s|CHUNKS/s|CHUNK|W-WAIT%|R-WAIT%|KIND|PAST",
	      "worker-1 (4211) +1 → pack (4300)|||61.4 KiB|||pipe|      ▄█");
	CHECK(&f.now, NOW_CALLS, false, false,
	      "CALL|CALLS/s|ERRORS/s|WAITING|BLOCK%|TIME%|P50|P99|MAX|BLOCKED/s|PAST",
	      "futex|||2|||15.5 µs|166 µs|208 µs||      ▄█");
	CHECK(&f.now, NOW_PROCESSES, true, false,
	      "PID|COMMAND|THREADS|RUN|QUEUE|WAIT|CPU|RUNQ|LOCK|BLOCK|BORN|ENDED|SWITCHES|CALLS|"
	      "AGE|PAST",
	      "4210|orders|5|1|1|2|112 s|5.00 s|837 s|840 s|12|7|222k|1.23M|754 s|      █▄");
}

/* Once in ten seconds is not never. */
static void what_is_seldom_is_not_nothing(void **state)
{
	struct fixture_now f;
	struct buf b = BUF_INIT;
	struct now_view v = { .now = &f.now };
	const struct now_tab_desc *tab = &now_tabs[NOW_PROCESSES];

	(void)state;
	fixture_now(&f, SUM_EXACT);
	f.now.interval_ns = 10 * SEC;
	f.process[0].born.step = 4;
	tab->col[now_col_find(tab, "BORN/s")].put(&b, &v, &f.process[0]);
	buf_addc(&b, ' ');
	f.process[0].born.step = 5;
	tab->col[now_col_find(tab, "BORN/s")].put(&b, &v, &f.process[0]);
	buf_addc(&b, ' ');
	f.process[0].born.step = 0;
	tab->col[now_col_find(tab, "BORN/s")].put(&b, &v, &f.process[0]);
	assert_string_equal(b.data, "<1 1 0");
	buf_release(&b);
}

/* What is given in --sort finds its column, whichever heading it is read off. */
static void columns_are_found_by_either_heading(void **state)
{
	const struct now_tab_desc *tab;
	size_t i, c;

	(void)state;
	for (i = 0; i < NOW_TABS; i++) {
		tab = &now_tabs[i];
		for (c = 0; c < tab->ncol; c++) {
			const struct now_col *col = &tab->col[c];

			assert_int_equal(now_col_find(tab, col->head), c);
			if (col->head_totals && *col->head_totals)
				assert_int_equal(now_col_find(tab, col->head_totals), c);
		}
		assert_int_equal(now_col_find(tab, ""), tab->ncol);
		assert_int_equal(now_col_find(tab, "CPU %"), tab->ncol);
	}
	tab = &now_tabs[NOW_THREADS];
	assert_int_equal(now_col_find(tab, "cpu%"), now_col_find(tab, "CPU"));
	assert_int_equal(now_col_find(tab, "switch/S"), now_col_find(tab, "SWITCHES"));
}

static void every_column_is_whole(void **state)
{
	size_t i, c;

	(void)state;
	for (i = 0; i < NOW_TABS; i++) {
		const struct now_tab_desc *tab = &now_tabs[i];
		bool always = false;

		assert_true(tab->sort < tab->ncol);
		assert_true(tab->ncol <= 16);	/* TABLE_COLS_MAX */
		for (c = 0; c < tab->ncol; c++) {
			const struct now_col *col = &tab->col[c];

			assert_non_null(col->head);
			assert_non_null(col->help);
			assert_non_null(col->put);
			assert_non_null(col->order);
			assert_true(col->width);
			always = always || (!col->rank && !col->exact);
			/* A heading that says /s or % of time is no heading of a total. */
			if (strstr(col->head, "/s"))
				assert_non_null(col->head_totals);
			if (col->head_totals)
				assert_null(strstr(col->head_totals, "/s"));
			assert_true(col->left || strlen(col->head) <= col->width);
		}
		assert_true(always);
	}
}

/* Else the columns to the right of it jump. */
static void no_figure_is_wider_than_its_column(void **state)
{
	static void (*const fill[])(struct fixture_now *, enum sum_mode) = {
		fixture_now, fixture_now_hostile, fixture_now_absurd,
	};
	struct fixture_now f;
	size_t i, k, c, rows, row;

	(void)state;
	for (i = 0; i < 6; i++) {
		const struct now_view v = { .now = &f.now, .totals = i / 3 };

		fill[i % 3](&f, SUM_EXACT);
		/* The longest years are longer, and take themselves the room. */
		for (k = 0; k < NOW_TABS && i % 3 != 2; k++) {
			const struct now_tab_desc *tab = &now_tabs[k];
			const char *base = tab->rows(&f.now, &rows);

			for (row = 0; row < rows; row++) {
				for (c = 0; c < tab->ncol; c++) {
					struct buf b = BUF_INIT;

					if (tab->col[c].left)
						continue;
					tab->col[c].put(&b, &v, base + row * tab->row_bytes);
					if (utf8_width(b.data ? b.data : "", b.len) >
					    now_col_width(&v, &tab->col[c]))
						fail_msg("%s: '%s'", tab->col[c].head, b.data);
					buf_release(&b);
				}
			}
		}
	}
}

/* The places of the rows in the order of a column: "0 2 1". */
static void order_of(struct buf *b, const struct now_view *v, enum now_tab which, const char *head)
{
	const struct now_tab_desc *tab = &now_tabs[which];
	const void *row[8];
	size_t rows, i;
	const char *base = tab->rows(v->now, &rows);

	assert_true(rows <= 8);
	for (i = 0; i < rows; i++)
		row[i] = base + i * tab->row_bytes;
	now_sort(v, tab, now_col_find(tab, head), false, row, rows, rows);
	buf_reset(b);
	for (i = 0; i < rows; i++)
		buf_addf(b, "%s%zu", i ? " " : "",
			 (size_t)((const char *)row[i] - base) / tab->row_bytes);
}

static void figures_fall_and_ids_and_text_rise(void **state)
{
	static const struct {
		enum now_tab tab;
		const char *head, *step, *total;
	} want[] = {
		{ NOW_THREADS, "TID", "0 1 2 4 5 3", NULL },
		{ NOW_THREADS, "PID", "0 1 2 4 5 3", NULL },
		{ NOW_THREADS, "COMMAND", "4 3 5 0 1 2", NULL },
		{ NOW_THREADS, "CPU%", "0 1 2 3 4 5", "0 1 2 3 4 5" },
		{ NOW_THREADS, "RUNQ%", "2 0 1 4 5 3", "0 1 2 4 5 3" },
		{ NOW_THREADS, "LOCK%", "5 1 0 2 4 3", "5 1 0 2 4 3" },
		{ NOW_THREADS, "BLOCK%", "5 3 1 0 2 4", "5 3 1 0 2 4" },
		{ NOW_THREADS, "SWITCH/s", "0 1 2 4 5 3", "0 1 3 2 4 5" },
		{ NOW_THREADS, "CALLS/s", "0 1 2 4 5 3", NULL },
		{ NOW_THREADS, "AGE", "3 0 1 4 5 2", NULL },
		{ NOW_THREADS, "PAST", "0 2 1 4 5 3", NULL },
		{ NOW_THREADS, "STATE", "0 2 1 4 5 3", NULL },
		{ NOW_THREADS, "FOR", "4 5 3 2 0 1", NULL },
		/* Futexes by address, then read, then those that do not wait, the longest first. */
		{ NOW_THREADS, "WAIT", "1 5 3 4 2 0", NULL },
		{ NOW_LOCKS, "LOCK", "0 2 1", NULL },
		{ NOW_LOCKS, "PID", "0 1 2", NULL },
		{ NOW_LOCKS, "COMMAND", "0 1 2", NULL },
		{ NOW_LOCKS, "WAITING", "0 1 2", NULL },
		{ NOW_LOCKS, "WAIT%", "0 1 2", "0 1 2" },
		{ NOW_LOCKS, "WAITS/s", "0 2 1", "0 2 1" },
		{ NOW_LOCKS, "P50", "2 0 1", NULL },
		{ NOW_LOCKS, "P99", "2 0 1", NULL },
		{ NOW_LOCKS, "MAX", "2 0 1", NULL },
		{ NOW_LOCKS, "WASTED%", "0 2 1", NULL },
		{ NOW_LOCKS, "KIND", "2 0 1", NULL },
		{ NOW_LOCKS, "MODULE", "0 2 1", NULL },
		{ NOW_PIPES, "EDGE", "2 0 1", NULL },
		{ NOW_PIPES, "BYTES/s", "0 1 2", "0 1 2" },
		{ NOW_PIPES, "CHUNKS/s", "0 1 2", NULL },
		{ NOW_PIPES, "CHUNK", "0 1 2", NULL },
		{ NOW_PIPES, "W-WAIT%", "0 1 2", NULL },
		{ NOW_PIPES, "R-WAIT%", "1 0 2", NULL },
		{ NOW_PIPES, "KIND", "2 1 0", NULL },
		{ NOW_CALLS, "CALL", "1 0 2", NULL },
		{ NOW_CALLS, "CALLS/s", "0 1 2", "0 1 2" },
		{ NOW_CALLS, "TIME%", "0 1 2", "1 0 2" },
		{ NOW_CALLS, "P50", "1 0 2", NULL },
		{ NOW_CALLS, "BLOCK%", "0 1 2", "1 0 2" },
		{ NOW_PROCESSES, "PID", "0 1", NULL },
		{ NOW_PROCESSES, "THREADS", "0 1", NULL },
		{ NOW_PROCESSES, "QUEUE", "0 1", NULL },
		{ NOW_PROCESSES, "AGE", "1 0", NULL },
	};
	struct fixture_now f;
	struct now_view v = { .now = &f.now };
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		v.totals = false;
		order_of(&b, &v, want[i].tab, want[i].head);
		if (strcmp(b.data, want[i].step) != 0)
			fail_msg("by %s: %s, not %s", want[i].head, b.data, want[i].step);
		v.totals = true;
		order_of(&b, &v, want[i].tab, want[i].head);
		if (want[i].total && strcmp(b.data, want[i].total) != 0)
			fail_msg("by %s in all: %s, not %s", want[i].head, b.data, want[i].total);
	}
	/* Wait mode knows of no bytes: who waits comes first. */
	f.now.mode = SUM_WAIT;
	v.totals = false;
	order_of(&b, &v, NOW_PIPES, "BYTES/s");
	assert_string_equal(b.data, "1 0 2");
	buf_release(&b);
}

static void rows_are_known_again_by_their_keys(void **state)
{
	struct fixture_now f;
	uint64_t a[2], b[2];

	(void)state;
	fixture_now(&f, SUM_EXACT);
	now_tabs[NOW_LOCKS].key(&f.lock[0], a);
	now_tabs[NOW_LOCKS].key(&f.lock[2], b);
	assert_int_equal(a[0], b[0]);
	assert_int_not_equal(a[1], b[1]);
	now_tabs[NOW_PIPES].key(&f.pipe[0], a);
	assert_true(a[0] == f.pipe[0].id && a[1] == f.pipe[0].sb);
	now_tabs[NOW_THREADS].key(&f.thread[3], a);
	now_tabs[NOW_PROCESSES].key(&f.process[1], b);
	assert_true(a[0] == 4300 && b[0] == 4300);
	/* What is no system call has the number that others of its kind have. */
	now_tabs[NOW_CALLS].key(&f.call[2], a);
	f.call[2].name = "page fault";
	now_tabs[NOW_CALLS].key(&f.call[2], b);
	assert_int_equal(a[0], b[0]);
	assert_int_not_equal(a[1], b[1]);
	assert_ptr_equal(now_tabs[NOW_PIPES].past(&f.pipe[1]), f.pipe[1].past);
}

static void the_text_of_a_row_is_what_one_looks_for(void **state)
{
	static const struct {
		enum now_tab tab;
		size_t row;
		const char *text;
	} want[] = {
		{ NOW_THREADS, 0, "worker-1 4211 4210" },
		{ NOW_THREADS, 1, "worker-2 4212 4210 futex 0x55d1a40c4080" },
		{ NOW_LOCKS, 0, "queue_lock /opt/orders/bin/orders orders 4210 "
				"0x55d1a40c4080 private" },
		{ NOW_PIPES, 0, "pipe 70001 worker-1 4211 4210 worker-2 4212 4210 pack 4300 4300" },
		{ NOW_CALLS, 2, "page fault/other" },
		{ NOW_PROCESSES, 1, "pack 4300" },
	};
	struct fixture_now f;
	size_t i, rows;

	(void)state;
	fixture_now(&f, SUM_EXACT);
	for (i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct now_tab_desc *tab = &now_tabs[want[i].tab];
		const char *base = tab->rows(&f.now, &rows);
		struct buf b = BUF_INIT;

		tab->text(&b, base + want[i].row * tab->row_bytes);
		assert_string_equal(b.data, want[i].text);
		buf_release(&b);
	}
}

static void check_spark(const char *want, bool ascii, uint64_t tick, const float *past,
			unsigned int cells, float scale)
{
	const struct now now = { .tick = tick };
	const struct now_view v = { .now = &now, .ascii = ascii };
	struct buf b = BUF_INIT;

	now_spark(&b, &v, past, cells, scale);
	assert_string_equal(b.data ? b.data : "", want);
	buf_release(&b);
}

static void a_sparkline_rises_with_its_figures(void **state)
{
	float past[NOW_PAST], odd[NOW_PAST] = { (float)NAN, (float)INFINITY, -1, 1e-30f, 1 };
	size_t i;

	(void)state;
	for (i = 0; i < NOW_PAST; i++)
		past[i] = (float)i / 8;
	/* Newest right, and the array goes round. */
	check_spark(" ▁▂▃▄▅▆▇████████", false, 15, past, 16, 1);
	check_spark("██", false, 15, past, 2, 1);
	check_spark("▄▅", false, 5, past, 2, 1);
	check_spark("▅▆▇████████ ▁▂▃▄", false, 16 * 1000 + 4, past, 16, 1);
	/* A cell is full at the scale; ASCII has a level less. */
	check_spark(" .:-=+*#########", true, 15, past, 16, 1.001f);
	check_spark(" ▁▁▂▂▃▃▄▄▅▅▆▆▇▇█", false, 15, past, 16, 2);
	/* No scale: the most that is shown. */
	check_spark(" ▃▆█", false, 3, past, 4, 0);
	check_spark(" ▂▃▄▅▆▇█", false, 7, past, 8, 0);
	/* More cells than there is past. */
	check_spark("   ▁▂▃▄▅▆▇████████", false, 15, past, 18, 1);
	check_spark("", false, 15, past, 0, 1);
	/* What is no number and what is below 0 is nothing; the least is something. */
	check_spark(" █ ▁█", false, 4, odd, 5, 1);
	check_spark(" # .#", true, 4, odd, 5, 1);
	/* Before there was a past. */
	memset(past, 0, sizeof(past));
	past[0] = 1;
	check_spark("       █", false, 0, past, 8, 0);
	past[0] = 0;
	check_spark("        ", false, 0, past, 8, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_say_where_their_time_goes),
		cmocka_unit_test(locks_say_who_waits_and_how_long),
		cmocka_unit_test(pipes_say_what_flows_and_who_holds_it_up),
		cmocka_unit_test(calls_say_how_often_and_how_long),
		cmocka_unit_test(processes_add_their_threads_up),
		cmocka_unit_test(an_interval_of_no_length_has_no_rates),
		cmocka_unit_test(what_is_seldom_is_not_nothing),
		cmocka_unit_test(columns_are_found_by_either_heading),
		cmocka_unit_test(every_column_is_whole),
		cmocka_unit_test(no_figure_is_wider_than_its_column),
		cmocka_unit_test(figures_fall_and_ids_and_text_rise),
		cmocka_unit_test(rows_are_known_again_by_their_keys),
		cmocka_unit_test(the_text_of_a_row_is_what_one_looks_for),
		cmocka_unit_test(a_sparkline_rises_with_its_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
