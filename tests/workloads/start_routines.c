/* SPDX-License-Identifier: MIT */
/*
 * start_routines A B C US: creates A threads that begin in routine_a, B in
 * routine_b, which works for US microseconds, and C by thrd_create in routine_c;
 * each is joined before the next.
 */
#include "workload.h"

#include <pthread.h>
#include <threads.h>

static long begun[3], work_us;

void *routine_a(void *arg);
void *routine_b(void *arg);
int routine_c(void *arg);

void *routine_a(void *arg)
{
	++*(long *)arg;
	return NULL;
}

void *routine_b(void *arg)
{
	++*(long *)arg;
	wl_spin_ns((uint64_t)work_us * 1000);
	return NULL;
}

int routine_c(void *arg)
{
	++*(long *)arg;
	return 0;
}

static void threads(long n, void *(*routine)(void *), long *b)
{
	pthread_t t;

	while (n--) {
		errno = pthread_create(&t, NULL, routine, b);
		if (errno)
			wl_die("pthread_create");
		errno = pthread_join(t, NULL);
		if (errno)
			wl_die("pthread_join");
	}
}

int main(int argc, char **argv)
{
	const long a = wl_arg(argc, argv, 1, 1), b = wl_arg(argc, argv, 2, 1);
	long c = wl_arg(argc, argv, 3, 0);
	thrd_t t;

	work_us = wl_arg(argc, argv, 4, 0);
	threads(a, routine_a, &begun[0]);
	threads(b, routine_b, &begun[1]);
	while (c--)
		if (thrd_create(&t, routine_c, &begun[2]) != thrd_success ||
		    thrd_join(t, NULL) != thrd_success)
			wl_die("thrd_create");
	printf("a=%ld b=%ld c=%ld\n", begun[0], begun[1], begun[2]);
	return 0;
}
