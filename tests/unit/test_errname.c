/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/errname.h"

static void names_are_those_of_libc(void **state)
{
	int code;

	(void)state;
	for (code = 1; code < 512; code++) {
		const char *libc = strerrorname_np(code);

		/* glibc prefers the second name of these two. */
		if (code == EDEADLK)
			libc = "EDEADLK";
		if (code == EOPNOTSUPP)
			libc = "EOPNOTSUPP";
		if (libc)
			assert_string_equal(errname(code), libc);
		else
			assert_null(errname(code));
	}
}

static void the_kernel_has_more(void **state)
{
	(void)state;
	assert_string_equal(errname(512), "ERESTARTSYS");
	assert_string_equal(errname(513), "ERESTARTNOINTR");
	assert_string_equal(errname(514), "ERESTARTNOHAND");
	assert_string_equal(errname(516), "ERESTART_RESTARTBLOCK");
	assert_string_equal(errname(524), "ENOTSUPP");
	assert_string_equal(errname(530), "ERECALLCONFLICT");
	assert_null(errname(520));
}

static void names_are_found(void **state)
{
	int code;

	(void)state;
	for (code = 1; code < 600; code++) {
		const char *name = errname(code);

		if (name)
			assert_int_equal(errname_find(name, strlen(name)), code);
	}
	assert_int_equal(errname_find("ENOENTRY", 6), ENOENT);
	assert_int_equal(errname_find("ENOEN", 5), 0);
	assert_int_equal(errname_find("", 0), 0);
}

static void others_have_none(void **state)
{
	(void)state;
	assert_null(errname(0));
	assert_null(errname(-1));
	assert_null(errname(INT_MIN));
	assert_null(errname(41));
	assert_null(errname(134));
	assert_null(errname(511));
	assert_null(errname(600));
	assert_null(errname(INT_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_libc),
		cmocka_unit_test(the_kernel_has_more),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(others_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
