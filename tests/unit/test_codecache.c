/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/codecache.h"

static uint64_t two[] = { 4096, 70000 };

/* As many files as @n, of which the i-th has the inode i + 1; the second has places. */
static struct replaced files(size_t n)
{
	struct replaced x = { .file = calloc(n, sizeof(*x.file)), .n = n };

	assert_non_null(x.file);
	for (size_t i = 0; i < n; i++)
		x.file[i] = (struct replaced_file){ 8, i + 1, 3, 4, 5, 6, 7, .young = false };
	if (n > 1)
		x.file[1].places = (struct insn_places){ two, 2, 2 };
	return x;
}

static void what_is_written_is_read(void **state)
{
	struct replaced x = files(3), y = { .file = NULL };
	struct buf b = BUF_INIT;

	(void)state;
	x.file[2].young = true;
	assert_int_equal(codecache_format(&b, &x), 0);
	assert_int_equal(codecache_parse(&y, b.data, b.len), 0);
	assert_int_equal(y.n, 2);
	assert_int_equal(y.file[0].ino, 1);
	assert_int_equal(y.file[0].places.n, 0);
	assert_int_equal(y.file[1].dev, 8);
	assert_int_equal(y.file[1].ino, 2);
	assert_int_equal(y.file[1].size, 3);
	assert_int_equal(y.file[1].mtime_ns, 4);
	assert_int_equal(y.file[1].ctime_ns, 5);
	assert_int_equal(y.file[1].offset, 6);
	assert_int_equal(y.file[1].bytes, 7);
	assert_int_equal(y.file[1].places.n, 2);
	assert_memory_equal(y.file[1].places.at, two, sizeof(two));
	replaced_release(&y);
	/* Each byte counts, and each length. */
	for (size_t i = 0; i < b.len; i++) {
		b.data[i] ^= 4;
		assert_int_equal(codecache_parse(&y, b.data, b.len), -EBADMSG);
		b.data[i] ^= 4;
		replaced_release(&y);
		assert_int_equal(codecache_parse(&y, b.data, i), -EBADMSG);
		replaced_release(&y);
	}
	buf_release(&b);
	free(x.file);
}

static void the_newest_are_kept(void **state)
{
	struct replaced x = files(CODECACHE_FILES + 5), y = { .file = NULL };
	struct buf b = BUF_INIT;

	(void)state;
	assert_int_equal(codecache_format(&b, &x), 0);
	assert_int_equal(codecache_parse(&y, b.data, b.len), 0);
	assert_int_equal(y.n, CODECACHE_FILES);
	assert_int_equal(y.file[0].ino, 6);
	replaced_release(&y);
	buf_release(&b);
	free(x.file);
}

static void it_is_below_directories_that_are_made(void **state)
{
	char dir[] = "/tmp/tracer-test-XXXXXX", path[128];
	const struct caller me = { 0 };
	struct replaced x = files(2), y = { .file = NULL };
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/home/.cache/tracer/code", dir);
	codecache_save(&x, path, &me);
	snprintf(path, sizeof(path), "%s/home", dir);
	assert_int_equal(stat(path, &st), -1);
	snprintf(path, sizeof(path), "%s/a/b/code", dir);
	x.loaded = 2;
	codecache_save(&x, path, &me);
	assert_int_equal(stat(path, &st), -1);
	x.loaded = 1;
	codecache_save(&x, path, &me);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	codecache_load(&y, path, &me);
	assert_int_equal(y.n, 2);
	assert_int_equal(y.loaded, 2);
	replaced_release(&y);
	assert_int_equal(truncate(path, st.st_size - 8), 0);
	codecache_load(&y, path, &me);
	assert_int_equal(y.n, 0);
	unlink(path);
	codecache_load(&y, path, &me);
	assert_int_equal(y.n, 0);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	assert_int_equal(system(path), 0);
	free(x.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(the_newest_are_kept),
		cmocka_unit_test(it_is_below_directories_that_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
