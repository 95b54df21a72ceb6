/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "collect/seen.h"

static void what_is_seen_is_not_new(void **state)
{
	struct seen *s = seen_new(sizeof(uint64_t), 8);
	uint64_t key;

	(void)state;
	assert_non_null(s);
	for (key = 0; key < 8; key++)
		assert_true(seen_first(s, &key));
	for (key = 0; key < 8; key++)
		assert_false(seen_first(s, &key));
	assert_int_equal(seen_count(s), 8);
	seen_free(s);
	seen_free(NULL);
}

static void it_never_holds_more(void **state)
{
	struct seen *s = seen_new(sizeof(uint32_t), 100);
	uint32_t key;

	(void)state;
	for (key = 0; key < 100000; key++) {
		assert_true(seen_first(s, &key));
		assert_false(seen_first(s, &key));
		assert_in_range(seen_count(s), 1, 100);
	}
	/* Forgotten: once more, and no more. */
	key = 5;
	assert_true(seen_first(s, &key));
	assert_false(seen_first(s, &key));
	seen_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_seen_is_not_new),
		cmocka_unit_test(it_never_holds_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
