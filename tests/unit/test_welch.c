/* SPDX-License-Identifier: MIT */
#include "draws.h"
#include "near.h"
#include "stats/welch.h"

static const double a[] = { 10.1, 9.8, 10.3, 10.0 }, b[] = { 10.9, 11.4, 10.7, 11.8, 11.1 };

static void figures_are_those_of_scipy(void **state)
{
	/* stats.ttest_ind(b, a, equal_var=False); p with equal_var=True is the smaller one. */
	struct welch w = welch_test(a, 4, b, 5, 0);

	(void)state;
	assert_near(w.t, 5.145230143284834, 1e-12);
	assert_near(w.p, 0.0021426921906663662, 1e-10);
	w = welch_test(b, 5, a, 4, 0);
	assert_near(w.t, -5.145230143284834, 1e-12);
	assert_near(w.p, 0.0021426921906663662, 1e-10);
}

static void the_larger_p_counts(void **state)
{
	/* Three that lie together by luck against seven that do not. */
	static const double few[] = { 15, 15.01, 14.99 }, many[] = { 8, 9, 10, 11, 12, 13, 14 };
	struct welch w = welch_test(few, 3, many, 7, 0);

	(void)state;
	/* stats.ttest_ind: 0.0027 by Welch's test, 0.0147 by Student's. */
	assert_near(w.p, 0.014701875662611953, 1e-10);
}

static void a_floor_doubts_constants(void **state)
{
	static const double three[] = { 3000, 3000, 3000 }, four[] = { 4000, 4000, 4000 };
	static const double near[] = { 3001, 3001, 3001 };
	struct welch w = welch_test(three, 3, four, 3, 1);

	(void)state;
	/* t = 1000 / sqrt(2 / 3): 2 * stats.t.sf(t, 4) */
	assert_near(w.t, 1224.744871391589, 1e-12);
	assert_near(w.df, 4, 1e-12);
	assert_near(w.p, 2.6666548148562976e-12, 1e-9);
	assert_near(welch_test(three, 3, near, 3, 1).p, 0.2878641347266908, 1e-9);
	assert_near(welch_test(three, 3, near, 3, 0).p, 0, 0);
	assert_near(welch_test(three, 3, three, 3, 0).p, 1, 0);
}

static void one_value_says_nothing(void **state)
{
	(void)state;
	assert_near(welch_test(a, 1, b, 5, 0).p, 1, 0);
	assert_near(welch_test(a, 4, b, 0, 0).p, 1, 0);
}

static void it_keeps_its_level_far_out(void **state)
{
	static const size_t sizes[][2] = { { 3, 3 }, { 5, 5 }, { 3, 30 } };
	unsigned int found, round;
	double x[2][30];
	struct rng r;
	size_t i, k, side;

	(void)state;
	rng_seed(&r, 6);
	for (k = 0; k < 3; k++) {
		for (found = 0, round = 0; round < 20000; round++) {
			for (side = 0; side < 2; side++)
				for (i = 0; i < sizes[k][side]; i++)
					x[side][i] = draw_normal(&r);
			found += welch_test(x[0], sizes[k][0], x[1], sizes[k][1], 0).p <= 0.001;
		}
		/* 20 expected at most, 4.5 the standard deviation. */
		assert_true(found <= 38);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_scipy),
		cmocka_unit_test(the_larger_p_counts),
		cmocka_unit_test(a_floor_doubts_constants),
		cmocka_unit_test(one_value_says_nothing),
		cmocka_unit_test(it_keeps_its_level_far_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
