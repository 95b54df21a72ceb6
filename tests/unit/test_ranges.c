/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tape/ranges.h"

/* "1-3 5-" of a list, inverted or not. */
static const char *text_of(const char *list, bool invert)
{
	static char text[256];
	struct err err = { 0 };
	struct ranges r;
	size_t n = 0;

	if (ranges_parse(&r, list, &err)) {
		snprintf(text, sizeof(text), "%s", strrchr(err.msg, ':') + 2);
		return text;
	}
	if (invert)
		assert_int_equal(ranges_invert(&r), 0);
	text[0] = '\0';
	for (size_t i = 0; i < r.n; i++) {
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu-", i ? " " : "",
				      (unsigned long long)r.at[i].low);
		if (r.at[i].high != UINT64_MAX)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%llu",
					      (unsigned long long)r.at[i].high);
	}
	ranges_release(&r);
	return text;
}

static void lists_are_those_of_cut(void **state)
{
	(void)state;
	assert_string_equal(text_of("2", false), "2-2");
	assert_string_equal(text_of("+2", false), "2-2");
	assert_string_equal(text_of("2-", false), "2-");
	assert_string_equal(text_of("-2", false), "1-2");
	assert_string_equal(text_of("7,1-3,5", false), "1-3 5-5 7-7");
	assert_string_equal(text_of("18446744073709551615", false), "18446744073709551615-");
}

static void overlaps_are_one_and_neighbours_two(void **state)
{
	(void)state;
	assert_string_equal(text_of("1-3,2-5", false), "1-5");
	assert_string_equal(text_of("1-9,2-3", false), "1-9");
	assert_string_equal(text_of("1,2", false), "1-1 2-2");
	assert_string_equal(text_of("1,1,1", false), "1-1");
	assert_string_equal(text_of("4-,2-", false), "2-");
}

static void the_rest_may_be_nothing(void **state)
{
	(void)state;
	assert_string_equal(text_of("1-", true), "");
	assert_string_equal(text_of("2", true), "1-1 3-");
	assert_string_equal(text_of("1,2", true), "3-");
	assert_string_equal(text_of("-4,6-", true), "5-5");
	assert_string_equal(text_of("18446744073709551615", true), "1-18446744073709551614");
}

static void refusals_say_why(void **state)
{
	static const char from_1[] = "fields and positions are numbered from 1";

	(void)state;
	assert_string_equal(text_of("0", false), from_1);
	assert_string_equal(text_of("0-1", false), from_1);
	assert_string_equal(text_of("-0", false), from_1);
	assert_string_equal(text_of("3-2", false), "high end of range less than low end");
	for (const char *const *s = (const char *const[]){ "", "-", "a", "1-2-3", " 1", "1,", ",1",
	     "1,,2", "+", "18446744073709551616", "1 2", NULL }; *s; s++)
		assert_string_equal(text_of(*s, false), "failed to parse range");
}

static void numbers_that_ascend_are_found(void **state)
{
	struct err err = { 0 };
	struct ranges r;
	char got[16] = "";
	size_t at = 0;

	(void)state;
	assert_int_equal(ranges_parse(&r, "2-3,5,7-", &err), 0);
	for (uint64_t n = 1; n < 10; n++)
		strcat(got, ranges_find(&r, &at, n) ? "x" : ".");
	assert_string_equal(got, ".xx.x.xxx");
	ranges_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_those_of_cut),
		cmocka_unit_test(overlaps_are_one_and_neighbours_two),
		cmocka_unit_test(the_rest_may_be_nothing),
		cmocka_unit_test(refusals_say_why),
		cmocka_unit_test(numbers_that_ascend_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
