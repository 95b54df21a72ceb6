/* SPDX-License-Identifier: MIT */
/* diag_cpu_starved: on one CPU, 6 threads that want 100 ms of it each, or one. */
#include <sched.h>

#include "diag.h"

#define THREADS 6

static void *work(void *arg)
{
	struct timespec ts;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	while (!ts.tv_sec && ts.tv_nsec < 100000000);
	return arg;
}

int main(int argc, char **argv)
{
	int n = diag_trigger(argc, argv) ? THREADS : 1;
	pthread_t t[THREADS];
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_die("sched_setaffinity");
	for (int i = 0; i < n; i++)
		t[i] = diag_thread(NULL, work, NULL);
	for (int i = 0; i < n; i++)
		diag_join(t[i]);
	return 0;
}
