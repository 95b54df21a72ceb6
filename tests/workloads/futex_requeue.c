/* SPDX-License-Identifier: MIT */
/*
 * futex_requeue N: in each round a thread waits on one word, is moved to a
 * second without being woken, and is woken there. Some kernels (6.18.44 was seen to)
 * lose such a wake now and then: the thread sleeps on, and 78 is returned.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>

#define LOST_NS 3000000000ull

static uint32_t requeue_from, requeue_to __attribute__((aligned(64)));
static long rounds, finished;

static void *waiter(void *arg)
{
	struct wl_tally *t = arg;
	long before = wl_nvcsw();

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		wl_tally_wait(t, wl_futex(&requeue_from, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0));
		__atomic_store_n(&finished, i + 1, __ATOMIC_RELEASE);
	}
	t->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	struct wl_tally a = { .tid = wl_tid() }, b = { .tid = 0 };
	long requeues = 0, requeued = 0;
	uint64_t begun;
	pthread_t t;

	rounds = wl_arg(argc, argv, 1, 2003);
	pthread_create(&t, NULL, waiter, &b);
	for (long i = 0; i < rounds; i++) {
		long r;

		do {
			r = wl_futex(&requeue_from, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void *)1L,
				     &requeue_to, 0);
			requeues++;
			if (r < 0)
				wl_die("requeue");
			if (!r)
				sched_yield();
		} while (!r);
		requeued += r;
		wl_tally_wake(&a, wl_futex(&requeue_to, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0));
		begun = wl_now_ns();
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) <= i) {
			if (wl_now_ns() - begun > LOST_NS)
				return 78;
			sched_yield();
		}
	}
	pthread_join(t, NULL);
	printf("rounds=%ld requeues=%ld requeued=%ld from=%p to=%p ", rounds, requeues, requeued,
	       (void *)&requeue_from, (void *)&requeue_to);
	wl_tally_print(&a, &b);
	return 0;
}
