/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stats/hist.h"

static uint64_t rng_state;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void edges_meet_and_hold_their_bucket(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(HIST_BUCKETS, 156);
	assert_int_equal(hist_lower(0), 0);
	for (i = 0; i < HIST_BUCKETS; i++) {
		uint64_t low = hist_lower(i), up = hist_upper(i);

		assert_true(low < up);
		assert_int_equal(hist_bucket(low), i);
		assert_int_equal(hist_bucket(up - 1), i);
		if (i + 1 < HIST_BUCKETS) {
			assert_int_equal(hist_lower(i + 1), up);
			/* The promise of the header: at most 25 % wide. */
			assert_true(i < HIST_SUB || (up - low) * HIST_SUB <= low);
		}
	}
	assert_int_equal(hist_upper(HIST_BUCKETS - 1), UINT64_MAX);
	assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
	assert_int_equal(hist_lower(HIST_BUCKETS), UINT64_MAX);
}

static void random_values_lie_in_their_bucket(void **state)
{
	int i;

	(void)state;
	rng_state = 0x9e3779b97f4a7c15ULL;
	for (i = 0; i < 200000; i++) {
		uint64_t v = rng() >> (rng() % 64);
		unsigned int b = hist_bucket(v);

		assert_true(b < HIST_BUCKETS);
		assert_true(v >= hist_lower(b));
		assert_true(v < hist_upper(b) || v == UINT64_MAX);
	}
}

static void an_empty_histogram_answers_zero(void **state)
{
	struct hist h = { 0 };

	(void)state;
	assert_int_equal(hist_quantile(&h, 0.5), 0);
	assert_int_equal(hist_mean(&h), 0);
}

static void one_value_is_every_quantile(void **state)
{
	static const uint64_t values[] = { 0, 1, 3, 4, 1000, 123456789, 1ULL << 40,
					   (1ULL << 52) + 1 };
	static const double qs[] = { -1, 0, 0.01, 0.5, 0.99, 1, 7 };
	size_t i, j;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct hist h = { 0 };

		hist_add(&h, values[i]);
		for (j = 0; j < sizeof(qs) / sizeof(*qs); j++)
			assert_int_equal(hist_quantile(&h, qs[j]), values[i]);
		assert_int_equal(hist_quantile(&h, __builtin_nan("")), values[i]);
	}
}

static void small_values_are_exact(void **state)
{
	struct hist h = { 0 };
	uint64_t v;

	(void)state;
	for (v = 0; v < 8; v++)	/* buckets one wide */
		hist_add(&h, v);
	assert_int_equal(hist_quantile(&h, 0), 0);
	assert_int_equal(hist_quantile(&h, 3.0 / 7), 3);
	assert_int_equal(hist_quantile(&h, 0.5), 4);	/* type 7: 3.5, rounded */
	assert_int_equal(hist_quantile(&h, 1), 7);
	assert_int_equal(hist_mean(&h), 3);
}

static void the_overflow_bucket_and_the_sum_do_not_wrap(void **state)
{
	struct hist h = { 0 };

	(void)state;
	hist_add(&h, UINT64_MAX);
	hist_add(&h, UINT64_MAX);
	assert_int_equal(h.sum, UINT64_MAX);
	assert_int_equal(h.max, UINT64_MAX);
	assert_int_equal(h.bucket[HIST_BUCKETS - 1], 2);
	assert_int_equal(hist_quantile(&h, 1), UINT64_MAX);
	hist_merge(&h, &h);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.sum, UINT64_MAX);
}

/* Values of many scales: uniform, exponential-like, two humps. */
static uint64_t draw(int shape)
{
	switch (shape) {
	case 0:
		return rng() % 100000;
	case 1:
		return rng() >> (24 + rng() % 40);
	default:
		return rng() & 1 ? 200 + rng() % 50 : 5000000 + rng() % 100000;
	}
}

/*
 * The bucketed quantile lies within the buckets of the two order statistics
 * that the exact one is taken from.
 */
static void check_quantiles(const struct hist *h, const uint64_t *sorted, size_t n)
{
	static const double qs[] = { 0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1 };
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < sizeof(qs) / sizeof(*qs); i++) {
		size_t rank = (size_t)(qs[i] * (double)(n - 1));
		uint64_t lo = sorted[rank], hi = sorted[rank + 1 < n ? rank + 1 : rank];
		uint64_t got = hist_quantile(h, qs[i]);

		assert_true(got >= hist_lower(hist_bucket(lo)));
		assert_true(got < hist_upper(hist_bucket(hi)));
		assert_true(got <= h->max);
		assert_true(got >= last);
		last = got;
		if (lo == hi && lo >= HIST_SUB) {
			double off = (double)got / (double)lo - 1;

			assert_true(off <= 0.25 && off >= -0.25);
		}
	}
}

static void quantiles_stay_within_a_bucket_of_exact_ones(void **state)
{
	static uint64_t values[5000];
	int shape, round;

	(void)state;
	rng_state = 42;
	for (shape = 0; shape < 3; shape++) {
		for (round = 0; round < 30; round++) {
			struct hist h = { 0 };
			size_t n = 1 + rng() % (sizeof(values) / sizeof(*values)), i;

			for (i = 0; i < n; i++) {
				values[i] = draw(shape);
				hist_add(&h, values[i]);
			}
			qsort(values, n, sizeof(*values), by_value);
			assert_int_equal(h.max, values[n - 1]);
			assert_int_equal(hist_quantile(&h, 1), values[n - 1]);
			check_quantiles(&h, values, n);
		}
	}
}

static void the_median_of_uniform_values_is_near(void **state)
{
	struct hist h = { 0 };
	uint64_t v, p50, p99;

	(void)state;
	for (v = 0; v < 1000000; v += 7)
		hist_add(&h, v);
	p50 = hist_quantile(&h, 0.5);
	p99 = hist_quantile(&h, 0.99);
	/* Linear within a bucket is exact for what is linear. */
	assert_true(p50 > 499000 && p50 < 501000);
	assert_true(p99 > 989000 && p99 < 991000);
}

static void merged_halves_equal_the_whole(void **state)
{
	struct hist a = { 0 }, b = { 0 }, all = { 0 };
	int i;

	(void)state;
	rng_state = 7;
	for (i = 0; i < 10000; i++) {
		uint64_t v = draw(1);

		hist_add(i % 3 ? &a : &b, v);
		hist_add(&all, v);
	}
	hist_add(&b, 1ULL << 45);	/* the maximum is the other's */
	hist_add(&all, 1ULL << 45);
	hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
}

static void kernel_counts_fill_buckets_and_count_alone(void **state)
{
	uint32_t counts[HIST_BUCKETS + 4] = { 0 };
	struct hist h = { 0 };

	(void)state;
	counts[hist_bucket(1000)] = 3;
	counts[2] = 1;
	counts[HIST_BUCKETS] = 9;	/* past the end: not ours */
	hist_merge_counts(&h, counts, HIST_BUCKETS + 4);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.sum, 0);
	assert_int_equal(h.max, 0);
	assert_int_equal(hist_quantile(&h, 0), 2);
	/* No maximum: the bucket's own end bounds it. */
	assert_true(hist_quantile(&h, 1) >= hist_lower(hist_bucket(1000)));
	assert_true(hist_quantile(&h, 1) < hist_upper(hist_bucket(1000)));
	/* The middle one of three lies in the middle of 896..1023. */
	assert_int_equal(hist_quantile(&h, 2.0 / 3), 960);
	hist_merge_counts(&h, counts, 3);
	assert_int_equal(h.count, 5);
	h.max = 1000;
	assert_int_equal(hist_quantile(&h, 1), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_meet_and_hold_their_bucket),
		cmocka_unit_test(random_values_lie_in_their_bucket),
		cmocka_unit_test(an_empty_histogram_answers_zero),
		cmocka_unit_test(one_value_is_every_quantile),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(the_overflow_bucket_and_the_sum_do_not_wrap),
		cmocka_unit_test(quantiles_stay_within_a_bucket_of_exact_ones),
		cmocka_unit_test(the_median_of_uniform_values_is_near),
		cmocka_unit_test(merged_halves_equal_the_whole),
		cmocka_unit_test(kernel_counts_fill_buckets_and_count_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
