/* SPDX-License-Identifier: MIT */
/*
 * diag_convoy: 3 threads do 8,192 items each under a priority-inheriting mutex,
 * which the kernel hands to the next waiter: all queue. They take it for each
 * item, or for 32 items at a time.
 */
#include "diag.h"

#define THREADS 3
#define ITEMS 8192

static pthread_mutex_t convoy;
static pthread_barrier_t start;
static int batch;

static void *worker(void *arg)
{
	(void)arg;
	pthread_barrier_wait(&start);
	for (int i = 0; i < ITEMS; i += batch) {
		pthread_mutex_lock(&convoy);
		wl_spin_ns(1000 * (uint64_t)batch);
		pthread_mutex_unlock(&convoy);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_mutexattr_t attr;
	pthread_t t[THREADS];

	batch = diag_trigger(argc, argv) ? 1 : 32;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	errno = pthread_mutex_init(&convoy, &attr);
	if (errno)
		wl_die("pthread_mutex_init");
	/* Else the first is done before the last is there. */
	errno = pthread_barrier_init(&start, NULL, THREADS);
	if (errno)
		wl_die("pthread_barrier_init");
	for (int i = 0; i < THREADS; i++)
		t[i] = diag_thread(NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		diag_join(t[i]);
	return 0;
}
