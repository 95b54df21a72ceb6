/* SPDX-License-Identifier: MIT */
#include "near.h"
#include "stats/rng.h"

static void it_gives_the_published_sequence(void **state)
{
	/* xoshiro256** from the state 1, 2, 3, 4, worked out by hand from the paper's step. */
	static const uint64_t want[] = { 11520, 0, 1509978240, 1215971899390074240ULL };
	struct rng r = { { 1, 2, 3, 4 } };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(rng_next(&r), want[i]);
}

static void the_seed_is_spread_by_splitmix(void **state)
{
	/* The first outputs of SplitMix64 from 1234567. */
	struct rng r;

	(void)state;
	rng_seed(&r, 1234567);
	assert_int_equal(r.s[0], 6457827717110365317ULL);
	assert_int_equal(r.s[1], 3203168211198807973ULL);
	assert_int_equal(r.s[2], 9817491932198370423ULL);
	assert_int_equal(r.s[3], 4593380528125082431ULL);
	rng_seed(&r, 0);
	assert_true(r.s[0] | r.s[1] | r.s[2] | r.s[3]);
}

static void units_are_even_and_below_one(void **state)
{
	unsigned int bin[10] = { 0 }, i;
	struct rng r;

	(void)state;
	rng_seed(&r, 1);
	for (i = 0; i < 100000; i++) {
		double u = rng_unit(&r);

		assert_true(u >= 0 && u < 1);
		bin[(int)(u * 10)]++;
	}
	/* Five standard deviations of a binomial are 474. */
	for (i = 0; i < 10; i++)
		assert_true(bin[i] > 9500 && bin[i] < 10500);
}

static void below_has_no_favourites(void **state)
{
	/* Of 2^64 numbers four make three results: one in three would come twice as often. */
	const uint64_t n = 3ULL << 62;
	unsigned int third[3] = { 0 }, i;
	struct rng r;

	(void)state;
	rng_seed(&r, 2);
	for (i = 0; i < 30000; i++) {
		uint64_t x = rng_below(&r, n);

		assert_true(x < n);
		third[x % 3]++;
	}
	for (i = 0; i < 3; i++)
		assert_in_range(third[i], 9500, 10500);
	for (i = 0; i < 100; i++)
		assert_int_equal(rng_below(&r, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_gives_the_published_sequence),
		cmocka_unit_test(the_seed_is_spread_by_splitmix),
		cmocka_unit_test(units_are_even_and_below_one),
		cmocka_unit_test(below_has_no_favourites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
