/* SPDX-License-Identifier: MIT */
/*
 * diag_thundering_herd: 2,000 items for 8 workers that wait on one futex; each
 * item wakes all of them, or one.
 */
#include <limits.h>
#include <stdatomic.h>

#include "diag.h"

#define WORKERS 8
#define ITEMS 2000

static _Atomic uint32_t generation;
static atomic_int items, taken, asleep;

static bool take(void)
{
	int n = atomic_load(&items);

	while (n > 0)
		if (atomic_compare_exchange_weak(&items, &n, n - 1))
			return true;
	return false;
}

static void *worker(void *arg)
{
	(void)arg;
	while (atomic_load(&taken) < ITEMS) {
		uint32_t seen = atomic_load(&generation);

		if (take()) {
			atomic_fetch_add(&taken, 1);
			continue;
		}
		atomic_fetch_add(&asleep, 1);
		wl_futex(&generation, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_fetch_sub(&asleep, 1);
	}
	return NULL;
}

/*
 * Until item i is taken and all workers are back, and for the moment between
 * their word and their wait: then the next wake finds them all.
 */
static void settle(int i)
{
	while (atomic_load(&taken) < i || atomic_load(&asleep) < WORKERS)
		wl_sleep_us(20);
	wl_sleep_us(20);
}

int main(int argc, char **argv)
{
	uint32_t wake = diag_trigger(argc, argv) ? INT_MAX : 1;
	pthread_t t[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		t[i] = diag_thread(NULL, worker, NULL);
	for (int i = 0; i < ITEMS; i++) {
		settle(i);
		atomic_fetch_add(&items, 1);
		atomic_fetch_add(&generation, 1);
		wl_futex(&generation, FUTEX_WAKE_PRIVATE, wake, NULL, NULL, 0);
	}
	while (atomic_load(&taken) < ITEMS)
		wl_sleep_us(20);
	atomic_fetch_add(&generation, 1);
	wl_futex(&generation, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	for (int i = 0; i < WORKERS; i++)
		diag_join(t[i]);
	return 0;
}
