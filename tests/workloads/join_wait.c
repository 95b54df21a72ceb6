/* SPDX-License-Identifier: MIT */
/* join_wait N US: joins N threads, each of which sleeps US first, so that each join waits. */
#include "workload.h"

#include <pthread.h>

static long us;

static void *body(void *arg)
{
	(void)arg;
	wl_sleep_us(us);
	return NULL;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 211), before;
	uint64_t join_ns = 0;

	us = wl_arg(argc, argv, 2, 2000);
	before = wl_nvcsw();
	for (long i = 0; i < n; i++) {
		pthread_t t;
		uint64_t t0;

		errno = pthread_create(&t, NULL, body, NULL);
		if (errno)
			wl_die("pthread_create");
		t0 = wl_now_ns();
		pthread_join(t, NULL);
		join_ns += wl_now_ns() - t0;
	}
	printf("joined=%ld tid=%d nvcsw=%ld join_ns=%llu\n", n, wl_tid(), wl_nvcsw() - before,
	       (unsigned long long)join_ns);
	return 0;
}
