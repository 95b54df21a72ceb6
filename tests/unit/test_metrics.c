/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "near.h"
#include "report/metrics.h"

static void names_of_the_specification_have_a_row(void **state)
{
	static const struct { const char *name; enum metric_kind kind; } want[] = {
		{ "syscall.read", METRIC_COUNT }, { "syscall.clone3", METRIC_COUNT },
		{ "futex.wait", METRIC_COUNT }, { "futex.wake", METRIC_COUNT },
		{ "futex.wake_wasted", METRIC_COUNT }, { "futex.eagain", METRIC_COUNT },
		{ "thread.created", METRIC_COUNT }, { "thread.cost_p50", METRIC_TIME },
		{ "thread.cost_p99", METRIC_TIME }, { "lock.wait_p99", METRIC_TIME },
		{ "pipe.chunks", METRIC_COUNT }, { "pipe.bytes_per_chunk", METRIC_COUNT },
		{ "pipe.blocked", METRIC_TIME }, { "sched.switches", METRIC_COUNT },
		{ "sched.migrations", METRIC_COUNT }, { "mem.page_faults", METRIC_COUNT },
		{ "mem.mmap_bytes", METRIC_COUNT }, { "mem.max_rss", METRIC_COUNT },
		{ "time.wall", METRIC_TIME }, { "time.user", METRIC_TIME },
		{ "time.system", METRIC_TIME }, { "time.blocked", METRIC_TIME },
		{ "cpu.instructions", METRIC_COUNT },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		const struct metric_rule *r = metric_find(want[i].name);

		assert_non_null(r);
		assert_int_equal(r->kind, want[i].kind);
	}
}

static void every_row_is_a_rule(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < metric_nrows; i++) {
		const struct metric_rule *r = &metric_rows[i].rule;

		assert_true(r->weight > 0);
		assert_true(r->min_ratio > 0 && r->min_ratio < 1);
		/* An operation of Go's may take parts of a nanosecond, or any unit. */
		if (!strncmp(metric_rows[i].pattern, "go.", 3))
			continue;
		/* Without a least difference a count of 1 against 2 would be a change. */
		assert_true(r->min_delta > 0);
		assert_string_equal(r->unit, r->kind == METRIC_TIME ? "ns" : r->unit);
		/* A row that an earlier one hides is never found. */
		for (j = 0; j < i; j++)
			assert_ptr_not_equal(metric_find(metric_rows[i].pattern),
					     &metric_rows[j].rule);
	}
}

static void the_first_row_that_fits_counts(void **state)
{
	(void)state;
	assert_true(metric_find("syscall.futex")->min_ratio
		    > metric_find("syscall.futexes")->min_ratio);
	assert_ptr_equal(metric_find("syscall.read"), metric_find("syscall.write"));
	assert_ptr_not_equal(metric_find("futex.wait"), metric_find("futex.eagain"));
	assert_null(metric_find("time.wal"));
	assert_null(metric_find("time.wall2"));
	assert_null(metric_find("syscall"));
	assert_null(metric_find(""));
	assert_int_equal(metric_default(METRIC_TIME)->kind, METRIC_TIME);
	assert_int_equal(metric_default(METRIC_COUNT)->kind, METRIC_COUNT);
}

static void chunks_and_rates_are_better_large(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < metric_nrows; i++)
		assert_int_equal(metric_rows[i].rule.more_is_better,
				 !strcmp(metric_rows[i].pattern, "pipe.bytes_per_chunk") ||
				 !strcmp(metric_rows[i].pattern, "go.rate.*"));
}

static void tail_percentiles_have_the_larger_minima(void **state)
{
	(void)state;
	assert_true(metric_find("thread.cost_p99")->min_ratio
		    > metric_find("thread.cost_p50")->min_ratio);
	assert_true(metric_find("lock.wait_p99")->min_ratio
		    > metric_find("time.wall")->min_ratio);
	assert_true(metric_find("sched.migrations")->min_ratio
		    > metric_find("syscall.read")->min_ratio);
}

/* The row of docs/statistics.md for @pattern, from the top of the tree. */
static bool find_row(FILE *doc, const char *pattern, char *line, size_t room)
{
	char head[64];

	snprintf(head, sizeof(head), "| `%s` | ", pattern);
	rewind(doc);
	while (fgets(line, (int)room, doc))
		if (!strncmp(line, head, strlen(head)))
			return true;
	return false;
}

static void the_page_has_the_same_table(void **state)
{
	FILE *doc = fopen("docs/statistics.md", "r");
	char line[256], part[32], weight[32];
	size_t i;

	(void)state;
	assert_non_null(doc);
	for (i = 0; i < metric_nrows; i++) {
		const struct metric_row *row = &metric_rows[i];

		if (!find_row(doc, row->pattern, line, sizeof(line)))
			fail_msg("docs/statistics.md has no row for %s", row->pattern);
		snprintf(part, sizeof(part), "` | %g %% |", 100 * row->rule.min_ratio);
		snprintf(weight, sizeof(weight), "| %g |\n", row->rule.weight);
		if (!strstr(line, part) || !strstr(line, weight))
			fail_msg("docs/statistics.md says of %s: %s", row->pattern, line);
	}
	fclose(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_the_specification_have_a_row),
		cmocka_unit_test(every_row_is_a_rule),
		cmocka_unit_test(the_first_row_that_fits_counts),
		cmocka_unit_test(chunks_and_rates_are_better_large),
		cmocka_unit_test(the_page_has_the_same_table),
		cmocka_unit_test(tail_percentiles_have_the_larger_minima),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
