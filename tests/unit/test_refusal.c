/* SPDX-License-Identifier: MIT */
/* Why the kernel refused something, in words that are true of this kernel. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "collect/refusal.h"
#include "unit.h"

#define VERIFIER "R2 pointer arithmetic prohibited"

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static void the_verifier_has_the_word(void **state)
{
	struct refusal r;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	refusal_explain(&r, EINVAL, VERIFIER, NULL);
	assert_true(has(r.why, VERIFIER));
	assert_true(has(r.why, "EINVAL"));
	/* This kernel runs us: it is not said to be too old. */
	assert_false(has(r.fix, "newer"));
	assert_true(has(r.fix, "doctor"));
	refusal_explain(&r, E2BIG, "", NULL);
	assert_true(has(r.why, strerror(E2BIG)));
}

static void a_kernel_that_is_too_old(void **state)
{
	struct refusal r;
	int was = personality(0xffffffff);

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK) || personality((unsigned int)was | UNAME26) < 0)
		skip();
	refusal_explain(&r, EINVAL, VERIFIER, NULL);
	personality((unsigned int)was);
	assert_true(has(r.why, "Linux 2.6."));
	assert_true(has(r.fix, "Linux 5.17 or newer is needed"));
}

static void limits_and_what_is_missing(void **state)
{
	static const struct { int code; const char *said, *config, *why, *fix; } rows[] = {
		{ EMFILE, "", NULL, "too many open files", "ulimit -n" },
		{ EBADF, "libbpf: ...:Too many open files(-24). Retrying", NULL,
		  "too many open files", "ulimit -n" },
		{ ENOMEM, "", NULL, "memory", "--ring" },
		{ ENOSYS, "", NULL, "bpf(2)", "CONFIG_BPF_SYSCALL" },
		{ ESRCH, "", "CONFIG_CGROUPS", "no such hook", "CONFIG_CGROUPS=y" },
	};
	struct refusal r;
	size_t i;

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		refusal_explain(&r, rows[i].code, rows[i].said, rows[i].config);
		assert_true(has(r.why, rows[i].why));
		assert_true(has(r.fix, rows[i].fix));
	}
}

static void as_an_error(void **state)
{
	struct err err = {};

	(void)state;
	assert_int_equal(refusal_err(&err, EMFILE, "cannot load it", "", NULL), -EMFILE);
	assert_int_equal(err.code, EMFILE);
	assert_string_equal(err.msg, "cannot load it: too many open files");
	assert_true(has(err.hint, "ulimit"));
}

/* A text of any length is cut, and never overruns. */
static void long_words(void **state)
{
	struct refusal r;
	char said[4096];

	(void)state;
	memset(said, 'x', sizeof(said) - 1);
	said[sizeof(said) - 1] = '\0';
	refusal_explain(&r, EINVAL, said, NULL);
	assert_true(strlen(r.why) < sizeof(r.why) && strlen(r.fix) < sizeof(r.fix));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_verifier_has_the_word),
		cmocka_unit_test(a_kernel_that_is_too_old),
		cmocka_unit_test(limits_and_what_is_missing),
		cmocka_unit_test(as_an_error),
		cmocka_unit_test(long_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
