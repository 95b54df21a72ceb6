/* SPDX-License-Identifier: MIT */
#include "rr/watchdog.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000u		/* the limit is in microseconds */

static void (*bark)(void);
static struct rlimit limit;	/* the hard one stays as it is */
static bool paused;

/* The kernel sends it to the process, whose main thread is the one in real time. */
static void overran(int sig)
{
	const struct sched_param none = { 0 };

	(void)sig;
	sched_setscheduler(0, SCHED_OTHER, &none);
	bark();
	_exit(1);
}

int watchdog_start(unsigned int seconds, void (*fn)(void), struct err *err)
{
	struct sigaction sa = { .sa_handler = overran };

	sigfillset(&sa.sa_mask);
	bark = fn;
	if (getrlimit(RLIMIT_RTTIME, &limit))
		return err_sys(err, errno, "cannot read a limit");
	limit.rlim_cur = (rlim_t)seconds * SECOND;
	if (sigaction(SIGXCPU, &sa, NULL) || setrlimit(RLIMIT_RTTIME, &limit))
		return err_sys(err, errno, "cannot limit the time that the recorder takes at once");
	return 0;
}

void watchdog_pause(void)
{
	const struct rlimit none = { limit.rlim_max, limit.rlim_max };

	if (bark && !setrlimit(RLIMIT_RTTIME, &none))
		paused = true;
}

void watchdog_go_on(void)
{
	const struct timespec moment = { .tv_nsec = 1000 };

	if (!paused)
		return;
	nanosleep(&moment, NULL);
	paused = false;
	(void)setrlimit(RLIMIT_RTTIME, &limit);
}
