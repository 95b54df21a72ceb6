/* SPDX-License-Identifier: MIT */
/*
 * futex_waitv N: a thread waits for either of two words; the second one is
 * woken, N times. Exits with 77 where the kernel lacks the call.
 */
#include "workload.h"

#include <pthread.h>
#include <sched.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef FUTEX_32
#define FUTEX_32 2
#endif

/* The kernel's struct futex_waitv, kept here for C libraries whose headers are older. */
struct waitv_entry {
	uint64_t val, uaddr;
	uint32_t flags, reserved;
};

static uint32_t waitv_first, waitv_second __attribute__((aligned(64)));
static long rounds, finished;

static void *waiter(void *arg)
{
	struct wl_tally *t = arg;
	long before = wl_nvcsw();
	struct waitv_entry v[2] = {
		{ 0, (uintptr_t)&waitv_first, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0 },
		{ 0, (uintptr_t)&waitv_second, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0 },
	};

	t->tid = wl_tid();
	for (long i = 0; i < rounds; i++) {
		long r = syscall(SYS_futex_waitv, v, 2, 0, NULL, 0);

		if (r < 0)
			wl_die("futex_waitv");
		if (r != 1)
			abort();
		t->waits++;
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
	if (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0) < 0 && errno == ENOSYS)
		return 77;
	pthread_create(&t, NULL, waiter, &b);
	for (long i = 0; i < rounds; i++) {
		long r;

		do {
			r = wl_futex(&waitv_second, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
			wl_tally_wake(&a, r);
			if (!r)
				sched_yield();
		} while (!r);
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) <= i)
			sched_yield();
	}
	pthread_join(t, NULL);
	printf("rounds=%ld first=%p second=%p ", rounds, (void *)&waitv_first,
	       (void *)&waitv_second);
	wl_tally_print(&a, &b);
	return 0;
}
