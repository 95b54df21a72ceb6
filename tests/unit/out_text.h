/* SPDX-License-Identifier: MIT */
#ifndef OUT_TEXT_H
#define OUT_TEXT_H

/* A summary printed in a format into memory, for the tests of user/out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit.h"

#include "base/io.h"
#include "fixture_summary.h"
#include "out/out.h"
#include "out/utf8.h"

/* What @format makes of @s; the caller releases @text. */
__attribute__((unused)) static void out_text(const char *format, const struct summary *s,
					     const struct out_opts *opts, struct buf *text)
{
	struct out_stream o;
	struct err err = { 0 };
	int fd = memfd_create("out", MFD_CLOEXEC);

	assert_true(fd >= 0);
	*text = (struct buf)BUF_INIT;
	assert_int_equal(out_stream_init(&o, fd, "memory", 0, &err), 0);
	assert_int_equal(out_format_find(format)->summary(s, opts, &o, &err), 0);
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, text, 1 << 26), 0);
	close(fd);
}

/*
 * Nothing in @text but newlines and characters that a terminal shows: the whole
 * of what hostile names may come to.
 */
__attribute__((unused)) static void assert_harmless(const struct buf *text)
{
	size_t i = 0;

	while (i < text->len) {
		uint32_t cp = 0;
		unsigned int len = utf8_decode(text->data + i, text->len - i, &cp);

		if (!len || (utf8_unsafe(cp) && cp != '\n'))
			fail_msg("byte %zu: 0x%02x", i, (unsigned char)text->data[i]);
		i += len;
	}
}

/* TRACER_GOLDEN=update writes what should then be read with open eyes. */
__attribute__((unused)) static void assert_golden(const char *path, const struct buf *text)
{
	struct buf want = BUF_INIT;
	const char *mode = getenv("TRACER_GOLDEN");

	if (mode && !strcmp(mode, "update")) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		assert_int_equal(fwrite(text->data, 1, text->len, f), text->len);
		assert_int_equal(fclose(f), 0);
	}
	if (io_read_file(path, &want, 1 << 20))
		fail_msg("%s: cannot be read (run from the top of the tree)", path);
	if (want.len != text->len || memcmp(want.data, text->data, want.len) != 0)
		fail_msg("%s differs from what is printed now:\n%s", path, text->data);
	buf_release(&want);
}

#endif
