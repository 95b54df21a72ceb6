/* SPDX-License-Identifier: MIT */
/*
 * thread_storm N [DEAR]: creates and joins N threads, one after the other. With DEAR 1 each
 * has a stack that the C library does not keep for the next, and that is filled when it
 * is mapped, memory being locked.
 */
#include "workload.h"

#include <pthread.h>
#include <sys/mman.h>

#define DEAR_BYTES ((size_t)41 << 20)	/* glibc keeps 40 MiB of them */

static void *body(void *arg)
{
	++*(long *)arg;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 20000), dear = wl_arg(argc, argv, 2, 0), ran = 0;
	pthread_attr_t attr;

	errno = pthread_attr_init(&attr);
	if (!errno && dear)
		errno = pthread_attr_setstacksize(&attr, DEAR_BYTES);
	if (errno || (dear && mlockall(MCL_FUTURE)))
		wl_die("large stacks");
	for (long i = 0; i < n; i++) {
		pthread_t t;

		errno = pthread_create(&t, &attr, body, &ran);
		if (errno)
			wl_die("pthread_create");
		errno = pthread_join(t, NULL);
		if (errno)
			wl_die("pthread_join");
	}
	printf("created=%ld ran=%ld\n", n, ran);
	return 0;
}
