/* SPDX-License-Identifier: MIT */
/* What tracing is said to add to a call. */
#include "unit.h"

#include "collect/cost.h"

static void noise_is_no_gain(void **state)
{
	const struct cost bare = { .call_ns = 111, .futex_ns = 140, .chunk_ns = 400,
				   .routine_ns = 30 };
	const struct cost traced = { .call_ns = 230, .futex_ns = 139, .chunk_ns = 400,
				     .routine_ns = 29 };
	struct cost added;

	(void)state;
	cost_added(&bare, &traced, &added);
	assert_int_equal(added.call_ns, 119);
	assert_int_equal(added.futex_ns, 0);
	assert_int_equal(added.chunk_ns, 0);
	assert_int_equal(added.routine_ns, 0);
}

static void a_call_takes_some_time(void **state)
{
	struct cost c;

	(void)state;
	cost_measure(&c);
	assert_in_range(c.call_ns, 1, 1000000);
	assert_in_range(c.futex_ns, 1, 1000000);
	assert_in_range(c.chunk_ns, 1, 1000000);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(noise_is_no_gain),
		cmocka_unit_test(a_call_takes_some_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
