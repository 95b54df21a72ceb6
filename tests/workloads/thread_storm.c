/* SPDX-License-Identifier: MIT */
/* thread_storm N: creates and joins N threads, one after the other. */
#include "workload.h"

#include <pthread.h>

static void *body(void *arg)
{
	++*(long *)arg;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 20000), ran = 0;

	for (long i = 0; i < n; i++) {
		pthread_t t;

		errno = pthread_create(&t, NULL, body, &ran);
		if (errno)
			wl_die("pthread_create");
		errno = pthread_join(t, NULL);
		if (errno)
			wl_die("pthread_join");
	}
	printf("created=%ld ran=%ld\n", n, ran);
	return 0;
}
