/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/refused.h"

/* What is said of this thread, behind its name. */
static void expect(const struct rr_counts *c, const char *what, const char *hint)
{
	struct err err = { 0 };
	char want[512];

	assert_int_equal(refused_set(&err, c), -ENOTSUP);
	snprintf(want, sizeof(want), "thread %d (test_refused) %s", (int)getpid(), what);
	assert_string_equal(err.msg, want);
	assert_non_null(strstr(err.hint, hint));
}

static void each_reason_has_its_words(void **state)
{
	struct rr_counts c = { .refused_tid = (uint32_t)getpid(), .refused_nr = SYS_ptrace,
			       .refused_arg = 16 };

	(void)state;
	expect(&c, "made a call that cannot be recorded: ptrace, number 101, argument 2 0x10",
	       "record what the debugger or tracer runs");
	c.refused_nr = 9999;
	expect(&c, "made a call that cannot be recorded: without a name, number 9999, argument 2 "
	       "0x10", "please report it");
	c.refused_why = RR_REFUSED_COMPAT;
	expect(&c, "made a call of 32-bit code, which cannot be recorded", "a 64-bit build");
	c.refused_why = RR_REFUSED_MEMORY;
	expect(&c, "wrote into memory by way of /proc/PID/mem, which cannot be recorded",
	       "process_vm_writev(2)");
}

static void write_head(const char *path, const char *head, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(head, 1, n, f), n);
	fclose(f);
}

static void programs_are_told_by_their_heads(void **state)
{
	char path[] = "/tmp/tracer-test-XXXXXX", head[16] = "\x7f" "ELF\1\1\1";
	struct err err = { 0 };
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	write_head(path, head, 16);
	assert_int_equal(refused_program(&err, path), -ENOTSUP);
	assert_non_null(strstr(err.msg, "is a 32-bit program"));
	head[4] = 2;
	write_head(path, head, 16);
	assert_int_equal(refused_program(&err, path), 0);
	head[4] = 1;
	write_head(path, head, 15);
	assert_int_equal(refused_program(&err, path), 0);
	write_head(path, "#!/bin/sh\nexit 0\n", 17);
	assert_int_equal(refused_program(&err, path), 0);
	unlink(path);
	assert_int_equal(refused_program(&err, path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_has_its_words),
		cmocka_unit_test(programs_are_told_by_their_heads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
