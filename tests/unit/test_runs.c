/* SPDX-License-Identifier: MIT */
#include "draws.h"
#include "near.h"
#include "stats/boot.h"
#include "stats/rank.h"
#include "stats/runs.h"
#include "stats/sample.h"

static void known_cases(void **state)
{
	(void)state;
	/* z = 1.96 + 0.84: 2 * 2.8016^2 * pi / 3, rounded up. */
	assert_int_equal(runs_to_find(1, 1, 0.05, 0.8), 17);
	/* z = 1.96 + 1.2816: pi * 3.2415^2 * 4 */
	assert_int_equal(runs_to_bound(2, 1, 0.95, 0.8), 133);
	/* 2 / C(2n, n): 0.0079 at 5, 0.0022 at 6. */
	assert_int_equal(runs_to_separate(0.0079), 6);
	assert_int_equal(runs_to_separate(0.008), 5);
	assert_int_equal(runs_to_separate(1), 2);
	/* sqrt(4 / stats.chi2.ppf(0.2, 4)) */
	assert_near(runs_upper_sd(1, 4), 1.5575756506786055, 0.01);
}

static void what_no_number_decides(void **state)
{
	(void)state;
	assert_int_equal(runs_to_find(1, 0, 0.05, 0.8), RUNS_MOST);
	assert_int_equal(runs_to_bound(1, 0, 0.95, 0.8), RUNS_MOST);
	assert_int_equal(runs_to_bound(NAN, 1, 0.95, 0.8), RUNS_MOST);
	assert_int_equal(runs_to_bound(1e-9, 1, 0.95, 0.8), 2);
	assert_int_equal(runs_to_find(1e30, 1, 0.05, 0.8), RUNS_MOST);
	assert_in_range(runs_to_separate(0), 2, 500);
}

static void draw_side(struct rng *r, double *x, size_t n, double shift)
{
	size_t i;

	for (i = 0; i < n; i++)
		x[i] = shift + draw_normal(r);
}

static void so_many_runs_find_it(void **state)
{
	uint64_t n = runs_to_find(1, 0.8, 0.01, 0.8);
	unsigned int found = 0, round;
	double a[100], b[100];
	struct rank_test t;
	struct rng r;

	(void)state;
	assert_in_range(n, 20, 100);
	rng_seed(&r, 10);
	for (round = 0; round < 1000; round++) {
		draw_side(&r, a, n, 0);
		draw_side(&r, b, n, 0.8);
		assert_int_equal(rank_utest(a, n, b, n, RANK_TWO_SIDED, &t), 0);
		found += t.p <= 0.01;
	}
	assert_in_range(found, 760, 860);
}

static void so_many_runs_bound_it(void **state)
{
	uint64_t n = runs_to_bound(1, 0.8, 0.95, 0.8);
	unsigned int within = 0, round;
	double a[100], b[100], ci[2];
	struct rng r;

	(void)state;
	assert_in_range(n, 30, 100);
	rng_seed(&r, 11);
	for (round = 0; round < 1000; round++) {
		draw_side(&r, a, n, 0);
		draw_side(&r, b, n, 0);
		sample_sort(a, n);
		sample_sort(b, n);
		assert_int_equal(boot_medians(a, n, b, n, BOOT_DIFFERENCE, 0.95, ci), 0);
		within += ci[0] > -0.8 && ci[1] < 0.8;
	}
	assert_in_range(within, 740, 880);
}

static void an_interval_tells_the_spread_it_came_from(void **state)
{
	(void)state;
	/* Its width is 2 * 1.96 * sd * sqrt(pi / 2 * (1 / 10 + 1 / 40)). */
	assert_near(runs_sd_of_interval(2 * 1.959963984540054 * 3 * sqrt(M_PI / 2 * 0.125), 0.95,
					10, 40), 3, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_cases),
		cmocka_unit_test(what_no_number_decides),
		cmocka_unit_test(so_many_runs_find_it),
		cmocka_unit_test(so_many_runs_bound_it),
		cmocka_unit_test(an_interval_tells_the_spread_it_came_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
