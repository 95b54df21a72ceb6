/* SPDX-License-Identifier: MIT */
/*
 * diag_convoy: 3 threads do 3,072 items each under a ticket lock, which goes to
 * who has waited longest: whoever unlocks queues behind the others. They take
 * it for each item, or for 32 items at a time.
 */
#include <stdatomic.h>

#include "diag.h"

#define THREADS 3
#define ITEMS 3072

static _Atomic uint32_t next_ticket, serving;
static pthread_barrier_t start;
static int batch;

/* A bit for each ticket, so that a wake reaches whose turn it is. */
static uint32_t bit_of(uint32_t ticket)
{
	return (uint32_t)1 << ticket % 32;
}

static void await_turn(uint32_t mine)
{
	uint32_t now;

	while ((now = atomic_load(&serving)) != mine)
		wl_futex(&serving, FUTEX_WAIT_BITSET_PRIVATE, now, NULL, NULL, bit_of(mine));
}

static void pass_turn(void)
{
	uint32_t next = atomic_fetch_add(&serving, 1) + 1;

	if (atomic_load(&next_ticket) != next)
		wl_futex(&serving, FUTEX_WAKE_BITSET_PRIVATE, 1, NULL, NULL, bit_of(next));
}

static void *worker(void *arg)
{
	uint32_t mine = atomic_fetch_add(&next_ticket, 1);

	(void)arg;
	/*
	 * All stand in the queue before the first begins, and again before they
	 * pass on: else one works alone while the others wait for a CPU.
	 */
	pthread_barrier_wait(&start);
	for (int i = 0; i < ITEMS; i += batch) {
		await_turn(mine);
		wl_spin_ns(1000 * (uint64_t)batch);
		if (i + batch < ITEMS)
			mine = atomic_fetch_add(&next_ticket, 1);
		pass_turn();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	batch = diag_trigger(argc, argv) ? 1 : 32;
	errno = pthread_barrier_init(&start, NULL, THREADS);
	if (errno)
		wl_die("pthread_barrier_init");
	for (int i = 0; i < THREADS; i++)
		t[i] = diag_thread(NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		diag_join(t[i]);
	return 0;
}
