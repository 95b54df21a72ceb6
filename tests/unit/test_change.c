/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "draws.h"
#include "near.h"
#include "stats/change.h"

enum { LONG = 10000 };

/* @n values whose level is levels[k] from at[k] on. */
static void steps(double *x, size_t n, const size_t *at, const double *levels, double sd,
		  uint64_t seed)
{
	struct rng r;
	size_t i, k = 0;

	rng_seed(&r, seed);
	for (i = 0; i < n; i++) {
		while (at[k + 1] <= i)
			k++;
		x[i] = levels[k] * draw_lognormal(&r, sd);
	}
}

static void a_step_is_found_where_it_is(void **state)
{
	static const size_t at[] = { 0, 30, 99 };
	static const double levels[] = { 100, 105 };
	unsigned int exact = 0, round;
	struct changes c;
	double x[60];

	(void)state;
	for (round = 0; round < 20; round++) {
		steps(x, 60, at, levels, 0.01, round);
		assert_int_equal(change_find(x, 60, 0.01, &c), 0);
		assert_int_equal(c.n, 1);
		assert_in_range(c.list[0].at, 28, 32);
		exact += c.list[0].at == 30;
		assert_near(c.list[0].before, 100, 0.01);
		assert_near(c.list[0].after, 105, 0.01);
		assert_true(c.list[0].p > 0 && c.list[0].p <= 0.01);
		changes_release(&c);
	}
	assert_true(exact >= 15);
}

static void a_level_that_comes_and_goes_is_two_changes(void **state)
{
	static const size_t at[] = { 0, 100, 120, 999 };
	static const double levels[] = { 100, 110, 100 };
	struct changes c;
	double x[200];

	(void)state;
	steps(x, 200, at, levels, 0.02, 1);
	assert_int_equal(change_find(x, 200, 0.01, &c), 0);
	assert_int_equal(c.n, 2);
	assert_in_range(c.list[0].at, 98, 102);
	assert_in_range(c.list[1].at, 118, 122);
	assert_near(c.list[0].after, 110, 0.02);
	assert_near(c.list[1].before, 110, 0.02);
	changes_release(&c);
}

static void many_changes_in_a_long_history(void **state)
{
	size_t at[12], i;
	double levels[11], *x = malloc(LONG * sizeof(*x));
	struct changes c, again;

	(void)state;
	for (i = 0; i < 11; i++) {
		at[i] = i * 900;
		levels[i] = i % 2 ? 100 : 103;
	}
	at[11] = LONG + 1;
	steps(x, LONG, at, levels, 0.03, 2);
	assert_int_equal(change_find(x, LONG, 0.01, &c), 0);
	assert_int_equal(c.n, 10);
	for (i = 0; i < 10; i++)
		assert_in_range(c.list[i].at, at[i + 1] - 15, at[i + 1] + 15);
	assert_int_equal(change_find(x, LONG, 0.01, &again), 0);
	assert_int_equal(again.n, c.n);
	assert_memory_equal(again.list, c.list, c.n * sizeof(*c.list));
	changes_release(&c);
	changes_release(&again);
	free(x);
}

/* Of @rounds series without a change, in how many one is seen. */
static unsigned int false_alarms(size_t n, unsigned int rounds, int noise)
{
	unsigned int found = 0, round;
	struct changes c;
	double x[300];
	struct rng r;
	size_t i;

	rng_seed(&r, n + (unsigned int)noise);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < n; i++)
			x[i] = noise == 0 ? draw_normal(&r) : noise == 1 ? draw_heavy(&r)
			       : draw_poisson(&r, 0.7);
		assert_int_equal(change_find(x, n, 0.01, &c), 0);
		found += c.n > 0;
		changes_release(&c);
	}
	return found;
}

static void no_change_is_seen_where_there_is_none(void **state)
{
	(void)state;
	/* 1 expected of 100. */
	assert_true(false_alarms(100, 150, 0) <= 6);
	assert_true(false_alarms(12, 400, 1) <= 12);
	assert_true(false_alarms(300, 60, 1) <= 4);
	assert_true(false_alarms(50, 400, 2) <= 12);
}

static void outliers_are_no_level(void **state)
{
	static const size_t at[] = { 0, 999 };
	static const double levels[] = { 100 };
	struct changes c;
	double x[100];

	(void)state;
	steps(x, 100, at, levels, 0.01, 3);
	x[20] = x[21] = 1e6;
	x[70] = 0;
	assert_int_equal(change_find(x, 100, 0.01, &c), 0);
	assert_int_equal(c.n, 0);
	changes_release(&c);
}

static void constants_and_short_histories(void **state)
{
	struct changes c;
	double x[40];
	size_t i, n;

	(void)state;
	for (i = 0; i < 40; i++)
		x[i] = 5;
	for (n = 0; n <= 40; n++) {
		assert_int_equal(change_find(x, n, 0.01, &c), 0);
		assert_int_equal(c.n, 0);
		changes_release(&c);
	}
	/* Of eight, four at each level: 2 of 70 orders separate so. Of twelve it is rare. */
	for (i = 20; i < 40; i++)
		x[i] = 6;
	assert_int_equal(change_find(x + 16, 8, 0.01, &c), 0);
	assert_int_equal(c.n, 0);
	changes_release(&c);
	assert_int_equal(change_find(x + 14, 12, 0.01, &c), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.list[0].at, 6);
	assert_true(c.list[0].before == 5 && c.list[0].after == 6);
	changes_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_is_found_where_it_is),
		cmocka_unit_test(a_level_that_comes_and_goes_is_two_changes),
		cmocka_unit_test(many_changes_in_a_long_history),
		cmocka_unit_test(no_change_is_seen_where_there_is_none),
		cmocka_unit_test(outliers_are_no_level),
		cmocka_unit_test(constants_and_short_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
