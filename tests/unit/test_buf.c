/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"

static void adds_in_order_and_ends_in_nul(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_null(b.data);
	assert_int_equal(buf_adds(&b, "ab"), 0);
	assert_int_equal(buf_addc(&b, 'c'), 0);
	assert_int_equal(buf_add(&b, "d\0e", 3), 0);
	assert_int_equal(buf_addf(&b, "%d-%s", 12, "x"), 0);
	assert_int_equal(b.len, 10);
	assert_memory_equal(b.data, "abcd\0e12-x", 11);
	assert_false(b.failed);
	buf_reset(&b);
	assert_int_equal(b.len, 0);
	assert_string_equal(b.data, "");
	buf_release(&b);
	assert_null(b.data);
}

static void format_fills_to_the_last_byte(void **state)
{
	char word[300];

	(void)state;
	memset(word, 'w', sizeof(word));
	for (int n = 200; n < 300; n++) {
		struct buf b = BUF_INIT;

		assert_int_equal(buf_adds(&b, "<"), 0);
		assert_int_equal(buf_addf(&b, "%.*s>", n, word), 0);
		assert_int_equal(b.len, n + 2);
		assert_int_equal(b.data[n + 1], '>');
		buf_release(&b);
	}
}

static void format_grows_over_every_edge(void **state)
{
	char word[600];

	(void)state;
	memset(word, 'w', sizeof(word));
	for (int n = 0; n < 600; n++) {
		struct buf b = BUF_INIT;

		assert_int_equal(buf_addf(&b, "<%.*s>", n, word), 0);
		assert_int_equal(buf_addf(&b, "<%.*s>", 599 - n, word), 0);
		assert_int_equal(b.len, 603);
		assert_int_equal(strlen(b.data), 603);
		assert_int_equal(b.data[n + 1], '>');
		assert_int_equal(b.data[602], '>');
		buf_release(&b);
	}
}

static void max_holds_and_keeps_what_was_there(void **state)
{
	struct buf b = { .max = 300 };
	char word[301];

	(void)state;
	memset(word, 'w', sizeof(word));
	assert_int_equal(buf_add(&b, word, 299), 0);
	assert_int_equal(buf_add(&b, word, 2), -ENOMEM);
	assert_true(b.failed);
	assert_int_equal(b.len, 299);
	assert_int_equal(buf_addf(&b, "%s", "too long"), -ENOMEM);
	assert_int_equal(b.len, 299);
	assert_int_equal(strlen(b.data), 299);
	assert_int_equal(buf_addc(&b, 'x'), 0);
	assert_int_equal(b.len, 300);
	assert_true(b.cap <= 301);
	assert_int_equal(buf_addc(&b, 'y'), -ENOMEM);
	assert_string_equal(b.data + 299, "x");
	buf_reset(&b);
	assert_false(b.failed);
	buf_release(&b);
}

static void growth_does_not_wrap(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(buf_adds(&b, "abc"), 0);
	assert_int_equal(buf_grow(&b, SIZE_MAX), -ENOMEM);
	assert_int_equal(buf_grow(&b, SIZE_MAX - 3), -ENOMEM);
	assert_int_equal(buf_grow(&b, BUF_MAX_BYTES), -ENOMEM);
	assert_string_equal(b.data, "abc");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_in_order_and_ends_in_nul),
		cmocka_unit_test(format_fills_to_the_last_byte),
		cmocka_unit_test(format_grows_over_every_edge),
		cmocka_unit_test(max_holds_and_keeps_what_was_there),
		cmocka_unit_test(growth_does_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
