/* SPDX-License-Identifier: MIT */
/* Perf maps as a hostile JIT may write them: large, and growing all the time. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "sym/symd.h"

static void append(int fd, const char *text, size_t bytes)
{
	assert_int_equal(write(fd, text, bytes), bytes);
}

/* @n lines of one address each from 0x1000 on, malloc'd; *@bytes without a NUL. */
static char *lines(size_t n, size_t *bytes)
{
	char *text = malloc(n * 16 + 1);
	size_t i;

	assert_non_null(text);
	for (i = 0, *bytes = 0; i < n; i++)
		*bytes += (size_t)sprintf(text + *bytes, "%zx 1 f%zx\n", i + 0x1000, i % 16);
	return text;
}

static void a_map_that_grows_is_read_anew(void **state)
{
	int fd = memfd_create("perf", MFD_CLOEXEC), i;
	struct symd_file *f = symd_file_new(fd);
	const struct symd_sym *s;

	(void)state;
	assert_true(fd >= 0 && f);
	append(fd, "10 4 first\n", 11);
	s = symd_perf_find(f, 0x12);
	assert_non_null(s);
	assert_string_equal(s->name, "first");
	assert_null(symd_perf_find(f, 0x20));
	append(fd, "20 4 second\n", 12);
	/* At once, unless reading three words took milliseconds. */
	for (i = 0; i < 1000 && !(s = symd_perf_find(f, 0x20)); i++)
		usleep(10000);
	assert_non_null(s);
	assert_string_equal(s->name, "second");
	symd_file_free(f);
}

static void a_large_one_is_not_read_for_every_address(void **state)
{
	int fd = memfd_create("perf", MFD_CLOEXEC), i;
	struct symd_file *f = symd_file_new(fd);
	size_t bytes;
	char *text = lines(400000, &bytes);

	(void)state;
	append(fd, text, bytes);
	free(text);
	assert_non_null(symd_perf_find(f, 0x1000));
	append(fd, "10 4 new\n", 9);
	assert_null(symd_perf_find(f, 0x10));
	/* It has its turn all the same. */
	for (i = 0; i < 1000 && !symd_perf_find(f, 0x10); i++)
		usleep(20000);
	assert_true(i < 1000);
	symd_file_free(f);
}

static void names_are_bounded(void **state)
{
	const size_t max = (size_t)2 << 20;
	size_t bytes;
	char *text = lines(max + 100, &bytes);
	struct symd_perf *p = symd_perf_parse(text, bytes);

	(void)state;
	assert_non_null(p);
	assert_non_null(symd_perf_lookup(p, 0x1000));
	assert_non_null(symd_perf_lookup(p, 0x1000 + max - 1));
	assert_null(symd_perf_lookup(p, 0x1000 + max));
	symd_perf_free(p);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_that_grows_is_read_anew),
		cmocka_unit_test(a_large_one_is_not_read_for_every_address),
		cmocka_unit_test(names_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
