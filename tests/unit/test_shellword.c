/* SPDX-License-Identifier: MIT */
/* Command lines as a shell takes them: the shell itself is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "out/shellword.h"

static void check_argv(const char *json, const char *want)
{
	struct buf b = BUF_INIT;

	shellword_add_argv(&b, json);
	assert_string_equal(b.data ? b.data : "", want);
	buf_release(&b);
}

static void a_stored_command_reads_as_it_was_typed(void **state)
{
	(void)state;
	check_argv("[\"sort\", \"-n\", \"a b\"]", "sort -n 'a b'");
	check_argv("[\"sh\", \"-c\", \"echo \\\"it's\\\"\"]", "sh -c 'echo \"it'\"'\"'s\"'");
	check_argv("[\"printf\", \"\", \"\\u001b[31m\"]", "printf '' '\033[31m'");
	/* hyperfine has a line for a shell. */
	check_argv("[\"sleep 0.1 | cat\"]", "sleep 0.1 | cat");
	check_argv("[]", "");
	/* What no tracer wrote is shown as it stands. */
	check_argv("sleep 1", "sleep 1");
	check_argv("[\"a\", 1]", "[\"a\", 1]");
	check_argv("[\"a\"", "[\"a\"");
}

static void the_shell_takes_each_word_back(void **state)
{
	static const char *const words[] = {
		"plain-word.1", "", "two words", "it's", "''", "$HOME `ls` \\ \" ; & | < > ( ) *",
		"-x", "~", "a\nb", "\xff\xfe", "\303\274ber", "#c", "a=b",
	};
	char got[256];
	size_t i, n;
	FILE *p;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct buf b = BUF_INIT;

		buf_adds(&b, "printf %s ");
		shellword_add(&b, words[i]);
		p = popen(b.data, "r");
		assert_non_null(p);
		n = fread(got, 1, sizeof(got) - 1, p);
		got[n] = '\0';
		assert_int_equal(pclose(p), 0);
		assert_string_equal(got, words[i]);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stored_command_reads_as_it_was_typed),
		cmocka_unit_test(the_shell_takes_each_word_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
