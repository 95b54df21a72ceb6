/* SPDX-License-Identifier: MIT */
#include "draws.h"
#include "near.h"
#include "stats/sample.h"

static const double seven[] = { 1.5, 2.0, 3.1, 4.4, 7.7, 8.8, 9.2 };

static void quantiles_are_type_7(void **state)
{
	(void)state;	/* numpy.quantile(x, q) */
	assert_near(sample_quantile(seven, 7, 0), 1.5, 0);
	assert_near(sample_quantile(seven, 7, 0.1), 1.8, 1e-15);
	assert_near(sample_quantile(seven, 7, 0.25), 2.55, 1e-15);
	assert_near(sample_median(seven, 7), 4.4, 0);
	assert_near(sample_quantile(seven, 7, 0.9), 8.96, 1e-15);
	assert_near(sample_quantile(seven, 7, 1), 9.2, 0);
	assert_near(sample_median(seven, 6), 3.75, 1e-15);
}

static void outside_its_range_a_quantile_is_an_end(void **state)
{
	(void)state;
	assert_near(sample_quantile(seven, 7, -1), 1.5, 0);
	assert_near(sample_quantile(seven, 7, 2), 9.2, 0);
	assert_near(sample_quantile(seven, 7, NAN), 1.5, 0);
	assert_near(sample_quantile(seven, 1, 0.9), 1.5, 0);
	assert_near(sample_median(NULL, 0), 0, 0);
}

static void the_mad_is_that_of_scipy(void **state)
{
	static const double eight[] = { 1.5, 2.0, 3.1, 4.4, 7.7, 8.8, 9.2, 100 };
	static const double tied[] = { 5, 5, 5, 5, 9 };

	(void)state;	/* stats.median_abs_deviation(x) */
	assert_near(sample_mad(seven, 7), 2.9, 1e-14);
	assert_near(sample_mad(eight, 8), 3.05, 1e-14);
	assert_near(sample_mad(tied, 5), 0, 0);
	assert_near(sample_mad(seven, 1), 0, 0);
	assert_near(sample_mad(seven, 2), 0.25, 1e-14);
}

static double slow_mad(const double *sorted, size_t n)
{
	double off[64];
	size_t i;

	for (i = 0; i < n; i++)
		off[i] = fabs(sorted[i] - sample_median(sorted, n));
	sample_sort(off, n);
	return sample_median(off, n);
}

static void the_mad_is_the_median_of_distances(void **state)
{
	double x[64];
	struct rng r;
	size_t n, i, round;

	(void)state;
	rng_seed(&r, 3);
	for (round = 0; round < 2000; round++) {
		n = 2 + rng_below(&r, 63);
		for (i = 0; i < n; i++)
			x[i] = round % 2 ? rng_unit(&r) : (double)rng_below(&r, 5);
		sample_sort(x, n);
		assert_true(fabs(sample_mad(x, n) - slow_mad(x, n)) < 1e-12);
	}
}

static void a_constant_is_exact(void **state)
{
	double x[11];
	size_t i;

	(void)state;
	for (i = 0; i < 11; i++)
		x[i] = 0.1;
	assert_true(sample_median(x, 10) == 0.1);
	assert_true(sample_mean(x, 11) == 0.1);
	assert_true(sample_variance(x, 11) == 0);
	assert_true(sample_quantile(x, 11, 0.3) == 0.1);
}

static void variance_and_spread(void **state)
{
	struct sample_fences none = { -INFINITY, INFINITY };

	(void)state;	/* numpy.var(x, ddof=1) */
	assert_near(sample_variance(seven, 7), 10.696190476190475, 1e-14);
	assert_near(sample_spread(seven, 7, none), sqrt(10.696190476190475), 1e-14);
	assert_near(sample_variance(seven, 1), 0, 0);
	assert_near(sample_spread(seven, 1, none), 0, 0);
	assert_near(sample_mean(seven, 7), 36.7 / 7, 1e-15);
}

static void far_values_are_named_and_do_not_widen(void **state)
{
	static const double x[] = { 10, 11, 11, 12, 12, 13, 13, 14, 40 };
	struct sample_fences f = sample_fences(x, 9, 0);

	(void)state;
	/* Quartiles 11 and 13. */
	assert_near(f.low, 5, 0);
	assert_near(f.high, 19, 0);
	assert_int_equal(sample_outside(x, 9, f), 1);
	assert_true(sample_spread(x, 9, f) < sqrt(sample_variance(x, 9)) / 3);
	assert_int_equal(sample_outside(x, 9, sample_fences(x, 9, 30)), 0);
	/* Of four values none can be told apart. */
	assert_int_equal(sample_outside(x + 5, 4, sample_fences(x + 5, 4, 0)), 0);
}

static void normal_values_are_seldom_far(void **state)
{
	unsigned int far = 0, round, i;
	double x[10];
	struct rng r;

	(void)state;
	rng_seed(&r, 4);
	for (round = 0; round < 2000; round++) {
		for (i = 0; i < 10; i++)
			x[i] = draw_normal(&r);
		sample_sort(x, 10);
		far += sample_outside(x, 10, sample_fences(x, 10, 0)) > 0;
	}
	/* Quartiles of ten are rough themselves: some 3 % of the samples. */
	assert_true(far < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_type_7),
		cmocka_unit_test(outside_its_range_a_quantile_is_an_end),
		cmocka_unit_test(the_mad_is_that_of_scipy),
		cmocka_unit_test(the_mad_is_the_median_of_distances),
		cmocka_unit_test(a_constant_is_exact),
		cmocka_unit_test(variance_and_spread),
		cmocka_unit_test(far_values_are_named_and_do_not_widen),
		cmocka_unit_test(normal_values_are_seldom_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
