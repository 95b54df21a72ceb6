/* SPDX-License-Identifier: MIT */
/*
 * futex_pi N: N times, one thread holds a priority-inheritance futex until
 * the other is queued on it in the kernel, and then hands it over.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>

static uint32_t pi_word __attribute__((aligned(64)));
static long rounds, held, got;
static pid_t waiter_tid;
static long waiter_locks, waiter_unlocks, waiter_nvcsw;

static void *waiter(void *arg)
{
	long before = wl_nvcsw();

	(void)arg;
	waiter_tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		long r;

		while (__atomic_load_n(&held, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
		r = wl_futex(&pi_word, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0);
		if (r)
			wl_die("lock_pi");
		waiter_locks++;
		if (wl_futex(&pi_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0))
			wl_die("unlock_pi");
		waiter_unlocks++;
		__atomic_store_n(&got, i + 1, __ATOMIC_RELEASE);
	}
	waiter_nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	long unlocks = 0;
	pthread_t t;
	uint32_t me = (uint32_t)wl_tid();

	rounds = wl_arg(argc, argv, 1, 1009);
	pthread_create(&t, NULL, waiter, NULL);
	for (long i = 0; i < rounds; i++) {
		uint32_t none = 0;

		/* The waiter's own unlock has cleared the word: the lock is free. */
		if (!__atomic_compare_exchange_n(&pi_word, &none, me, 0, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			wl_die("the word is not free");
		__atomic_store_n(&held, i + 1, __ATOMIC_RELEASE);
		while (!(__atomic_load_n(&pi_word, __ATOMIC_ACQUIRE) & FUTEX_WAITERS))
			sched_yield();
		if (wl_futex(&pi_word, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0))
			wl_die("unlock_pi");
		unlocks++;
		while (__atomic_load_n(&got, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
	}
	pthread_join(t, NULL);
	printf("rounds=%ld addr=%p holder=%u waiter=%d locks=%ld unlocks=%ld nvcsw=%ld\n", rounds,
	       (void *)&pi_word, me, waiter_tid, waiter_locks, unlocks + waiter_unlocks,
	       waiter_nvcsw);
	return 0;
}
