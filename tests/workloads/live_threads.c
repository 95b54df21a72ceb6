/* SPDX-License-Identifier: MIT */
/* live_threads N: creates N threads that wait until all are there, and joins them. */
#include "workload.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define STACK_BYTES 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static bool go;
static long ran;

static void *work(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	while (!go)
		pthread_cond_wait(&all, &lock);
	ran++;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	const long n = wl_arg(argc, argv, 1, 2000);
	pthread_t *t = calloc((size_t)n, sizeof(*t));
	pthread_attr_t attr;

	errno = pthread_attr_init(&attr);
	if (!t || errno || pthread_attr_setstacksize(&attr, STACK_BYTES))
		wl_die("small stacks");
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&t[i], &attr, work, NULL);
		if (errno)
			wl_die("pthread_create");
	}
	pthread_mutex_lock(&lock);
	go = true;
	pthread_cond_broadcast(&all);
	pthread_mutex_unlock(&lock);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("ran=%ld\n", ran);
	free(t);
	return 0;
}
