/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

static void *drain(void *arg)
{
	int fd = *(int *)arg;
	char part[777];
	size_t *total = calloc(1, sizeof(*total));
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0) {
		*total += (size_t)n;
		usleep(20);
	}
	return total;
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms++;
}

/* A timer without SA_RESTART cuts writes short, or ends them with EINTR. */
static void writes_on_after_interrupts(void **state)
{
	static char data[1 << 19];
	struct sigaction sa = { .sa_handler = on_alarm }, old;
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	sigset_t set;
	void *total;
	int fd[2];
	pthread_t t;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	assert_int_equal(pipe(fd), 0);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	assert_int_equal(pthread_create(&t, NULL, drain, &fd[0]), 0);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	sigaction(SIGALRM, &sa, &old);
	setitimer(ITIMER_REAL, &every, NULL);
	assert_int_equal(io_write_all(fd[1], data, sizeof(data)), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	close(fd[1]);
	pthread_join(t, &total);
	assert_true(alarms > 3);
	assert_int_equal(*(size_t *)total, sizeof(data));
	free(total);
	close(fd[0]);
}

static void write_errors_are_told(void **state)
{
	int fd[2], full = open("/dev/full", O_WRONLY);

	(void)state;
	assert_int_equal(io_write_all(full, "x", 1), -ENOSPC);
	close(full);
	assert_int_equal(io_write_all(-1, "x", 1), -EBADF);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(fd), 0);
	close(fd[0]);
	assert_int_equal(io_write_all(fd[1], "x", 1), -EPIPE);
	close(fd[1]);
}

static void reads_up_to_the_maximum(void **state)
{
	char path[] = "/tmp/tracer-unit-XXXXXX", data[40000];
	int fd = mkstemp(path);
	struct buf b = BUF_INIT;

	(void)state;
	memset(data, 'd', sizeof(data));
	assert_int_equal(io_write_all(fd, data, sizeof(data)), 0);
	close(fd);
	assert_int_equal(io_read_file(path, &b, sizeof(data)), 0);
	assert_int_equal(b.len, sizeof(data));
	assert_int_equal(strlen(b.data), sizeof(data));
	buf_reset(&b);
	assert_int_equal(io_read_file(path, &b, sizeof(data) - 1), -EFBIG);
	assert_int_equal(b.len, sizeof(data) - 1);
	buf_release(&b);
	b.max = 100;
	assert_int_equal(io_read_file(path, &b, sizeof(data)), -ENOMEM);
	buf_release(&b);
	unlink(path);
	assert_int_equal(io_read_file(path, &b, 10), -ENOENT);
	b.max = 0;
	/* A file of /proc says it is empty. */
	assert_int_equal(io_read_file("/proc/self/status", &b, 1 << 20), 0);
	assert_non_null(strstr(b.data, "Pid:"));
	buf_release(&b);
}

static void clocks_go_on(void **state)
{
	uint64_t mono = clock_mono_ns(), real = clock_real_ns(), cpu = clock_process_cpu_ns();
	uint64_t i = 0;

	(void)state;
	while (clock_mono_ns() < mono + 20000000)
		i++;
	assert_true(i > 10);
	assert_true(clock_real_ns() > real);
	assert_true(clock_process_cpu_ns() > cpu);
	/* 2020 to 2200: seconds, not something else. */
	assert_in_range(real / 1000000000, 1577836800, 7258118400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_on_after_interrupts),
		cmocka_unit_test(write_errors_are_told),
		cmocka_unit_test(reads_up_to_the_maximum),
		cmocka_unit_test(clocks_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
