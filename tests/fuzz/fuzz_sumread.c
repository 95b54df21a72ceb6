/* SPDX-License-Identifier: MIT */
/*
 * A file for export: a summary, whose every format must take what was read and
 * whose JSON must be read back to the same JSON, or a timeline.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "out/out.h"
#include "out/summary_read.h"
#include "out/timeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What @format makes of @s, into @text unless that is NULL. */
static void write_as(const char *format, const struct summary *s, struct buf *text)
{
	const struct out_opts opts = { .threads = true, .stacks = true, .width = 80 };
	struct err err = { 0 };
	struct out_stream o;
	int fd = text ? memfd_create("out", MFD_CLOEXEC) : open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || out_stream_init(&o, fd, "memory", 0, &err) ||
	    out_format_find(format)->summary(s, &opts, &o, &err) ||
	    out_stream_close(&o, &err))
		abort();
	if (text && (lseek(fd, 0, SEEK_SET) || io_read_fd(fd, text, (size_t)1 << 29)))
		abort();
	close(fd);
}

static void read_summary(const char *text, size_t len)
{
	static const char *const formats[] = { "table", "csv", "folded", "pprof", "perfetto" };
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct summary_file f, again;
	struct err err = { 0 };
	size_t i;

	if (summary_read(&f, text, len, &err)) {
		if (!err.msg[0] || f.kept || f.s.lock)
			abort();
		return;
	}
	for (i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		write_as(formats[i], &f.s, NULL);
	write_as("json", &f.s, &first);
	if (summary_read(&again, first.data, first.len, &err))
		abort();
	write_as("json", &again.s, &second);
	if (first.len != second.len || memcmp(first.data, second.data, first.len))
		abort();
	buf_release(&first);
	buf_release(&second);
	summary_file_release(&f);
	summary_file_release(&again);
}

static void read_timeline(const char *text, size_t len)
{
	struct err err = { 0 };
	struct timeline t;

	if (timeline_check(&t, text, len, &err)) {
		if (!err.msg[0])
			abort();
		return;
	}
	if (t.first > t.end || t.end > len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	if (timeline_is(text, size))
		read_timeline(text, size);
	read_summary(text, size);
	return 0;
}
