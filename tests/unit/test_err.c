/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

static void set_keeps_code_and_words(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, ESRCH, "cannot attach to pid %d", 4242), -ESRCH);
	assert_int_equal(err.code, ESRCH);
	assert_string_equal(err.msg, "cannot attach to pid 4242");
	assert_string_equal(err.hint, "");
}

static void sys_adds_the_words_of_errno(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_sys(&err, ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_string_equal(err.msg, "cannot open x: no such file or directory");
	err_sys(&err, EREMOTEIO, "y");
	assert_string_equal(err.msg, "y: remote I/O error");
	err_sys(&err, 4000, "z");
	assert_string_equal(err.msg, "z: error 4000");
	/* A message of errno that begins with an abbreviation keeps its capitals. */
	err_sys(&err, EDOTDOT, "z");
	assert_string_equal(err.msg, "z: RFS specific error");
}

static void prefix_goes_before_the_message(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, EPERM, "no privilege");
	err_hint(&err, "try as root");
	assert_int_equal(err_prefix(&err, "attach: pid %d", 7), -EPERM);
	assert_string_equal(err.msg, "attach: pid 7: no privilege");
	assert_string_equal(err.hint, "try as root");
}

static void a_new_message_drops_the_old_hint(void **state)
{
	struct err err;

	(void)state;
	err_set(&err, EPERM, "one");
	err_hint(&err, "of one");
	err_sys(&err, EPERM, "two");
	assert_string_equal(err.hint, "");
	err_hint(&err, "of two");
	err_set(&err, EPERM, "three");
	assert_string_equal(err.hint, "");
}

static void long_words_are_cut(void **state)
{
	char word[2000];
	struct err err[2];

	(void)state;
	memset(word, 'a', sizeof(word));
	word[sizeof(word) - 1] = '\0';
	memset(&err[1], 0x5a, sizeof(err[1]));
	err_sys(&err[0], EPERM, "%s", word);
	assert_int_equal(strlen(err[0].msg), sizeof(err[0].msg) - 1);
	err_hint(&err[0], "%s", word);
	assert_int_equal(strlen(err[0].hint), sizeof(err[0].hint) - 1);
	err_set(&err[0], EPERM, "end");
	for (size_t n = sizeof(err[0].msg) - 8; n < sizeof(err[0].msg) + 2; n++) {
		err_prefix(&err[0], "%.*s", (int)n, word);
		assert_true(strlen(err[0].msg) < sizeof(err[0].msg));
		assert_memory_equal(err[0].msg, word, n < sizeof(err[0].msg) ? n :
				    sizeof(err[0].msg) - 1);
		err_set(&err[0], EPERM, "end");
	}
	assert_int_equal(err[1].code, 0x5a5a5a5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_keeps_code_and_words),
		cmocka_unit_test(sys_adds_the_words_of_errno),
		cmocka_unit_test(prefix_goes_before_the_message),
		cmocka_unit_test(a_new_message_drops_the_old_hint),
		cmocka_unit_test(long_words_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
