/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "fixture_now.h"
#include "out/utf8.h"

static void check(const struct now_view *v, unsigned int width, const char *want1,
		  const char *want2)
{
	struct buf one = BUF_INIT, two = BUF_INIT;

	now_head(&one, &two, v, width);
	if (strcmp(one.data, want1) != 0 || strcmp(two.data, want2) != 0)
		fail_msg("%u columns:\n%s\n%s\nare not\n%s\n%s", width, one.data, two.data, want1,
			 want2);
	assert_true(utf8_width(one.data, one.len) <= width);
	assert_true(utf8_width(two.data, two.len) <= width);
	buf_release(&one);
	buf_release(&two);
}

/* 12,345 losses of three causes. */
static void lose(struct now *n)
{
	n->loss = (struct sum_loss){ .ring_full = 300, .map_full = 12000, .stacks = 45,
				     .total = 12345 };
}

static void nothing_lost_is_said(void **state)
{
	struct fixture_now f;
	const struct now_view v = { .now = &f.now };

	(void)state;
	fixture_now(&f, SUM_EXACT);
	check(&v, 400,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 % · "
	      "RUNQ 48.5 % · 2201 switches/s · 6 migrations/s · 1 born/s, 0 ended/s · traced 754 s",
	      "lost 0 events · own 0.43 % of a CPU · a call +112 ns · a futex +90 ns (exact mode)"
	      " · refresh 1.20 ms");
	check(&v, 120,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 % · "
	      "RUNQ 48.5 % · 2201 switches/s · traced 754 s",
	      "lost 0 events · own 0.43 % of a CPU · a call +112 ns · a futex +90 ns (exact mode)"
	      " · refresh 1.20 ms");
	check(&v, 80,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 %",
	      "lost 0 events · own 0.43 % of a CPU · a call +112 ns · a futex +90 ns");
	check(&v, 20, "6 threads", "lost 0 · own 0.43 %");
	/* One that has ended is in its tab, not among those that are there. */
	f.process[1].threads = 0;
	check(&v, 64, "6 threads of 1 process · run 1 queue 1 wait 4 · CPU 124 %",
	      "lost 0 events · own 0.43 % of a CPU · a call +112 ns");
}

static void what_was_lost_stays_however_narrow(void **state)
{
	struct fixture_now f;
	const struct now_view v = { .now = &f.now };

	(void)state;
	fixture_now(&f, SUM_EXACT);
	lose(&f.now);
	f.now.forgotten = 7;
	check(&v, 200,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 % · "
	      "RUNQ 48.5 % · 2201 switches/s · 6 migrations/s · 1 born/s, 0 ended/s · traced 754 s",
	      "lost 12.3k: 12.0k map full, 300 ring full, 45 stack not read · own 0.43 % of a CPU"
	      " · a call +112 ns · a futex +90 ns (exact mode) · 7 rows dropped · refresh 1.20 ms");
	check(&v, 120,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 % · "
	      "RUNQ 48.5 % · 2201 switches/s · traced 754 s",
	      "lost 12.3k: 12.0k map full, 300 ring full · own 0.43 % of a CPU · a call +112 ns · "
	      "a futex +90 ns (exact mode)");
	check(&v, 80,
	      "6 threads of 2 processes · run 1 queue 1 wait 4 · CPU 124 % of 400 %",
	      "lost 12.3k: 12.0k map full · own 0.43 % of a CPU · a call +112 ns");
	check(&v, 24, "6 threads · CPU 124 %", "lost 12.3k · own 0.43 %");
	check(&v, 20, "6 threads", "lost 12.3k · own 0.…");
	check(&v, 1, "…", "…");
}

static void own_cost_is_that_of_the_mode(void **state)
{
	struct fixture_now f;
	struct now_view v = { .now = &f.now };
	const char *const line1 = "6 threads of 2 processes · run 1 queue 1 wait 4"
				  " · CPU 124 % of 400 % · RUNQ 48.5 % · "
		"2201 switches/s";

	(void)state;
	fixture_now(&f, SUM_WAIT);
	check(&v, 100, line1,
	      "lost 0 events · own 0.43 % of a CPU · a call +0 ns (wait mode) · refresh 1.20 ms");
	f.now.mode = SUM_EXACT;
	f.now.refresh_cpu_ns = 0;
	f.now.overhead.ns_per_pipe_chunk = 204;
	check(&v, 105, line1,
	      "lost 0 events · own 0.43 % of a CPU · a call +112 ns · a futex +90 ns"
	      " · a chunk +204 ns (exact mode)");
	/* Of what is not collected there is no cost. */
	f.now.collected = SUM_SYSCALLS;
	check(&v, 100, line1, "lost 0 events · own 0.43 % of a CPU · a call +112 ns (exact mode)");
	f.now.overhead.ns_per_syscall = 0;
	check(&v, 100, line1, "lost 0 events · own 0.43 % of a CPU · cost of a call too small to "
	      "measure (exact mode)");
	f.now.overhead.measured = false;
	check(&v, 100, line1,
	      "lost 0 events · own 0.43 % of a CPU · cost of a call not measured (exact mode)");
}

static void totals_are_not_rates(void **state)
{
	struct fixture_now f;
	struct now_view v = { .now = &f.now, .totals = true, .ascii = true };
	const char *const line1 =
		"6 threads of 2 processes | run 1 queue 1 wait 4 | CPU 113 s"
		" | RUNQ 5.00 s | 222k switches | 1200 migrations"
		" | 12 born, 7 ended | traced 754 s";
	const char *const line2 =
		"lost 0 events | own 1.23 s of CPU time | a call +112 ns | a futex +90 ns "
		"(exact mode) | refresh 1.20 ms";

	(void)state;
	fixture_now(&f, SUM_EXACT);
	check(&v, 200, line1, line2);
	/* Nor are there rates of an interval that has no length. */
	v.totals = false;
	f.now.interval_ns = 0;
	check(&v, 200, line1, line2);
}

static void no_width_is_passed(void **state)
{
	static void (*const fill[])(struct fixture_now *, enum sum_mode) = {
		fixture_now, fixture_now_hostile, fixture_now_absurd,
	};
	const struct now empty = { .mode = SUM_EXACT };
	struct fixture_now f;
	unsigned int width, i;

	(void)state;
	for (i = 0; i < 4 * 2 * 2; i++) {
		const struct now_view v = { .now = i % 4 < 3 ? &f.now : &empty, .ascii = i & 4,
					    .totals = i & 8 };

		if (i % 4 < 3)
			fill[i % 4](&f, i & 1 ? SUM_EXACT : SUM_WAIT);
		lose(&f.now);
		for (width = 0; width < 300; width++) {
			struct buf one = BUF_INIT, two = BUF_INIT;

			now_head(&one, &two, &v, width);
			assert_false(one.failed || two.failed);
			assert_true(utf8_width(one.data, one.len) <= width);
			assert_true(utf8_width(two.data, two.len) <= width);
			/* Loss and own cost stay where a terminal is. */
			if (width >= 80) {
				assert_memory_equal(two.data, "lost ", 5);
				assert_non_null(strstr(two.data, " own "));
				assert_non_null(strstr(two.data, "a call"));
			}
			buf_release(&one);
			buf_release(&two);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost_is_said),
		cmocka_unit_test(what_was_lost_stays_however_narrow),
		cmocka_unit_test(own_cost_is_that_of_the_mode),
		cmocka_unit_test(totals_are_not_rates),
		cmocka_unit_test(no_width_is_passed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
