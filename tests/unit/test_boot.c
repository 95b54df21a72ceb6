/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>

#include "draws.h"
#include "near.h"
#include "stats/boot.h"
#include "stats/sample.h"

/* What resampling gives when each of the n^n resamples of both sides is made once (Python). */
struct enumerated {
	double a[6], b[6];
	size_t na, nb;
	double level;
	double ratio[2], difference[2];
};

static const struct enumerated rows[] = {
	{ { 1, 2, 4 }, { 3, 5, 6 }, 3, 3, 0.9, { 0.75, 6 }, { -1, 5 } },
	{ { 1, 2, 4, 8 }, { 3, 5, 6, 7 }, 4, 4, 0.95, { 0.625, 5.5 }, { -3, 5 } },
	{ { 0, 1, 3 }, { 0, 2, 2 }, 3, 3, 0.9, { 0, INFINITY }, { -3, 2 } },
	{ { 0, 0, 1, 2 }, { 1, 1, 3, 5 }, 4, 4, 0.8, { 1, INFINITY }, { 0, 3.5 } },
	{ { 10, 11, 12, 13, 15 }, { 9, 12, 14, 18, 20, 21 }, 5, 6, 0.95,
	  { 0.8666666666666667, 1.8181818181818181 }, { -2, 9 } },
	{ { 0, 0, 5 }, { 0, 0, 1 }, 3, 3, 0.5, { 0.2, 1 }, { -4, 0 } },
	{ { 0, 0, 0 }, { 0, 1, 2 }, 3, 3, 0.9, { 1, INFINITY }, { 0, 2 } },
};

static void it_is_what_all_resamples_give(void **state)
{
	double ci[2];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct enumerated *r = &rows[i];

		assert_int_equal(boot_medians(r->a, r->na, r->b, r->nb, BOOT_RATIO, r->level, ci),
				 0);
		assert_near(ci[0], r->ratio[0], 1e-12);
		assert_near(ci[1], r->ratio[1], 1e-12);
		assert_int_equal(boot_medians(r->a, r->na, r->b, r->nb, BOOT_DIFFERENCE, r->level,
					      ci), 0);
		assert_near(ci[0], r->difference[0], 1e-12);
		assert_near(ci[1], r->difference[1], 1e-12);
	}
}

static void constants_have_no_width(void **state)
{
	static const double a[] = { 0.1, 0.1, 0.1, 0.1 }, b[] = { 0.3, 0.3, 0.3 }, zero[4];
	double ci[2];

	(void)state;
	boot_medians(a, 4, a, 3, BOOT_RATIO, 0.95, ci);
	assert_true(ci[0] == 1 && ci[1] == 1);
	boot_medians(a, 4, b, 3, BOOT_RATIO, 0.95, ci);
	assert_true(ci[0] == 0.3 / 0.1 && ci[1] == ci[0]);
	boot_medians(zero, 4, zero, 3, BOOT_RATIO, 0.95, ci);
	assert_true(ci[0] == 1 && ci[1] == 1);
	boot_medians(zero, 4, a, 4, BOOT_RATIO, 0.95, ci);
	assert_true(ci[0] == INFINITY && ci[1] == INFINITY);
	boot_medians(a, 4, zero, 4, BOOT_RATIO, 0.95, ci);
	assert_true(ci[0] == 0 && ci[1] == 0);
	boot_medians(a, 1, b, 1, BOOT_DIFFERENCE, 0.95, ci);
	assert_true(ci[0] == 0.3 - 0.1 && ci[1] == ci[0]);
}

/* An end that is 1 must be 1, or a verdict turns on a rounding. */
static void an_end_is_a_ratio_of_values_seen(void **state)
{
	static const double a[] = { 7, 7, 7, 7, 7, 7, 7, 7, 9, 13 };
	static const double b[] = { 7, 7, 7, 7, 9, 9, 11, 11, 13, 13 };
	double ci[2];

	(void)state;
	assert_int_equal(boot_medians(a, 10, b, 10, BOOT_RATIO, 0.95, ci), 0);
	assert_true(ci[0] == 1);
	assert_int_equal(boot_medians(b, 10, a, 10, BOOT_RATIO, 0.95, ci), 0);
	assert_true(ci[1] == 1);
}

static void drawn_resamples_agree(void **state)
{
	enum { DRAWS = 10000 };
	double *ratio = malloc(DRAWS * sizeof(*ratio)), x[2][30], y[30], median[2], ci[2];
	size_t n[2], i, k, side, round;
	struct rng r;

	(void)state;
	rng_seed(&r, 8);
	for (round = 0; round < 4; round++) {
		for (side = 0; side < 2; side++) {
			n[side] = 7 + rng_below(&r, 24);
			for (i = 0; i < n[side]; i++)
				x[side][i] = draw_lognormal(&r, 0.2);
			sample_sort(x[side], n[side]);
		}
		for (k = 0; k < DRAWS; k++) {
			for (side = 0; side < 2; side++) {
				for (i = 0; i < n[side]; i++)
					y[i] = x[side][rng_below(&r, n[side])];
				sample_sort(y, n[side]);
				median[side] = sample_median(y, n[side]);
			}
			ratio[k] = median[1] / median[0];
		}
		sample_sort(ratio, DRAWS);
		boot_medians(x[0], n[0], x[1], n[1], BOOT_RATIO, 0.9, ci);
		/* 5 % +- 0.9 %: four standard deviations of what was drawn. */
		assert_true(ci[0] >= sample_quantile(ratio, DRAWS, 0.041));
		assert_true(ci[0] <= sample_quantile(ratio, DRAWS, 0.059));
		assert_true(ci[1] >= sample_quantile(ratio, DRAWS, 0.942));
		assert_true(ci[1] <= sample_quantile(ratio, DRAWS, 0.958));
	}
	free(ratio);
}

/* How often, of 2000, the interval at 95 % holds the true ratio 1.1. */
static unsigned int covered(size_t n, bool heavy)
{
	unsigned int held = 0, round;
	double x[2][40], ci[2];
	struct rng r;
	size_t i, side;

	rng_seed(&r, n);
	for (round = 0; round < 2000; round++) {
		for (side = 0; side < 2; side++) {
			for (i = 0; i < n; i++)
				x[side][i] = (side ? 1.1 : 1) * (heavy ? exp(0.05 * draw_heavy(&r))
								 : draw_lognormal(&r, 0.05));
			sample_sort(x[side], n);
		}
		boot_medians(x[0], n, x[1], n, BOOT_RATIO, 0.95, ci);
		held += ci[0] <= 1.1 && 1.1 <= ci[1];
	}
	return held;
}

static void it_holds_the_truth_as_often_as_it_says(void **state)
{
	(void)state;
	/* 1900 expected, 10 the standard deviation; the bootstrap is a little off either way. */
	assert_in_range(covered(10, false), 1860, 1970);
	assert_in_range(covered(11, true), 1860, 1970);
	assert_in_range(covered(30, false), 1860, 1960);
	assert_in_range(covered(40, true), 1860, 1960);
	/* With three a side it is too short, as the header says. */
	assert_in_range(covered(3, false), 1650, 1890);
}

static void many_values_do_not_take_many_atoms(void **state)
{
	enum { MANY = 3000 };
	double *x = malloc(MANY * sizeof(*x)), ci[2];
	struct rng r;
	size_t i;

	(void)state;
	rng_seed(&r, 9);
	for (i = 0; i < MANY; i++)
		x[i] = draw_lognormal(&r, 0.05);
	sample_sort(x, MANY);
	assert_int_equal(boot_medians(x, MANY, x, MANY - 1, BOOT_RATIO, 0.95, ci), 0);
	/* +- 1.96 sd of the ratio: 0.05 * sqrt(pi / 2 * 2 / n), 0.16 % */
	assert_true(ci[0] > 1 - 0.0045 && ci[0] < 1 - 0.0022);
	assert_true(ci[1] < 1 + 0.0045 && ci[1] > 1 + 0.0022);
	free(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_what_all_resamples_give),
		cmocka_unit_test(constants_have_no_width),
		cmocka_unit_test(an_end_is_a_ratio_of_values_seen),
		cmocka_unit_test(drawn_resamples_agree),
		cmocka_unit_test(it_holds_the_truth_as_often_as_it_says),
		cmocka_unit_test(many_values_do_not_take_many_atoms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
