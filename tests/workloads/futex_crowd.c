/* SPDX-License-Identifier: MIT */
/*
 * futex_crowd THREADS ROUNDS: all threads but one wait on one word that never
 * changes; the one, another in each round, wakes them all. A round ends when
 * all were woken, so each wait returns 0 and has exactly one waker: ROUNDS times
 * THREADS - 1 waits, and an edge from each waker to each of the others.
 */
#include "workload.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static uint32_t word;
static atomic_long over;	/* rounds that ended */
static long threads, rounds;

static void wake_all_others(void)
{
	long woken = 0, n;

	while (woken < threads - 1) {
		n = wl_futex(&word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
		if (n < 0)
			wl_die("futex wake");
		woken += n;
		if (!n)
			sched_yield();
	}
}

static void *member(void *arg)
{
	long me = (long)arg;

	for (long r = 0; r < rounds; r++) {
		if (r % threads == me) {
			wake_all_others();
			atomic_store(&over, r + 1);
			continue;
		}
		if (wl_futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))
			wl_die("futex wait");
		/* Not to wait again before the round is over: its waker would count it twice. */
		while (atomic_load(&over) <= r)
			sched_yield();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *t;

	threads = wl_arg(argc, argv, 1, 67);
	rounds = wl_arg(argc, argv, 2, 67);
	t = calloc((size_t)threads + 1, sizeof(*t));
	if (!t)
		wl_die("calloc");
	for (long i = 0; i < threads; i++) {
		errno = pthread_create(&t[i], NULL, member, (void *)i);
		if (errno)
			wl_die("pthread_create");
	}
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("waits=%ld addr=%p\n", rounds * (threads - 1), (void *)&word);
	return 0;
}
