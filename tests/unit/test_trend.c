/* SPDX-License-Identifier: MIT */
#include "draws.h"
#include "near.h"
#include "stats/trend.h"

/* stats.kendalltau(range(n), x, method="exact") */
static void exact_without_ties(void **state)
{
	static const double up[] = { 1, 2, 3, 5, 4, 6, 8, 7, 9, 10 }, down[] = { 5, 3, 4, 1, 2 };
	struct trend t;

	(void)state;
	assert_int_equal(trend_kendall(up, 10, &t), 0);
	assert_near(t.tau, 0.911111111111111, 1e-14);
	assert_near(t.p, 2.9761904761904762e-05, 1e-12);
	assert_int_equal(trend_kendall(down, 5, &t), 0);
	assert_near(t.tau, -0.6, 1e-14);
	assert_near(t.p, 0.23333333333333334, 1e-13);
}

/* tau is scipy's; s, var and p with continuity were summed up in Python from their formulas. */
static void normal_with_ties_and_when_long(void **state)
{
	static const double tied[] = { 1, 1, 2, 2, 3, 3, 2, 4, 4, 5, 1 };
	double longer[80];
	struct trend t;
	int i;

	(void)state;
	assert_int_equal(trend_kendall(tied, 11, &t), 0);
	assert_near(t.tau, 0.5310476489128454, 1e-14);
	assert_near(t.s, 27, 0);
	assert_near(t.var, 155.66666666666666, 1e-14);
	assert_near(t.p, 0.03716984917868996, 1e-12);
	for (i = 0; i < 80; i++)
		longer[i] = i * 37 % 101 + i / 2.;
	assert_int_equal(trend_kendall(longer, 80, &t), 0);
	assert_near(t.tau, 0.2588607594936709, 1e-14);
	assert_near(t.p, 0.0006878940371275889, 1e-12);
}

static void a_constant_or_nothing_has_no_trend(void **state)
{
	static const double same[] = { 4, 4, 4, 4 };
	struct trend t;
	size_t n;

	(void)state;
	for (n = 0; n <= 4; n++) {
		assert_int_equal(trend_kendall(same, n, &t), 0);
		assert_near(t.tau, 0, 0);
		assert_near(t.p, 1, 0);
	}
	t = trend_common(&t, &t);
	assert_near(t.p, 1, 0);
}

static void two_series_say_together_what_neither_does(void **state)
{
	static const double a[] = { 1, 3, 2, 4, 6, 5 }, b[] = { 22, 21, 23, 25, 24, 26 };
	struct trend x, y, both;

	(void)state;
	assert_int_equal(trend_kendall(a, 6, &x), 0);
	assert_int_equal(trend_kendall(b, 6, &y), 0);
	both = trend_common(&x, &y);
	assert_true(x.p > 0.01 && y.p > 0.01);
	assert_near(both.s, 22, 0);
	/* 2 * stats.norm.sf(21 / sqrt(2 * 6 * 5 * 17 / 18)) */
	assert_near(both.p, 0.0052759037031091735, 1e-10);
}

static void it_keeps_its_level(void **state)
{
	static const size_t sizes[] = { 5, 10, 30, 60, 61, 100 };
	unsigned int found, round;
	double x[100];
	struct trend t;
	struct rng r;
	size_t i, k;

	(void)state;
	rng_seed(&r, 5);
	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		for (found = 0, round = 0; round < 2000; round++) {
			for (i = 0; i < sizes[k]; i++)
				x[i] = k % 2 ? draw_normal(&r) : draw_poisson(&r, 3);
			assert_int_equal(trend_kendall(x, sizes[k], &t), 0);
			found += t.p <= 0.05;
		}
		/* 100 expected, 10 the standard deviation. */
		assert_in_range(found, 20, 135);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_without_ties),
		cmocka_unit_test(normal_with_ties_and_when_long),
		cmocka_unit_test(a_constant_or_nothing_has_no_trend),
		cmocka_unit_test(two_series_say_together_what_neither_does),
		cmocka_unit_test(it_keeps_its_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
