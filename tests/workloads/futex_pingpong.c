/* SPDX-License-Identifier: MIT */
/* futex_pingpong N: two threads, N round trips over one raw futex word. */
#include "workload.h"

#include <pthread.h>

static uint32_t ball __attribute__((aligned(64)));
static long rounds;

static void *play(void *arg)
{
	struct wl_tally *t = arg;
	uint32_t mine = t->tid ? 1 : 0;
	long before = wl_nvcsw();

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) != mine)
			wl_tally_wait(t, wl_futex(&ball, FUTEX_WAIT_PRIVATE, !mine, NULL, NULL, 0));
		__atomic_store_n(&ball, !mine, __ATOMIC_RELEASE);
		wl_tally_wake(t, wl_futex(&ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
	}
	t->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	struct wl_tally a = { .tid = 0 }, b = { .tid = 1 };
	pthread_t t;

	rounds = wl_arg(argc, argv, 1, 20011);
	pthread_create(&t, NULL, play, &b);
	play(&a);
	pthread_join(t, NULL);
	printf("rounds=%ld addr=%p ", rounds, (void *)&ball);
	wl_tally_print(&a, &b);
	return 0;
}
