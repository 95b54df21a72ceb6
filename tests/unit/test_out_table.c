/* SPDX-License-Identifier: MIT */
#include "out_text.h"

#include "out/view.h"

#define GOLDEN "tests/golden/summary-%u%s.txt"

static void print(const struct summary *s, unsigned int width, size_t rows, struct buf *text)
{
	const struct out_opts opts = { .rows = rows, .width = width, .color = OUT_COLOR_NEVER,
				       .charset = OUT_CHARSET_UTF8 };

	out_text("table", s, &opts, text);
}

/* Lines, and the widest of them in columns; @why is for the message. */
static size_t lines_of(const struct buf *text, size_t *widest)
{
	const char *p = text->data, *end = text->data + text->len;
	size_t n = 0;

	*widest = 0;
	while (p && p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t len = nl ? (size_t)(nl - p) : (size_t)(end - p);
		size_t w = utf8_width(p, len);

		assert_non_null(nl);
		if (len && p[len - 1] == ' ')
			fail_msg("a line ends with a blank: %.*s", (int)len, p);
		*widest = w > *widest ? w : *widest;
		p = nl + 1;
		n++;
	}
	return n;
}

static void the_tables_are_those_of_the_golden_files(void **state)
{
	static const unsigned int widths[] = { 80, 140 };
	struct summary s;
	struct buf text;
	char path[64];
	size_t i;

	(void)state;
	fixture_rich(&s);
	for (i = 0; i < 2; i++) {
		print(&s, widths[i], OUT_ROWS_DEFAULT, &text);
		snprintf(path, sizeof(path), GOLDEN, widths[i], "");
		assert_golden(path, &text);
		buf_release(&text);
	}
	out_text("table", &s, &(struct out_opts){ .width = 80, .charset = OUT_CHARSET_ASCII,
						  .threads = true, .stacks = true,
						  .sort = OUT_SORT_NAME }, &text);
	snprintf(path, sizeof(path), GOLDEN, 80, "-all-ascii");
	assert_golden(path, &text);
	for (i = 0; i < text.len; i++)
		assert_in_range((unsigned char)text.data[i], '\n', '~');
	buf_release(&text);
	summary_release(&s);
}

static void every_width_is_kept(void **state)
{
	static void (*const fill[])(struct summary *) = { fixture_rich, fixture_hostile,
							  fixture_huge };
	static const size_t rows[] = { 0, 1, 2, OUT_ROWS_DEFAULT, 100 };
	unsigned int width;
	size_t i, k, widest;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct summary s;

		fill[i](&s);
		for (k = 0; k < 5; k++) {
			for (width = 80; width <= 200; width += 1 + width / 9) {
				struct buf text;

				print(&s, width, rows[k], &text);
				lines_of(&text, &widest);
				if (widest > width)
					fail_msg("summary %zu, %zu rows: %zu columns of %u:\n%s", i,
						 rows[k], widest, width, text.data);
				buf_release(&text);
			}
		}
		summary_release(&s);
	}
}

static void hostile_names_are_shown_and_do_nothing(void **state)
{
	const struct out_opts opts = { .threads = true, .stacks = true, .width = 120,
				       .charset = OUT_CHARSET_UTF8 };
	struct summary s;
	struct buf text;

	(void)state;
	fixture_hostile(&s);
	out_text("table", &s, &opts, &text);
	assert_harmless(&text);
	assert_non_null(strstr(text.data, "\\e]0;owned\\x07"));
	assert_non_null(strstr(text.data, "<script>"));
	assert_non_null(strstr(text.data, "\\u{202e}"));
	buf_release(&text);
	summary_release(&s);
}

static void colour_is_for_those_who_want_it(void **state)
{
	struct summary s;
	struct buf plain, colour;
	size_t i, n = 0;

	(void)state;
	fixture_rich(&s);
	print(&s, 100, 10, &plain);
	assert_null(memchr(plain.data, 0x1b, plain.len));
	out_text("table", &s,
		 &(struct out_opts){ .rows = 10,
				     .width = 100,
				     .color = OUT_COLOR_ALWAYS,
				     .charset = OUT_CHARSET_UTF8 },
		 &colour);
	/* Without its colours it is the plain text. */
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
	out_text("table", &s, &(struct out_opts){ .rows = 10 }, &plain);
	assert_null(memchr(plain.data, 0x1b, plain.len));
	buf_release(&plain);
	summary_release(&s);
}

static void rows_are_limited_and_the_rest_is_counted(void **state)
{
	struct summary s;
	struct buf text;
	size_t widest, few, many, i;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_FUTEX);
	fixture_locks(&s, 100);
	for (i = 0; i < 100; i++)
		s.lock[i].waits += 2;
	print(&s, 100, 10, &text);
	few = lines_of(&text, &widest);
	assert_non_null(strstr(text.data, "… 90 more (-n 0 shows all)"));
	buf_release(&text);
	print(&s, 100, 0, &text);
	many = lines_of(&text, &widest);
	assert_null(strstr(text.data, "(-n 0"));
	assert_true(many >= few + 90);
	buf_release(&text);
	print(&s, 100, 100, &text);
	assert_null(strstr(text.data, "(-n 0"));
	buf_release(&text);
	print(&s, 100, 1, &text);
	assert_non_null(strstr(text.data, "… 99 more"));
	buf_release(&text);
	summary_release(&s);
}

static void an_empty_summary_says_so(void **state)
{
	struct summary s;
	struct buf text;
	size_t widest;

	(void)state;
	fixture_empty(&s, SUM_WAIT, 0x1f);
	print(&s, 80, 10, &text);
	lines_of(&text, &widest);
	assert_non_null(strstr(text.data, "pid 4210"));
	assert_non_null(strstr(text.data, "nothing waited"));
	assert_non_null(strstr(text.data, "only calls that blocked are counted"));
	assert_null(strstr(text.data, "LOST"));
	buf_release(&text);
	summary_release(&s);
	/* What was not collected has no section. */
	fixture_empty(&s, SUM_WAIT, SUM_PIPES);
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "PIPES"));
	assert_null(strstr(text.data, "LOCKS"));
	assert_null(strstr(text.data, "SYSTEM CALLS"));
	assert_null(strstr(text.data, "SCHEDULING"));
	assert_null(strstr(text.data, "THREADS"));
	buf_release(&text);
	summary_release(&s);
}

static void what_was_attached_to_is_named(void **state)
{
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_rich(&s);
	for (i = 0; s.command[i]; i++)
		free(s.command[i]);
	free(s.command);
	s.command = NULL;
	s.has_exit = false;
	s.npids = 2;
	FIXTURE_ARRAY(s.pids, 2);
	s.pids[0] = 4211;
	s.pids[1] = 99;
	print(&s, 80, 10, &text);
	assert_memory_equal(text.data, "TRACED  pids 4211 (orders) 99\n", 30);
	assert_null(strstr(text.data, "exit code"));
	buf_release(&text);
	summary_release(&s);
}

/* Wakes at addresses that nobody waits at are for those who ask for all rows. */
static void locks_that_nobody_waits_for_are_counted_alone(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_FUTEX);
	s.nlock = s.futex.addresses = 3;
	FIXTURE_ARRAY(s.lock, 3);
	s.lock[0] = (struct sum_lock){ .addr = 0xaaa0, .waits = 1 };
	s.lock[1] = (struct sum_lock){ .addr = 0xbbb0, .wakes = 99 };
	s.lock[2] = (struct sum_lock){ .addr = 0xccc0, .wakes = 99, .wasted_wakes = 99 };
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "0xaaa0"));
	assert_null(strstr(text.data, "0xbbb0"));
	assert_non_null(strstr(text.data, "2 more (-n 0 shows all)"));
	buf_release(&text);
	print(&s, 80, 0, &text);
	assert_non_null(strstr(text.data, "0xbbb0"));
	assert_non_null(strstr(text.data, "0xccc0"));
	buf_release(&text);
	s.lock[2].wakes = 100;
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "0xccc0"));
	buf_release(&text);
	s.lock[0].waits = 0;
	s.lock[2].wakes = 99;
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "3 addresses"));
	assert_null(strstr(text.data, "more"));
	buf_release(&text);
	summary_release(&s);
}

/* A lock whose waits have one stack, all from one library call in one function. */
static void fill_lock(struct sum_lock *l, uint64_t waits, uint64_t each_ns, const char *inner,
		      const char *outer)
{
	uint64_t i;

	for (i = 0; i < waits; i++)
		hist_add(&l->wait, each_ns);
	l->waits = waits;
	l->nsite = 1;
	FIXTURE_ARRAY(l->site, 1);
	l->site[0].samples = 1;
	l->site[0].nframe = 2;
	FIXTURE_ARRAY(l->site[0].frame, 2);
	fixture_frame(&l->site[0].frame[0], 0x10, inner, "/lib/libc.so.6", NULL, 0);
	fixture_frame(&l->site[0].frame[1], 0x20, outer, "/opt/app", "/src/app.c", 7);
}

static size_t place_of(const struct buf *text, const char *part)
{
	const char *p = strstr(text->data, part);

	if (!p)
		fail_msg("'%s' is not in:\n%s", part, text->data);
	return p ? (size_t)(p - text->data) : 0;
}

/* By time alone the first four would stand before the lock that is fought for. */
static void parked_locks_stand_behind(void **state)
{
	static const char *const order[] = {
		"0xddd0", "0xeee0", "parked: one wait a thread", "0xaaa0", "0xbbb0", "0xccc0",
	};
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_FUTEX);
	s.nlock = s.futex.addresses = 5;
	FIXTURE_ARRAY(s.lock, 5);
	for (i = 0; i < 5; i++)
		s.lock[i].addr = 0xaaa0 + i * 0x1110;
	fill_lock(&s.lock[0], 1, 9000000000, "pthread_cond_wait", "idle_worker");
	fill_lock(&s.lock[1], 2, 4000000000, "__pthread_clockjoin_ex", "joiner");
	s.lock[1].kind = SUM_LOCK_JOIN;
	fill_lock(&s.lock[2], 30, 100000000, "pthread_cond_timedwait", "ticker");
	s.lock[2].timeouts = 30;
	fill_lock(&s.lock[3], 1, 2000000000, "pthread_mutex_lock", "long_hold");
	fill_lock(&s.lock[4], 900, 1000, "pthread_mutex_lock", "hot");
	print(&s, 80, 10, &text);
	for (i = 1; i < 6; i++)
		assert_true(place_of(&text, order[i - 1]) < place_of(&text, order[i]));
	/* Behind the rows that are told in full each still says where it waits. */
	place_of(&text, "__pthread_clockjoin_ex ← joiner app.c:7\n");
	place_of(&text, "pthread_cond_timedwait ← ticker app.c:7\n");
	buf_release(&text);
	out_text("json", &s, &(struct out_opts)OUT_OPTS_INIT, &text);
	assert_true(place_of(&text, "0xaaa0") < place_of(&text, "0xddd0"));
	buf_release(&text);
	/* The place is one line, however long the name. */
	free(s.lock[1].site[0].frame[1].symbol);
	s.lock[1].site[0].frame[1].symbol = fixture_array(301, 1);
	memset(s.lock[1].site[0].frame[1].symbol, 'x', 300);
	print(&s, 80, 10, &text);
	place_of(&text, "xxxx…\n");
	assert_null(strstr(text.data, "      xxx"));
	buf_release(&text);
	summary_release(&s);
}

static void edges_of_a_lock_are_capped(void **state)
{
	struct summary s;
	struct buf text;
	size_t i, n = 0;
	const char *p;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_FUTEX);
	s.nlock = s.futex.addresses = 1;
	FIXTURE_ARRAY(s.lock, 1);
	s.lock[0].waits = s.lock[0].nedge = 3000;
	FIXTURE_ARRAY(s.lock[0].edge, 3000);
	for (i = 0; i < 3000; i++)
		s.lock[0].edge[i] = (struct sum_edge){ .waker = (pid_t)i + 1, .waiter = 7,
						       .count = 1 };
	print(&s, 80, 0, &text);
	for (p = text.data; (p = strstr(p, " → ")); p++)
		n++;
	assert_int_equal(n, 20);
	assert_non_null(strstr(text.data, "… 2980 more"));
	buf_release(&text);
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "… 2997 more"));
	buf_release(&text);
	summary_release(&s);
}

static void a_long_command_line_is_cut(void **state)
{
	char script[3000];
	const char *argv[] = { "sh", "-c", script };
	struct summary s;
	struct buf text;
	size_t i, used;

	(void)state;
	for (i = 0; i < sizeof(script) - 1; i++)
		script[i] = i % 7 == 6 ? ' ' : 'a';
	script[i] = '\0';
	fixture_empty(&s, SUM_EXACT, SUM_SCHED);
	s.npids = 0;
	s.duration_ns = 7000000;
	fixture_command(&s, argv, 3);
	print(&s, 400, 10, &text);
	used = strcspn(text.data, "\n");
	assert_memory_equal(text.data + used - 3, "…", 3);
	assert_int_equal(utf8_width(text.data, used), 8 + 200 + 1);
	buf_release(&text);
	out_text("json", &s, &(struct out_opts)OUT_OPTS_INIT, &text);
	assert_non_null(strstr(text.data, script));
	buf_release(&text);
	s.command[2][150] = '\0';
	print(&s, 400, 10, &text);
	assert_null(strstr(text.data, "…"));
	buf_release(&text);
	summary_release(&s);
}

/* -n is for tables: this list says of a thread what it is made of. */
static void calls_on_the_way_are_whole(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_rich(&s);
	print(&s, 80, 1, &text);
	assert_non_null(strstr(text.data, "clone3 ×1,200"));
	assert_non_null(strstr(text.data, "madvise ×1,199"));
	buf_release(&text);
	summary_release(&s);
}

/* Wait mode knows one stage; a sum of one line would be that line again. */
static void one_stage_has_no_sum(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_WAIT, SUM_THREADS);
	s.threads.created = 3;
	fixture_hist(&s.threads.stage[SUM_STAGE_WAKEUP], 3, 5000);
	s.threads.cost = s.threads.stage[SUM_STAGE_WAKEUP];
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "wakeup  until it is on a CPU\n"));
	assert_null(strstr(text.data, "  all\n"));
	buf_release(&text);
	fixture_hist(&s.threads.stage[SUM_STAGE_START], 3, 500);
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "  all\n"));
	buf_release(&text);
	summary_release(&s);
}

static void a_narrowed_table_says_so(void **state)
{
	static const char *const paths[] = { "/etc/hosts", FIXTURE_EVIL };
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_SYSCALLS);
	print(&s, 120, 10, &text);
	assert_null(strstr(text.data, "narrowed"));
	buf_release(&text);
	s.calls = "!%file";
	print(&s, 120, 10, &text);
	assert_non_null(strstr(text.data, "SYSTEM CALLS  0 calls; narrowed to !%file (-e)\n"));
	buf_release(&text);
	s.paths = paths;
	s.npaths = 1;
	print(&s, 120, 10, &text);
	assert_non_null(strstr(text.data, "!%file (-e), of them calls on /etc/hosts (-P)\n"));
	buf_release(&text);
	s.calls = NULL;
	s.npaths = 2;
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "narrowed to calls on /etc/hosts, "));
	assert_harmless(&text);
	buf_release(&text);
	summary_release(&s);
}

static void the_ledger_is_printed_when_it_is_not_empty(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_SCHED);
	s.loss.stacks = s.loss.total = 7;
	print(&s, 80, 10, &text);
	assert_non_null(strstr(text.data, "LOST"));
	assert_non_null(strstr(text.data, "7 events or stacks are missing"));
	assert_non_null(strstr(text.data, "7 stacks could not be read"));
	buf_release(&text);
	summary_release(&s);
}

/* The first call of the table for each order, by what the fixture holds. */
static void calls_are_sorted_as_asked(void **state)
{
	static const char *const first[OUT_SORTS] = {
		[OUT_SORT_TIME] = "futex", [OUT_SORT_CPU] = "futex", [OUT_SORT_CALLS] = "read",
		[OUT_SORT_ERRORS] = "futex", [OUT_SORT_MEAN] = "wait4", [OUT_SORT_P50] = "wait4",
		[OUT_SORT_P99] = "wait4", [OUT_SORT_MAX] = "wait4", [OUT_SORT_NAME] = "clone3",
		[OUT_SORT_NOTHING] = "read",
	};
	struct summary s;
	struct buf text;
	unsigned int i;

	(void)state;
	fixture_rich(&s);
	for (i = 0; i < OUT_SORTS; i++) {
		const struct out_opts opts = { .rows = 1, .width = 80, .sort = (enum out_sort)i,
					       .charset = OUT_CHARSET_UTF8 };
		char *head, *row, *end;

		out_text("table", &s, &opts, &text);
		head = strstr(text.data, "% time");
		assert_non_null(head);
		row = strchr(head, '\n') + 1;
		end = strchr(row, '\n');
		*end = '\0';
		assert_string_equal(strrchr(row, ' ') + 1, first[i]);
		buf_release(&text);
	}
	summary_release(&s);
}

/* One that fails most has no row of its own: with two rows the line still names it. */
static void the_most_frequent_errors_are_of_all_calls(void **state)
{
	struct summary s;
	struct buf text;
	const char *line;
	size_t i;

	(void)state;
	fixture_rich(&s);
	print(&s, 80, 2, &text);
	line = strstr(text.data, "  errors  ");
	assert_non_null(line);
	assert_non_null(strstr(line, "openat 12 ENOENT"));
	buf_release(&text);
	/* Nor are more named than a person reads. */
	for (i = 0; i < s.nsyscall; i++) {
		struct sum_syscall *c = &s.syscall[i];
		size_t k;

		free(c->by_errno);
		c->by_errno = fixture_array(3, sizeof(*c->by_errno));
		c->nby_errno = 3;
		for (k = 0; k < 3; k++)
			c->by_errno[k] = (struct sum_errno){ (int)k + 1, 1000 * (i + 1) + k };
	}
	print(&s, 80, 2, &text);
	assert_non_null(strstr(text.data, " others\n"));
	buf_release(&text);
	summary_release(&s);
}

static void what_noise_hides_is_no_cost(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_rich(&s);
	s.overhead.ns_per_futex = 0;
	print(&s, 140, 10, &text);
	assert_non_null(strstr(text.data, "tracing adds 212 ns to a call · 204 ns to a pipe"));
	assert_null(strstr(text.data, "futex wake ·"));
	buf_release(&text);
	s.overhead.ns_per_syscall = s.overhead.ns_per_pipe_chunk = 0;
	print(&s, 140, 10, &text);
	assert_non_null(strstr(text.data, "tracing adds nothing that could be measured to a call"));
	buf_release(&text);
	summary_release(&s);
}

/* What came to a few chunks is the C library's start-up, not the pipe's use. */
static void few_chunks_have_no_futex_calls_each(void **state)
{
	struct summary s;
	struct buf text;
	size_t npipe;

	(void)state;
	fixture_rich(&s);
	npipe = s.npipe;
	s.npipe = 1;
	s.pipe[0].chunks_written = 100;
	s.pipe[0].futex_per_chunk = 5;
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "5.00"));
	buf_release(&text);
	s.pipe[0].chunks_written = 99;
	print(&s, 200, 10, &text);
	assert_null(strstr(text.data, "5.00"));
	assert_null(strstr(text.data, "futex/chunk"));
	buf_release(&text);
	s.npipe = npipe;
	summary_release(&s);
}

static void wait_mode_claims_no_chunks(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_WAIT, SUM_PIPES);
	s.npipe = 1;
	s.pipe = fixture_array(1, sizeof(*s.pipe));
	s.pipe[0].reader = fixture_array(1, sizeof(*s.pipe[0].reader));
	s.pipe[0].nreader = 1;
	s.pipe[0].reader[0].blocked = 389;
	s.pipe[0].reader_blocked_ns = s.pipe[0].reader[0].blocked_ns = 748000000;
	s.pipe[0].bottleneck = SUM_WRITER;
	print(&s, 80, 10, &text);
	assert_null(strstr(text.data, "chunk"));
	assert_null(strstr(text.data, "0 B"));
	assert_null(strstr(text.data, "nobody seen"));
	assert_non_null(strstr(text.data, "1 edge; only waits are seen"));
	assert_non_null(strstr(text.data, "the writer is the slower side: 389 reads blocked"));
	buf_release(&text);
	summary_release(&s);
}

static void nothing_found_says_what_was_looked_for(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_empty(&s, SUM_WAIT, SUM_PIPES);
	s.judged = (struct sum_judged){ .rules = 20, .judged = 20 };
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "FINDINGS  none: nothing was traced\n"));
	assert_non_null(strstr(text.data, "        nothing was traced\n"));
	buf_release(&text);
	s.comm = "^nobody$";
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "nothing was traced: no thread matched\n"));
	buf_release(&text);
	s.comm = NULL;
	s.threads.live_peak = 1;
	s.hidden = 2;
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "2 programs were left out, having rights that this "
			       "user has not"));
	buf_release(&text);
	s.hidden = 0;
	print(&s, 200, 10, &text);
	assert_null(strstr(text.data, "left out"));
	assert_non_null(strstr(text.data, "none: no rule found anything worth your time\n"));
	buf_release(&text);
	s.judged = (struct sum_judged){ .rules = 20, .judged = 5, .by_mode = 15 };
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "only 5 of 20 rules could be judged, --mode exact allows "
			       "the rest\n"));
	buf_release(&text);
	s.judged.by_collect = 3;
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "--mode exact without --collect allows the rest\n"));
	buf_release(&text);
	s.judged.by_mode = 0;
	print(&s, 200, 10, &text);
	assert_non_null(strstr(text.data, "judged, a trace without --collect allows the rest\n"));
	buf_release(&text);
	summary_release(&s);
}

static void environment_decides_where_nothing_else_does(void **state)
{
	const struct out_opts opts = OUT_OPTS_INIT;
	struct out_stream o = { .fd = -1 };
	struct summary s;
	struct view v;

	(void)state;
	summary_init(&s);
	setenv("COLUMNS", "123", 1);
	setenv("LC_ALL", "C", 1);
	setenv("LANG", "en_US.UTF-8", 1);
	view_init(&v, &s, &opts, &o);
	assert_int_equal(v.width, 123);
	assert_true(v.ascii);
	assert_false(v.color);
	setenv("COLUMNS", "junk", 1);
	setenv("LC_ALL", "", 1);
	unsetenv("LC_CTYPE");
	view_init(&v, &s, &opts, &o);
	assert_int_equal(v.width, 80);
	assert_false(v.ascii);
	unsetenv("COLUMNS");
	unsetenv("LANG");
	view_init(&v, &s, &opts, &o);
	assert_true(v.ascii);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tables_are_those_of_the_golden_files),
		cmocka_unit_test(every_width_is_kept),
		cmocka_unit_test(hostile_names_are_shown_and_do_nothing),
		cmocka_unit_test(colour_is_for_those_who_want_it),
		cmocka_unit_test(rows_are_limited_and_the_rest_is_counted),
		cmocka_unit_test(an_empty_summary_says_so),
		cmocka_unit_test(what_was_attached_to_is_named),
		cmocka_unit_test(locks_that_nobody_waits_for_are_counted_alone),
		cmocka_unit_test(parked_locks_stand_behind),
		cmocka_unit_test(edges_of_a_lock_are_capped),
		cmocka_unit_test(a_long_command_line_is_cut),
		cmocka_unit_test(calls_on_the_way_are_whole),
		cmocka_unit_test(one_stage_has_no_sum),
		cmocka_unit_test(a_narrowed_table_says_so),
		cmocka_unit_test(the_ledger_is_printed_when_it_is_not_empty),
		cmocka_unit_test(calls_are_sorted_as_asked),
		cmocka_unit_test(the_most_frequent_errors_are_of_all_calls),
		cmocka_unit_test(what_noise_hides_is_no_cost),
		cmocka_unit_test(few_chunks_have_no_futex_calls_each),
		cmocka_unit_test(wait_mode_claims_no_chunks),
		cmocka_unit_test(nothing_found_says_what_was_looked_for),
		cmocka_unit_test(environment_decides_where_nothing_else_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
