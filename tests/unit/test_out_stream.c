/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#include "base/io.h"
#include "out/outstream.h"

static char dir[] = "/tmp/test_out_stream.XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static void path_of(char out[256], const char *name)
{
	snprintf(out, 256, "%s/%s", dir, name);
}

static void what_is_written_arrives(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	struct buf b = BUF_INIT, want = BUF_INIT;
	char path[256];
	struct stat st;
	int i;

	(void)state;
	path_of(path, "file");
	assert_int_equal(out_stream_open(&o, path, &err), 0);
	for (i = 0; i < 20000; i++) {
		out_printf(&o, "line %d\n", i);
		buf_addf(&want, "line %d\n", i);
	}
	out_write(&o, want.data, want.len);	/* larger than the stream's buffer */
	assert_true(want.len > OUT_STREAM_BYTES);
	out_pad(&o, '.', 3);
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(io_read_file(path, &b, 1 << 24), 0);
	assert_int_equal(b.len, 2 * want.len + 3);
	assert_memory_equal(b.data, want.data, want.len);
	assert_memory_equal(b.data + want.len, want.data, want.len);
	assert_string_equal(b.data + 2 * want.len, "...");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(path);
	buf_release(&b);
	buf_release(&want);
}

static void an_old_file_is_emptied_and_made_private(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	struct stat st;
	char path[256];
	int fd;

	(void)state;
	path_of(path, "old");
	fd = open(path, O_WRONLY | O_CREAT, 0644);
	fchmod(fd, 0644);
	assert_int_equal(io_write_all(fd, "much longer than before", 23), 0);
	close(fd);
	assert_int_equal(out_stream_open(&o, path, &err), 0);
	out_puts(&o, "new");
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_mode & 07777, 0600);
	unlink(path);
}

static void a_symbolic_link_is_refused(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	char path[256], victim[256];
	struct stat st;

	(void)state;
	path_of(path, "link");
	path_of(victim, "victim");
	assert_int_equal(symlink(victim, path), 0);
	assert_int_equal(out_stream_open(&o, path, &err), -ELOOP);
	assert_non_null(strstr(err.msg, path));
	assert_non_null(strstr(err.msg, "symbolic link"));
	assert_int_equal(stat(victim, &st), -1);
	unlink(path);
}

static void what_cannot_be_opened_is_named(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	char path[256];

	(void)state;
	path_of(path, "none/file");
	assert_int_equal(out_stream_open(&o, path, &err), -ENOENT);
	assert_non_null(strstr(err.msg, path));
	assert_non_null(strstr(err.msg, "no such file"));
	assert_int_equal(out_stream_open(&o, dir, &err), -EISDIR);
}

static void a_full_disk_is_an_error(void **state)
{
	static const size_t sizes[] = { 1, OUT_STREAM_BYTES, 3 * OUT_STREAM_BYTES };
	struct buf b = BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct out_stream o;
		struct err err = { 0 };

		buf_reset(&b);
		while (b.len < sizes[i])
			buf_addc(&b, 'x');
		assert_int_equal(out_stream_open(&o, "/dev/full", &err), 0);
		out_write(&o, b.data, b.len);
		out_puts(&o, "more");
		assert_int_equal(out_stream_close(&o, &err), -ENOSPC);
		assert_int_equal(err.code, ENOSPC);
		assert_string_equal(err.msg, "cannot write to /dev/full: no space left on device");
	}
	buf_release(&b);
}

/* With SIGPIPE at its default it would be the end of the test. */
static void a_closed_pipe_is_an_error_and_no_signal(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	sigset_t pending;
	int fd[2];

	(void)state;
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	assert_int_equal(out_stream_init(&o, fd[1], "standard output", 0, &err), 0);
	out_puts(&o, "lost");
	assert_int_equal(out_flush(&o), -EPIPE);
	out_puts(&o, "lost too");
	assert_int_equal(out_stream_close(&o, &err), -EPIPE);
	assert_string_equal(err.msg, "cannot write to standard output: broken pipe");
	sigpending(&pending);
	assert_int_equal(sigismember(&pending, SIGPIPE), 0);
	/* The descriptor was lent: it is open still. */
	assert_int_equal(fcntl(fd[1], F_GETFD), 0);
	close(fd[1]);
}

static void *drain(void *arg)
{
	char tmp[4096];
	size_t *sum = arg;
	ssize_t n;
	int fd = (int)*sum;

	*sum = 0;
	usleep(20000);
	while ((n = read(fd, tmp, sizeof(tmp))) > 0)
		*sum += (size_t)n;
	return NULL;
}

static void a_non_blocking_descriptor_is_waited_for(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	pthread_t t;
	size_t sum, i;
	int fd[2];

	(void)state;
	assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
	fcntl(fd[0], F_SETFL, 0);
	sum = (size_t)fd[0];
	assert_int_equal(out_stream_init(&o, fd[1], "a pipe", 0, &err), 0);
	assert_int_equal(pthread_create(&t, NULL, drain, &sum), 0);
	for (i = 0; i < 100000; i++)
		out_puts(&o, "0123456789");
	assert_int_equal(out_stream_close(&o, &err), 0);
	close(fd[1]);
	pthread_join(t, NULL);
	assert_int_equal(sum, 1000000);
	close(fd[0]);
}

static void a_failed_buffer_is_no_memory(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	struct buf b = { .max = 4 };

	(void)state;
	buf_adds(&b, "too long");
	assert_int_equal(out_stream_open(&o, "/dev/null", &err), 0);
	out_buf(&o, &b);
	assert_int_equal(out_stream_close(&o, &err), -ENOMEM);
	buf_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_arrives),
		cmocka_unit_test(an_old_file_is_emptied_and_made_private),
		cmocka_unit_test(a_symbolic_link_is_refused),
		cmocka_unit_test(what_cannot_be_opened_is_named),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(a_closed_pipe_is_an_error_and_no_signal),
		cmocka_unit_test(a_non_blocking_descriptor_is_waited_for),
		cmocka_unit_test(a_failed_buffer_is_no_memory),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
