/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include "draws.h"
#include "near.h"
#include "stats/adjust.h"

static void figures_are_those_of_r(void **state)
{
	/* p.adjust(p, "BH"), and numpy's running minimum of p * n / rank. */
	static const double want[] = { 0.03, 0.048, 0.048, 0.03, 0.5, 0.048 };
	double p[] = { 0.01, 0.04, 0.03, 0.005, 0.5, 0.04 }, q[6];
	size_t i;

	(void)state;
	assert_int_equal(adjust_bh(p, NULL, 6, q), 0);
	for (i = 0; i < 6; i++)
		assert_near(q[i], want[i], 1e-14);
	assert_int_equal(adjust_bh(p, NULL, 6, p), 0);
	for (i = 0; i < 6; i++)
		assert_near(p[i], want[i], 1e-14);
}

static void none_and_one(void **state)
{
	double p = 0.3, q = 7;

	(void)state;
	assert_int_equal(adjust_bh(&p, NULL, 0, &q), 0);
	assert_near(q, 7, 0);
	assert_int_equal(adjust_bh(&p, NULL, 1, &q), 0);
	assert_near(q, 0.3, 0);
}

static void weights_share_out_what_may_be_wrong(void **state)
{
	static const double p[] = { 0.01, 0.01, 0.9, 0.9 }, weight[] = { 5, 1, 1, 1 };
	static const double tens[] = { 50, 10, 10, 10 };
	double q[4], again[4];
	size_t i;

	(void)state;
	assert_int_equal(adjust_bh(p, weight, 4, q), 0);
	/* 0.01 * 8 / 5 is the first; 0.01 * 8 / 1 the second of the order. */
	assert_near(q[0], 0.016, 1e-14);
	assert_near(q[1], 0.04, 1e-14);
	assert_near(q[2], 1, 0);
	assert_int_equal(adjust_bh(p, tens, 4, again), 0);
	for (i = 0; i < 4; i++)
		assert_near(again[i], q[i], 1e-14);
}

/* Of 4000 sets where nothing is true, those in which something is found at 0.05. */
static unsigned int false_sets(const double *weight)
{
	unsigned int found = 0, round;
	double p[20];
	struct rng r;
	size_t i;

	rng_seed(&r, 7);
	for (round = 0; round < 4000; round++) {
		bool any = false;

		for (i = 0; i < 20; i++)
			p[i] = rng_unit(&r);
		assert_int_equal(adjust_bh(p, weight, 20, p), 0);
		for (i = 0; i < 20; i++)
			any |= p[i] <= 0.05;
		found += any;
	}
	return found;
}

static void where_nothing_is_true_the_rate_is_that_of_sets(void **state)
{
	double weight[20];
	size_t i;

	(void)state;
	for (i = 0; i < 20; i++)
		weight[i] = i < 2 ? 20 : i < 10 ? 3 : 0.25;
	/* 200 expected, 14 the standard deviation. */
	assert_in_range(false_sets(NULL), 140, 260);
	assert_in_range(false_sets(weight), 140, 260);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_r),
		cmocka_unit_test(none_and_one),
		cmocka_unit_test(weights_share_out_what_may_be_wrong),
		cmocka_unit_test(where_nothing_is_true_the_rate_is_that_of_sets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
