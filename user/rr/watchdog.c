/* SPDX-License-Identifier: MIT */
#include "rr/watchdog.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND 1000000u		/* the limit is in microseconds */

static void (*bark)(void);

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
	const struct rlimit limit = { (rlim_t)seconds * SECOND, (rlim_t)2 * seconds * SECOND };
	struct sigaction sa = { .sa_handler = overran };

	sigfillset(&sa.sa_mask);
	bark = fn;
	if (sigaction(SIGXCPU, &sa, NULL) || setrlimit(RLIMIT_RTTIME, &limit))
		return err_sys(err, errno, "cannot limit the time that the recorder takes at once");
	return 0;
}
