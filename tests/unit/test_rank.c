/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "draws.h"
#include "near.h"
#include "stats/rank.h"

static void check(const double *a, size_t na, const double *b, size_t nb, const double *want,
		  double digits)
{
	static const enum rank_side sides[] = { RANK_TWO_SIDED, RANK_GREATER, RANK_LESS };
	struct rank_test t;
	size_t i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(rank_utest(a, na, b, nb, sides[i], &t), 0);
		assert_near(t.u, want[0], 0);
		assert_near(t.p, want[1 + i], digits);
	}
}

/* stats.mannwhitneyu(a, b, alternative=..., method="exact"); "less" there is b greater. */
static void exact_without_ties(void **state)
{
	static const double a[] = { 1.1, 2.2, 3.3, 4.4, 5.5 };
	static const double b[] = { 2.0, 4.0, 6.0, 7.0, 8.0, 9.0 };
	static const double want[] = { 24, 0.12554112554112554, 0.06277056277056277,
				       0.958874458874459 };
	static const double turned[] = { 6, 0.12554112554112554, 0.958874458874459,
					 0.06277056277056277 };

	(void)state;
	check(a, 5, b, 6, want, 1e-14);
	check(b, 6, a, 5, turned, 1e-14);
}

/* All 1716 splits of the midranks, counted in Python with itertools.combinations. */
static void exact_with_ties(void **state)
{
	static const double a[] = { 1, 2, 2, 3, 5, 5, 8 }, b[] = { 2, 4, 5, 5, 6, 9 };
	static const double want[] = { 29, 0.28321678321678323, 0.14160839160839161,
				       0.8834498834498834 };

	(void)state;
	check(a, 7, b, 6, want, 1e-14);
}

static void three_against_three_reach_a_tenth(void **state)
{
	static const double a[] = { 1, 2, 3 }, b[] = { 6, 5, 4 };
	static const double want[] = { 9, 0.1, 0.05, 1 };

	(void)state;
	check(a, 3, b, 3, want, 1e-15);
}

/* The same with method="asymptotic". */
static void normal_beyond_the_exact_ones(void **state)
{
	static const double plain[] = { 355, 0.016988884536302765, 0.008494442268151383,
					0.9920191434520752 };
	static const double tied[] = { 402, 0.041531353098088905, 0.020765676549044453,
				       0.9802177194127356 };
	double a[20], b[30];
	struct rank_test t;
	int i;

	(void)state;
	for (i = 0; i < 20; i++)
		a[i] = i + 1;
	for (i = 0; i < 25; i++)
		b[i] = (i + 1) * 1.1 + 2.05;
	check(a, 20, b, 25, plain, 1e-12);
	rank_utest(a, 20, b, 25, RANK_LESS, &t);
	assert_false(t.exact);
	for (i = 0; i < 20; i++)
		a[i] = i % 7;
	for (i = 0; i < 30; i++)
		b[i] = i % 5 + 2;
	check(a, 20, b, 30, tied, 1e-12);
}

static void the_least_p(void **state)
{
	(void)state;
	assert_near(rank_least_p(3, 3), 0.1, 1e-12);
	assert_near(rank_least_p(10, 10), 2. / 184756, 1e-12);
	assert_near(rank_least_p(3, 30), 2. / 5456, 1e-12);
	assert_near(rank_least_p(0, 7), 1, 0);
}

static void nothing_to_compare_is_no_change(void **state)
{
	static const double a[] = { 7, 7, 7, 7 }, none[] = { 0 };
	static const double want[] = { 4, 1, 1, 1 }, empty[] = { 0, 1, 1, 1 };

	(void)state;
	check(a, 4, a, 2, want, 0);
	check(a, 4, none, 0, empty, 0);
	check(none, 0, a, 4, empty, 0);
	check(none, 0, none, 0, empty, 0);
}

static void one_against_many_is_exact(void **state)
{
	double a[40], b = 100;
	struct rank_test t;
	int i;

	(void)state;
	for (i = 0; i < 40; i++)
		a[i] = i;
	assert_int_equal(rank_utest(a, 40, &b, 1, RANK_TWO_SIDED, &t), 0);
	assert_true(t.exact);
	assert_near(t.p, 2. / 41, 1e-14);
	b = -1;
	assert_int_equal(rank_utest(a, 40, &b, 1, RANK_LESS, &t), 0);
	assert_near(t.p, 1. / 41, 1e-14);
}

/* How often p <= 0.05 where nothing changed, of 4000. */
static unsigned int false_alarms(size_t na, size_t nb, bool ties)
{
	unsigned int found = 0, round;
	double a[40], b[40];
	struct rank_test t;
	struct rng r;
	size_t i;

	rng_seed(&r, na * 100 + nb + ties);
	for (round = 0; round < 4000; round++) {
		for (i = 0; i < na; i++)
			a[i] = ties ? draw_poisson(&r, 2) : draw_heavy(&r);
		for (i = 0; i < nb; i++)
			b[i] = ties ? draw_poisson(&r, 2) : draw_heavy(&r);
		assert_int_equal(rank_utest(a, na, b, nb, RANK_TWO_SIDED, &t), 0);
		found += t.p <= 0.05;
	}
	return found;
}

static void it_keeps_its_level(void **state)
{
	static const size_t sizes[][2] = { { 5, 5 }, { 10, 10 }, { 15, 15 }, { 16, 16 },
					   { 4, 30 }, { 40, 40 } };
	size_t i;

	(void)state;
	/* 200 expected, 14 the standard deviation; discrete p stay below. */
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_in_range(false_alarms(sizes[i][0], sizes[i][1], false), 80, 245);
		assert_in_range(false_alarms(sizes[i][0], sizes[i][1], true), 60, 245);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_without_ties),
		cmocka_unit_test(exact_with_ties),
		cmocka_unit_test(three_against_three_reach_a_tenth),
		cmocka_unit_test(normal_beyond_the_exact_ones),
		cmocka_unit_test(the_least_p),
		cmocka_unit_test(nothing_to_compare_is_no_change),
		cmocka_unit_test(one_against_many_is_exact),
		cmocka_unit_test(it_keeps_its_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
