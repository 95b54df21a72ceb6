/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rr/watchdog.h"
#include "unit.h"

#define HEARD 7
#define NO_REAL_TIME 77

static void heard(void)
{
	_exit(sched_getscheduler(0) == SCHED_OTHER ? HEARD : 1);
}

static int run(void (*work)(void))
{
	const struct sched_param fifo = { .sched_priority = 1 };
	struct err err = { 0 };
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		if (sched_setscheduler(0, SCHED_FIFO, &fifo))
			_exit(NO_REAL_TIME);
		if (watchdog_start(1, heard, &err))
			_exit(2);
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void spin(void)
{
	for (;;)
		__asm__ volatile("" ::: "memory");
}

/* More than a second in all, and never at once. */
static void rest(void)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int i = 0; i < 6; i++) {
		const clock_t end = clock() + CLOCKS_PER_SEC / 4;

		while (clock() < end)
			;
		nanosleep(&pause, NULL);
	}
}

static void test_one_that_spins(void **state)
{
	int r;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip();	/* it keeps a signal until the next call */
#endif
	r = run(spin);
	if (r == NO_REAL_TIME)
		skip();
	assert_int_equal(r, HEARD);
}

static void test_one_that_sleeps(void **state)
{
	const int r = run(rest);

	(void)state;
	if (r == NO_REAL_TIME)
		skip();
	assert_int_equal(r, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_spins),
		cmocka_unit_test(test_one_that_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
