/* SPDX-License-Identifier: MIT */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

/* A made-up report printed in a format into memory, for the tests of the formats. */
#include "out_text.h"

#include "fixture_regress.h"
#include "report/render.h"

/* What @format makes of @r; the caller releases @text. */
__attribute__((unused)) static void report_text(const char *format, const struct regress *r,
						const struct render_opts *opts, struct buf *text)
{
	const struct render_opts plain = { .width = 80, .color = OUT_COLOR_NEVER,
					   .charset = OUT_CHARSET_UTF8,
					   .rows = RENDER_ROWS_DEFAULT };
	int fd = memfd_create("report", MFD_CLOEXEC);
	struct err err = { 0 };
	struct out_stream o;

	assert_true(fd >= 0);
	*text = (struct buf)BUF_INIT;
	assert_int_equal(out_stream_init(&o, fd, "memory", 0, &err), 0);
	assert_int_equal(render_find(format)->report(r, opts ? opts : &plain, &o, &err), 0);
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, text, 1 << 26), 0);
	close(fd);
}

__attribute__((unused)) static void assert_has(const struct buf *text, const char *part)
{
	if (!strstr(text->data, part))
		fail_msg("'%s' is not in:\n%s", part, text->data);
}

__attribute__((unused)) static void assert_not(const struct buf *text, const char *part)
{
	if (strstr(text->data, part))
		fail_msg("'%s' is in:\n%s", part, text->data);
}

__attribute__((unused)) static size_t times_in(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* Dates in the text format are those of who reads. */
__attribute__((unused)) static int in_utc(void **state)
{
	(void)state;
	return setenv("TZ", "UTC", 1);
}

#endif
