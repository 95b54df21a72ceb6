/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "unit.h"

#include "base/io.h"
#include "json_check.h"
#include "out/perfetto.h"

static struct trace_out *begin(int *fd)
{
	struct trace_out *t;
	struct err err = { 0 };

	*fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	t = trace_out_new(*fd, &err);
	assert_non_null(t);
	return t;
}

static void assert_json(int fd, struct buf *b)
{
	size_t where;

	*b = (struct buf)BUF_INIT;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(io_read_fd(fd, b, 1 << 26), 0);
	if (!json_check(b->data, b->len, &where))
		fail_msg("no JSON from byte %zu of %zu on: %.80s", where, b->len, b->data + where);
}

static void each_event_is_what_the_format_wants(void **state)
{
	const struct trace_arg args[] = {
		{ .key = "n", .kind = TRACE_U64, .u64 = UINT64_MAX },
		{ .key = "addr", .kind = TRACE_HEX, .u64 = 0x7f00dead },
		{ .key = "name", .kind = TRACE_STR, .str = "a\"b" },
	};
	struct err err = { 0 };
	struct buf b;
	int fd;
	struct trace_out *t = begin(&fd);

	(void)state;
	trace_process(t, 10, "app");
	trace_thread(t, 10, 11, "worker");
	trace_slice(t, 10, 11, "futex", "wait", 1234567, 1001, args, 3);
	trace_instant(t, 10, 11, "signal", "SIGHUP", 5, NULL, 0);
	trace_counter(t, 10, "threads", 1000, &args[0], 1);
	trace_flow(t, 255, "wake", "wake", (struct trace_point){ 10, 11, 1 },
		   (struct trace_point){ 10, 12, 2 });
	assert_int_equal(trace_error(t), 0);
	assert_int_equal(trace_close(t, &err), 0);
	assert_json(fd, &b);
	assert_string_equal(b.data, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
				    "{\"ph\":\"M\",\"pid\":10,\"tid\":10,\"name\":\"process_name\","
				    "\"args\":{\"name\":\"app\"}},\n"
				    "{\"ph\":\"M\",\"pid\":10,\"tid\":11,\"name\":\"thread_name\","
				    "\"args\":{\"name\":\"worker\"}},\n"
				    "{\"ph\":\"X\",\"pid\":10,\"tid\":11,\"ts\":1234.567,\"dur\":1."
				    "001,\"cat\":\"futex\",\"name\":\"wait\","
				    "\"args\":{\"n\":18446744073709551615,\"addr\":\"0x7f00dead\","
				    "\"name\":\"a\\\"b\"}},\n"
				    "{\"ph\":\"i\",\"pid\":10,\"tid\":11,\"ts\":0.005,\"s\":\"t\","
				    "\"cat\":\"signal\",\"name\":\"SIGHUP\"},\n"
				    "{\"ph\":\"C\",\"pid\":10,\"tid\":10,\"ts\":1.000,\"name\":"
				    "\"threads\",\"args\":{\"n\":18446744073709551615}},\n"
				    "{\"ph\":\"s\",\"pid\":10,\"tid\":11,\"ts\":0.001,\"id\":"
				    "\"0xff\",\"cat\":\"wake\",\"name\":\"wake\"},\n"
				    "{\"ph\":\"f\",\"pid\":10,\"tid\":12,\"ts\":0.002,\"id\":"
				    "\"0xff\",\"bp\":\"e\",\"cat\":\"wake\",\"name\":\"wake\"}\n"
				    "]}\n");
	buf_release(&b);
	close(fd);
}

static void an_empty_trace_is_json(void **state)
{
	struct err err = { 0 };
	struct buf b;
	int fd;

	(void)state;
	assert_int_equal(trace_close(begin(&fd), &err), 0);
	assert_json(fd, &b);
	buf_release(&b);
	close(fd);
	assert_int_equal(trace_close(NULL, &err), 0);
}

static void hostile_and_endless_names(void **state)
{
	static char longest[3 * TRACE_STRING_BYTES];
	struct trace_arg args[TRACE_ARGS_MAX];
	struct err err = { 0 };
	struct buf b;
	size_t i;
	int fd;
	struct trace_out *t = begin(&fd);

	(void)state;
	/* Each byte takes the six of \u0001: the largest event there can be. */
	memset(longest, 1, sizeof(longest) - 1);
	for (i = 0; i < TRACE_ARGS_MAX; i++)
		args[i] = (struct trace_arg){ .key = longest, .kind = TRACE_STR, .str = longest };
	trace_process(t, 1, "\x1b]0;owned\x07<script>\xff\xe2\x80\xae\"\\");
	trace_thread(t, 1, 1, NULL);
	for (i = 0; i < 20; i++)
		trace_slice(t, 1, 1, longest, longest, i, 1, args, TRACE_ARGS_MAX);
	assert_int_equal(trace_close(t, &err), 0);
	assert_json(fd, &b);
	for (i = 0; i < b.len; i++)
		assert_true((unsigned char)b.data[i] >= 0x20 || b.data[i] == '\n');
	buf_release(&b);
	close(fd);
}

/* A file that may grow to so many bytes only stands in for a full disk. */
static void a_full_disk_leaves_whole_events(void **state)
{
	char path[] = "/tmp/test_out_perfetto.XXXXXX";
	struct rlimit old, small;
	struct err err = { 0 };
	struct trace_out *t;
	struct buf b;
	int fd = mkstemp(path), i;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	t = trace_out_new(fd, &err);
	assert_non_null(t);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 1000001;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (i = 0; i < 50000; i++)
		trace_slice(t, 1, 1, "c", "slice", (uint64_t)i * 1000, 999, NULL, 0);
	assert_int_equal(trace_error(t), -EFBIG);
	i = trace_close(t, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(i, -EFBIG);
	assert_string_equal(err.msg, "cannot write to the trace: file too large");
	assert_json(fd, &b);
	assert_true(b.len > 500000);
	buf_release(&b);
	close(fd);
}

static void a_full_device_is_an_error(void **state)
{
	struct err err = { 0 };
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace_out *t = trace_out_new(fd, &err);

	(void)state;
	assert_non_null(t);
	trace_instant(t, 1, 1, "c", "n", 1, NULL, 0);
	assert_int_equal(trace_close(t, &err), -ENOSPC);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_what_the_format_wants),
		cmocka_unit_test(an_empty_trace_is_json),
		cmocka_unit_test(hostile_and_endless_names),
		cmocka_unit_test(a_full_disk_leaves_whole_events),
		cmocka_unit_test(a_full_device_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
