/* SPDX-License-Identifier: MIT */
#include "near.h"
#include "stats/dist.h"

/* Figures are scipy's (1.10); the call stands beside each. */

static void normal_tails(void **state)
{
	(void)state;	/* stats.norm.sf(z) */
	assert_near(dist_normal_upper(-3), 0.9986501019683699, 1e-13);
	assert_near(dist_normal_upper(0), 0.5, 1e-13);
	assert_near(dist_normal_upper(1.959963984540054), 0.025, 1e-13);
	assert_near(dist_normal_upper(5), 2.866515718791933e-07, 1e-12);
	assert_near(dist_normal_upper(10), 7.61985302416047e-24, 1e-12);
	assert_near(dist_normal_upper(35), 1.1249107064724061e-268, 1e-11);
}

static void normal_quantiles(void **state)
{
	(void)state;	/* stats.norm.ppf(p) */
	assert_near(dist_normal_quantile(1e-10), -6.361340902404056, 1e-12);
	assert_near(dist_normal_quantile(0.025), -1.9599639845400545, 1e-12);
	assert_near(dist_normal_quantile(0.2), -0.8416212335729142, 1e-12);
	assert_true(fabs(dist_normal_quantile(0.5)) < 1e-14);
	assert_near(dist_normal_quantile(0.999999), 4.753424308817087, 1e-10);
	assert_true(dist_normal_quantile(0) == -INFINITY);
	assert_true(dist_normal_quantile(1) == INFINITY);
}

static void student_tails(void **state)
{
	(void)state;	/* stats.t.sf(t, df) */
	assert_near(dist_t_upper(0, 4), 0.5, 1e-13);
	assert_near(dist_t_upper(1, 1), 0.25, 1e-12);
	assert_near(dist_t_upper(2.776, 4), 0.0250113891599882, 1e-12);
	assert_near(dist_t_upper(-2, 7.5), 0.9585515023509169, 1e-12);
	assert_near(dist_t_upper(13.6, 4), 8.461978918192308e-05, 1e-12);
	assert_near(dist_t_upper(5.5, 18), 1.5938743051036484e-05, 1e-12);
	assert_near(dist_t_upper(100, 3.2), 5.284048826992627e-07, 1e-11);
	assert_near(dist_t_upper(30, 2000), 6.853865095563232e-164, 1e-9);
	assert_near(dist_t_upper(INFINITY, 3), 0, 0);
	assert_near(dist_t_upper(-INFINITY, 3), 1, 0);
}

static void incomplete_beta(void **state)
{
	(void)state;	/* special.betainc(a, b, x) */
	assert_near(dist_beta(0.5, 0.5, 0.3), 0.3690101195655454, 1e-12);
	assert_near(dist_beta(6, 5, 0.4), 0.1662386176, 1e-12);
	assert_near(dist_beta(2000, 2001, 0.49), 0.10577675896098651, 1e-9);
	assert_near(dist_beta(30, 1, 0.999), 0.9704309672630858, 1e-12);
	assert_near(dist_beta(1, 40, 1e-6), 3.999922000987992e-05, 1e-12);
	assert_near(dist_beta(3, 4, 0), 0, 0);
	assert_near(dist_beta(3, 4, 1), 1, 0);
}

static void chi_squared_quantiles_suffice_for_planning(void **state)
{
	(void)state;	/* stats.chi2.ppf(p, df) */
	assert_near(dist_chi2_quantile(0.2, 4), 1.648776618065969, 0.01);
	assert_near(dist_chi2_quantile(0.2, 18), 12.856953096411939, 0.01);
	assert_near(dist_chi2_quantile(0.9, 3), 6.251388631170325, 0.01);
	assert_near(dist_chi2_quantile(0.5, 58), 57.334712814818765, 0.01);
}

static void binomial_coefficients(void **state)
{
	(void)state;	/* log(special.binom(50, 25)) */
	assert_near(dist_log_choose(50, 25), 32.47055650581199, 1e-12);
	assert_near(exp(dist_log_choose(20, 10)), 184756, 1e-11);
	assert_true(fabs(dist_log_choose(7, 0)) < 1e-14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_tails),
		cmocka_unit_test(normal_quantiles),
		cmocka_unit_test(student_tails),
		cmocka_unit_test(incomplete_beta),
		cmocka_unit_test(chi_squared_quantiles_suffice_for_planning),
		cmocka_unit_test(binomial_coefficients),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
