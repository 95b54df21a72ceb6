/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "draws.h"
#include "near.h"
#include "report/compare.h"
#include "stats/rank.h"

#define N(x) (sizeof(x) / sizeof((x)[0]))

static struct err err;

static struct metric_pair pair_of(const char *name, const double *base, size_t nb,
				  const double *now, size_t nn)
{
	return (struct metric_pair){ .name = name, .rule = *metric_find(name),
				     .base = { base, nb }, .now = { now, nn } };
}

static struct metric_result compare_one(const struct metric_pair *pair,
					const struct compare_opts *opts)
{
	struct metric_result r;

	assert_int_equal(compare_metrics(pair, 1, opts, &r, &err), 0);
	return r;
}

static struct metric_result compare_runs(const char *name, const double *base, size_t nb,
					 const double *now, size_t nn)
{
	struct metric_pair pair = pair_of(name, base, nb, now, nn);

	return compare_one(&pair, NULL);
}

/* One count against another, @n runs of each without any noise. */
static struct metric_result constants(const char *name, double base, double now, size_t n)
{
	double a[8], b[8];
	size_t i;

	for (i = 0; i < n; i++) {
		a[i] = base;
		b[i] = now;
	}
	return compare_runs(name, a, n, b, n);
}

static const double slow[] = { 103.1e6, 102.2e6, 104.0e6, 103.5e6, 102.9e6,
			       103.8e6, 102.4e6, 103.3e6, 104.1e6, 102.7e6 };
static const double fast[] = { 91.2e6, 90.1e6, 92.4e6, 90.8e6, 91.7e6,
			       91.9e6, 90.4e6, 91.1e6, 92.0e6, 90.9e6 };

static void a_clear_change_of_a_time(void **state)
{
	struct metric_result r = compare_runs("time.wall", fast, 10, slow, 10);

	(void)state;
	assert_int_equal(r.verdict, COMPARE_WORSE);
	assert_near(r.base, 91.15e6, 1e-12);
	assert_near(r.now, 103.2e6, 1e-12);
	assert_near(r.ratio, 103.2 / 91.15, 1e-12);
	assert_true(r.ci[0] > 1.1 && r.ci[0] < r.ratio && r.ratio < r.ci[1] && r.ci[1] < 1.15);
	assert_near(r.p, 2. / 184756, 1e-12);
	assert_near(r.q, r.p, 1e-12);
	assert_int_equal(r.runs_needed, 0);
	assert_int_equal(r.notes, 0);
	r = compare_runs("time.wall", slow, 10, fast, 10);
	assert_int_equal(r.verdict, COMPARE_BETTER);
	r = compare_runs("time.wall", slow, 10, slow, 10);
	assert_int_equal(r.verdict, COMPARE_SAME);
	assert_near(r.ratio, 1, 0);
}

static void what_is_less_than_matters_is_the_same(void **state)
{
	double a[10], b[10];
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++) {
		a[i] = 1e9 + (double)i * 1e5;
		b[i] = 1.015 * a[i];
	}
	/* Beyond doubt 1.5 % more, and 2.5 % is what matters. */
	assert_int_equal(compare_runs("time.wall", a, 10, b, 10).verdict, COMPARE_SAME);
	/* 4 % more of a time so short that it is 40 us. */
	for (i = 0; i < 10; i++) {
		a[i] = 1e6 + (double)i * 1e3;
		b[i] = 1.04 * a[i];
	}
	assert_int_equal(compare_runs("time.wall", a, 10, b, 10).verdict, COMPARE_SAME);
}

static void three_runs_decide_counts(void **state)
{
	static const double base[] = { 3000, 3004, 2998 }, now[] = { 4001, 3997, 4006 };
	struct metric_result r;

	(void)state;
	assert_int_equal(compare_runs("futex.wait", base, 3, now, 3).verdict, COMPARE_WORSE);
	assert_int_equal(compare_runs("futex.wait", now, 3, base, 3).verdict, COMPARE_BETTER);
	assert_int_equal(constants("futex.wake", 3000, 4000, 3).verdict, COMPARE_WORSE);
	assert_int_equal(constants("syscall.read", 2e6, 3e6, 3).verdict, COMPARE_WORSE);
	assert_int_equal(constants("thread.created", 8, 16, 3).verdict, COMPARE_WORSE);
	assert_int_equal(constants("pipe.bytes_per_chunk", 65536, 4096, 3).verdict, COMPARE_WORSE);
	assert_int_equal(constants("pipe.bytes_per_chunk", 4096, 65536, 3).verdict,
			 COMPARE_BETTER);
	r = constants("syscall.openat", 40, 40, 3);
	assert_int_equal(r.verdict, COMPARE_SAME);
	assert_int_equal(r.notes, COMPARE_CONSTANT);
	assert_near(r.p, 1, 0);
}

static void a_count_that_rose_by_the_least_that_matters(void **state)
{
	struct metric_result r = constants("thread.created", 8, 10, 3);

	(void)state;
	assert_int_equal(r.verdict, COMPARE_WORSE);
	/* 2 * stats.t.sf(2 / (2 / 12 * sqrt(2 / 3)), 4): enough among fifty metrics. */
	assert_near(r.p, 0.0001247260352415954, 1e-9);
	assert_int_equal(constants("thread.created", 8, 9, 3).verdict, COMPARE_SAME);
}

/* Means drown in one burst, ranks do not. */
static void a_burst_does_not_hide_a_count(void **state)
{
	double a[10], b[10];
	struct metric_result r;
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++) {
		a[i] = 1000;
		b[i] = 1100;
	}
	a[4] = 9000;
	r = compare_runs("syscall.read", a, 10, b, 10);
	assert_int_equal(r.verdict, COMPARE_WORSE);
	assert_int_equal(r.notes, COMPARE_OUTLIERS_BASE);
}

static void a_small_step_of_a_count_wants_five_runs(void **state)
{
	struct metric_result r = constants("syscall.read", 1000, 1050, 3);

	(void)state;
	assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	assert_int_equal(r.runs_needed, 5);
	assert_int_equal(constants("syscall.read", 1000, 1050, 5).verdict, COMPARE_WORSE);
	/* One more of a hundred is less than matters. */
	assert_int_equal(constants("syscall.read", 100, 101, 5).verdict, COMPARE_SAME);
}

static void too_few_runs_decide_nothing(void **state)
{
	struct metric_result r;
	size_t n;

	(void)state;
	for (n = 1; n < 3; n++) {
		r = constants("syscall.read", 1000, 9000, n);
		assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
		assert_true(r.notes & COMPARE_FEW_RUNS);
		assert_int_equal(r.runs_needed, 3);
		r = constants("syscall.read", 1000, 1000, n);
		assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	}
	r = compare_runs("time.wall", fast, 5, slow, 5);
	assert_int_equal(r.verdict, COMPARE_WORSE);	/* alone, 0.0079 is significant */
	r = compare_runs("time.wall", fast, 3, slow, 3);
	assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	assert_true(r.notes & COMPARE_FEW_RUNS);
	assert_true(r.runs_needed >= 5);
	r = compare_runs("time.wall", fast, 0, slow, 10);
	assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	assert_int_equal(r.runs_needed, 5);	/* times cannot be decided with three */
	assert_near(r.ratio, 1, 0);
}

static void from_nothing_there_is_no_ratio(void **state)
{
	struct metric_result r = constants("futex.wake_wasted", 0, 500, 3);

	(void)state;
	assert_int_equal(r.verdict, COMPARE_WORSE);
	assert_true(r.ratio == INFINITY && r.ci[0] == INFINITY);
	assert_true(r.notes & COMPARE_ZERO_BASE);
	r = constants("futex.wake_wasted", 500, 0, 3);
	assert_int_equal(r.verdict, COMPARE_BETTER);
	assert_near(r.ratio, 0, 0);
	assert_near(r.ci[1], 0, 0);
	r = constants("futex.wake_wasted", 0, 0, 3);
	assert_int_equal(r.verdict, COMPARE_SAME);
	assert_near(r.ratio, 1, 0);
	/* A handful more of what was never there does not matter. */
	r = constants("futex.wake_wasted", 0, 5, 3);
	assert_int_equal(r.verdict, COMPARE_SAME);
}

/* That now, all of it divided by @by, is still below, or above, base. */
static double beyond_p(double x[2][10], size_t n, double by, enum rank_side side)
{
	struct rank_test t;
	double moved[10];
	size_t i;

	for (i = 0; i < n; i++)
		moved[i] = x[1][i] / by;
	assert_int_equal(rank_utest(x[0], n, moved, n, side, &t), 0);
	return t.p;
}

/* "Same" is said of what was shown, by interval and by ranks. */
static void same_is_never_a_guess(void **state)
{
	static const size_t runs[] = { 3, 4, 5, 10 };
	unsigned int same = 0, round;
	double x[2][10];
	struct rng g;
	size_t i, side;

	(void)state;
	rng_seed(&g, 2);
	for (round = 0; round < 4000; round++) {
		size_t n = runs[round % 4];
		double sd = draw_between(&g, 0.005, 0.02);
		struct metric_result r;

		for (side = 0; side < 2; side++)
			for (i = 0; i < n; i++)
				x[side][i] = 1e9 * draw_lognormal(&g, sd);
		r = compare_runs("time.wall", x[0], n, x[1], n);
		if (r.verdict != COMPARE_SAME)
			continue;
		same++;
		assert_true(r.ci[0] > 1 / 1.025 && r.ci[1] < 1.025);
		assert_true(beyond_p(x, n, 1.025, RANK_LESS) < 0.0501);
		assert_true(beyond_p(x, n, 1 / 1.025, RANK_GREATER) < 0.0501);
	}
	assert_in_range(same, 400, 3600);
}

static void nothing_and_nothing_are_the_same_by_any_rule(void **state)
{
	static const double zero[4];
	struct metric_pair pair = { .name = "B/op", .rule = *metric_default(METRIC_TIME),
				    .base = { zero, 4 }, .now = { zero, 4 } };

	(void)state;
	assert_int_equal(compare_one(&pair, NULL).verdict, COMPARE_SAME);
}

static void noise_is_inconclusive_and_says_how_many(void **state)
{
	double a[10], b[10];
	struct metric_result r;
	struct rng g;
	size_t i;

	(void)state;
	rng_seed(&g, 1);
	for (i = 0; i < 10; i++) {
		a[i] = 1e9 * draw_lognormal(&g, 0.1);
		b[i] = 1e9 * draw_lognormal(&g, 0.1);
	}
	r = compare_runs("time.wall", a, 10, b, 10);
	assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	/* 33 to 43 times (10 / 2.5)^2, by the power planned for and the spread seen. */
	assert_in_range(r.runs_needed, 300, 2000);
}

static void outliers_are_named(void **state)
{
	double a[10], b[10];
	struct metric_result r;

	(void)state;
	memcpy(a, fast, sizeof(a));
	memcpy(b, fast, sizeof(b));
	a[3] = 400e6;
	r = compare_runs("time.wall", a, 10, b, 10);
	assert_int_equal(r.notes, COMPARE_OUTLIERS_BASE);
	assert_int_equal(r.verdict, COMPARE_SAME);
	r = compare_runs("time.wall", b, 10, a, 10);
	assert_int_equal(r.notes, COMPARE_OUTLIERS_NOW);
	/* One or two more calls in a count that is constant else are no outlier. */
	a[0] = 100;
	for (size_t i = 1; i < 10; i++)
		a[i] = 98;
	assert_int_equal(compare_runs("syscall.read", a, 10, a, 10).notes, 0);
}

/* A machine that gets slower while both sides run, one after the other. */
static void a_drift_is_no_change(void **state)
{
	static const struct compare_opts turns = { .fdr = 0.02, .level = 0.95,
						   .alternated = true };
	double a[10], b[10];
	struct metric_pair pair = pair_of("time.wall", a, 10, b, 10);
	struct metric_result r;
	size_t i;

	(void)state;
	for (i = 0; i < 10; i++) {
		a[i] = 1e9 * (1 + 0.01 * (double)i);
		b[i] = 1e9 * (1.1 + 0.01 * (double)i);
	}
	r = compare_one(&pair, NULL);
	assert_int_equal(r.verdict, COMPARE_INCONCLUSIVE);
	assert_int_equal(r.notes, COMPARE_DRIFT_BASE | COMPARE_DRIFT_NOW | COMPARE_DRIFT_HIDES);
	assert_int_equal(r.runs_needed, 0);
	/* Had they taken turns, it would be in both alike. */
	r = compare_one(&pair, &turns);
	assert_int_equal(r.verdict, COMPARE_WORSE);
	assert_int_equal(r.notes, COMPARE_DRIFT_BASE | COMPARE_DRIFT_NOW);
	/* Nor is it what made a program take twice as long: it took them by a tenth each. */
	for (i = 0; i < 10; i++)
		b[i] += 1e9;
	r = compare_one(&pair, NULL);
	assert_int_equal(r.verdict, COMPARE_WORSE);
	assert_int_equal(r.notes, COMPARE_DRIFT_BASE | COMPARE_DRIFT_NOW);
	for (i = 0; i < 10; i++)
		b[i] -= 1e9;
	/* A drift the other way hides nothing. */
	for (i = 0; i < 5; i++) {
		double kept = a[i];

		a[i] = a[9 - i];
		a[9 - i] = kept;
		kept = b[i];
		b[i] = b[9 - i];
		b[9 - i] = kept;
	}
	r = compare_one(&pair, NULL);
	assert_int_equal(r.verdict, COMPARE_WORSE);
}

static void what_cannot_matter_is_not_corrected_for(void **state)
{
	struct metric_pair pairs[41];
	struct metric_result r[41];
	static const double still[] = { 7, 7, 7, 7, 7 };
	static const double moves[] = { 90e6, 130e6, 100e6, 120e6, 110e6 };
	size_t i;

	(void)state;
	pairs[0] = pair_of("time.wall", fast, 5, slow, 5);
	for (i = 1; i < N(pairs); i++)
		pairs[i] = pair_of("syscall.read", still, 5, still, 5);
	assert_int_equal(compare_metrics(pairs, N(pairs), NULL, r, &err), 0);
	assert_near(r[0].q, r[0].p, 1e-12);
	assert_near(r[1].q, 1, 0);
	assert_int_equal(r[0].verdict, COMPARE_WORSE);
	/* Where the others do vary, 0.0079 is not enough among so many. */
	for (i = 1; i < N(pairs); i++)
		pairs[i] = pair_of("time.system", moves, 5, moves, 5);
	assert_int_equal(compare_metrics(pairs, N(pairs), NULL, r, &err), 0);
	assert_true(r[0].q > 0.02);
	assert_int_equal(r[0].verdict, COMPARE_INCONCLUSIVE);
	assert_true(r[0].notes & COMPARE_FEW_RUNS);
}

static void the_gravest_verdict_is_that_of_all(void **state)
{
	struct metric_result r[4] = { { .verdict = COMPARE_SAME }, { .verdict = COMPARE_BETTER },
				      { .verdict = COMPARE_INCONCLUSIVE },
				      { .verdict = COMPARE_WORSE } };

	(void)state;
	assert_int_equal(compare_overall(r, 4), COMPARE_WORSE);
	assert_int_equal(compare_overall(r, 3), COMPARE_INCONCLUSIVE);
	assert_int_equal(compare_overall(r, 2), COMPARE_BETTER);
	assert_int_equal(compare_overall(r, 1), COMPARE_SAME);
	assert_int_equal(compare_overall(r, 0), COMPARE_INCONCLUSIVE);
	assert_string_equal(compare_word(COMPARE_WORSE), "worse");
	assert_string_equal(compare_word(COMPARE_INCONCLUSIVE), "inconclusive");
}

static void bad_input_is_told(void **state)
{
	static const double bad[] = { NAN, INFINITY, -1 };
	double a[3] = { 1, 2, 3 }, b[3] = { 1, 2, 3 };
	struct metric_pair pair = pair_of("time.user", a, 3, b, 3);
	struct metric_result r;
	size_t i;

	(void)state;
	for (i = 0; i < N(bad); i++) {
		b[1] = bad[i];
		assert_int_equal(compare_metrics(&pair, 1, NULL, &r, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "cannot compare time.user: run 2 of the new side"));
	}
	b[1] = 2;
	a[2] = -3;
	assert_int_equal(compare_metrics(&pair, 1, NULL, &r, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "run 3 of the base has the value -3"));
	a[2] = 3;
	pair.rule.weight = 0;
	assert_int_equal(compare_metrics(&pair, 1, NULL, &r, &err), -EINVAL);
	pair.rule.weight = 1;
	pair.rule.min_ratio = -0.1;
	assert_int_equal(compare_metrics(&pair, 1, NULL, &r, &err), -EINVAL);
	assert_int_equal(compare_metrics(NULL, 0, NULL, NULL, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clear_change_of_a_time),
		cmocka_unit_test(what_is_less_than_matters_is_the_same),
		cmocka_unit_test(three_runs_decide_counts),
		cmocka_unit_test(a_count_that_rose_by_the_least_that_matters),
		cmocka_unit_test(a_burst_does_not_hide_a_count),
		cmocka_unit_test(a_small_step_of_a_count_wants_five_runs),
		cmocka_unit_test(too_few_runs_decide_nothing),
		cmocka_unit_test(from_nothing_there_is_no_ratio),
		cmocka_unit_test(same_is_never_a_guess),
		cmocka_unit_test(nothing_and_nothing_are_the_same_by_any_rule),
		cmocka_unit_test(noise_is_inconclusive_and_says_how_many),
		cmocka_unit_test(outliers_are_named),
		cmocka_unit_test(a_drift_is_no_change),
		cmocka_unit_test(what_cannot_matter_is_not_corrected_for),
		cmocka_unit_test(the_gravest_verdict_is_that_of_all),
		cmocka_unit_test(bad_input_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
