/* SPDX-License-Identifier: MIT */
/*
 * futex_bitset N: a thread waits with bit 4 N times; each time it is first
 * called with bit 1, which must wake nobody, and then with bit 4.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>

static uint32_t bitset_word __attribute__((aligned(64)));
static long rounds, finished;

static void *waiter(void *arg)
{
	struct wl_tally *t = arg;
	long before = wl_nvcsw();

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		wl_tally_wait(t, wl_futex(&bitset_word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL,
					  4));
		__atomic_store_n(&finished, i + 1, __ATOMIC_RELEASE);
	}
	t->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	struct wl_tally a = { .tid = wl_tid() }, b = { .tid = 0 };
	pthread_t t;

	rounds = wl_arg(argc, argv, 1, 2003);
	pthread_create(&t, NULL, waiter, &b);
	for (long i = 0; i < rounds; i++) {
		long r = wl_futex(&bitset_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 1);

		if (r)
			abort();
		wl_tally_wake(&a, r);
		do {
			r = wl_futex(&bitset_word, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, 4);
			wl_tally_wake(&a, r);
			if (!r)
				sched_yield();
		} while (!r);
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
	}
	pthread_join(t, NULL);
	printf("rounds=%ld addr=%p ", rounds, (void *)&bitset_word);
	wl_tally_print(&a, &b);
	return 0;
}
