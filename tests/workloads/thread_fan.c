/* SPDX-License-Identifier: MIT */
/* thread_fan N: has N threads alive at once, then lets them end and joins them. */
#include "workload.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t arrived, leave;

static void *body(void *arg)
{
	(void)arg;
	sem_post(&arrived);
	while (sem_wait(&leave))
		;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 503);
	pthread_t *t = calloc((size_t)n + 1, sizeof(*t));
	pthread_attr_t attr;

	if (!t)
		wl_die("calloc");
	sem_init(&arrived, 0, 0);
	sem_init(&leave, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&t[i], &attr, body, NULL);
		if (errno)
			wl_die("pthread_create");
	}
	for (long i = 0; i < n; i++)
		while (sem_wait(&arrived))
			;
	for (long i = 0; i < n; i++)
		sem_post(&leave);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	printf("created=%ld peak=%ld\n", n, n + 1);
	return 0;
}
