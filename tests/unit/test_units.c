/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "stats/units.h"

static void times_take_the_largest_unit_that_is_at_least_one(void **state)
{
	(void)state;
	assert_string_equal(units_time(0).s, "0 ns");
	assert_string_equal(units_time(999.4).s, "999 ns");
	assert_string_equal(units_time(999.6).s, "1.00 µs");
	assert_string_equal(units_time(31240).s, "31.2 µs");
	assert_string_equal(units_time(99.96e6).s, "100 ms");
	assert_string_equal(units_time(2e9).s, "2.00 s");
	assert_string_equal(units_time(3600e9).s, "3600 s");
}

static void sizes_are_powers_of_1024(void **state)
{
	(void)state;
	assert_string_equal(units_bytes(1).s, "1 B");
	assert_string_equal(units_bytes(1023).s, "1023 B");
	assert_string_equal(units_bytes(1024).s, "1.00 KiB");
	assert_string_equal(units_bytes(20. * 1024 * 1024).s, "20.0 MiB");
}

static void counts_are_grouped(void **state)
{
	(void)state;
	assert_string_equal(units_count(0).s, "0");
	assert_string_equal(units_count(999).s, "999");
	assert_string_equal(units_count(1000).s, "1,000");
	assert_string_equal(units_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void parts_keep_a_digit_when_they_are_small(void **state)
{
	(void)state;
	assert_string_equal(units_percent(0).s, "0 %");
	assert_string_equal(units_percent(0.0003).s, "0.03 %");
	assert_string_equal(units_percent(0.034).s, "3.4 %");
	assert_string_equal(units_percent(0.3449).s, "34 %");
	assert_string_equal(units_percent(1).s, "100 %");
}

/* A figure from a division by zero must not become a wild string. */
static void nonsense_is_zero(void **state)
{
	(void)state;
	assert_string_equal(units_time(-5).s, "0 ns");
	assert_string_equal(units_time(NAN).s, "0 ns");
	assert_string_equal(units_bytes(NAN).s, "0 B");
	assert_string_equal(units_percent(NAN).s, "0 %");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_take_the_largest_unit_that_is_at_least_one),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(counts_are_grouped),
		cmocka_unit_test(parts_keep_a_digit_when_they_are_small),
		cmocka_unit_test(nonsense_is_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
