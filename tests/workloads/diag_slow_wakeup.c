/* SPDX-License-Identifier: MIT */
/*
 * diag_slow_wakeup: 80 threads that work 10 ms each; all at once on one CPU,
 * where most wait long before they begin, or one after the other on all CPUs.
 */
#include <sched.h>

#include "diag.h"

#define THREADS 80

static void *work(void *arg)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (!ts.tv_sec && ts.tv_nsec < 10000000);
	return arg;
}

static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (!diag_trigger(argc, argv)) {
		for (int i = 0; i < THREADS; i++)
			diag_join(diag_thread(NULL, work, NULL));
		return 0;
	}
	stay_here();
	for (int i = 0; i < THREADS; i++)
		t[i] = diag_thread(NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		diag_join(t[i]);
	return 0;
}
