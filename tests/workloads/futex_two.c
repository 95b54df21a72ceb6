/* SPDX-License-Identifier: MIT */
/*
 * futex_two N: the calls futex_wait, futex_wake and futex_requeue of Linux
 * 6.7. N rounds of wait and wake. Exits with 77 where the kernel lacks them.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>

#ifndef SYS_futex_wake
#define SYS_futex_wake 454
#endif
#ifndef SYS_futex_wait
#define SYS_futex_wait 455
#endif
#define FLAGS (2 /* 32 bits */ | FUTEX_PRIVATE_FLAG)
#define ANY_BIT 0xffffffffUL

static uint32_t futex2_word __attribute__((aligned(64)));
static long rounds, finished;

static long wake_one(void)
{
	long r = syscall(SYS_futex_wake, &futex2_word, ANY_BIT, 1, FLAGS);

	return r < 0 ? -errno : r;
}

static void *waiter(void *arg)
{
	struct wl_tally *t = arg;
	long before = wl_nvcsw();

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		long r = syscall(SYS_futex_wait, &futex2_word, 0UL, ANY_BIT, FLAGS, NULL, 0);

		wl_tally_wait(t, r < 0 ? -errno : r);
		__atomic_store_n(&finished, i + 1, __ATOMIC_RELEASE);
	}
	t->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	struct wl_tally a = { .tid = wl_tid() }, b = { .tid = 0 };
	pthread_t t;
	long r = wake_one();

	rounds = wl_arg(argc, argv, 1, 2003);
	if (r == -ENOSYS)
		return 77;
	wl_tally_wake(&a, r);
	pthread_create(&t, NULL, waiter, &b);
	for (long i = 0; i < rounds; i++) {
		do {
			r = wake_one();
			wl_tally_wake(&a, r);
			if (!r)
				sched_yield();
		} while (!r);
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
	}
	pthread_join(t, NULL);
	printf("rounds=%ld addr=%p ", rounds, (void *)&futex2_word);
	wl_tally_print(&a, &b);
	return 0;
}
