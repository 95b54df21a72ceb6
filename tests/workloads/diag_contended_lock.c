/* SPDX-License-Identifier: MIT */
/*
 * diag_contended_lock: 3 threads take one mutex 300 times each. They hold it
 * for 500 µs and work 100 µs without; or hold it for 5 µs and work 500 µs,
 * while a pool of 4 idles on a condition variable: much waiting, no contention.
 * With "asleep" they hold it through a sleep of 300 µs and hardly run at all.
 */
#include "diag.h"

#define THREADS 3
#define TURNS 300
#define IDLE 4

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_work = PTHREAD_COND_INITIALIZER;
static int items;
static uint64_t held_ns, free_ns;
static bool asleep;

static void *fighter(void *arg)
{
	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&contended);
		if (asleep)
			wl_sleep_us(300);
		else
			wl_spin_ns(held_ns);
		pthread_mutex_unlock(&contended);
		wl_spin_ns(free_ns);
	}
	return NULL;
}

static void *idler(void *arg)
{
	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&pool_lock);
		while (!items)
			pthread_cond_wait(&pool_work, &pool_lock);
		items--;
		pthread_mutex_unlock(&pool_lock);
	}
	return NULL;
}

static void feed_pool(void)
{
	for (int i = 0; i < IDLE * TURNS; i++) {
		pthread_mutex_lock(&pool_lock);
		items++;
		pthread_cond_signal(&pool_work);
		pthread_mutex_unlock(&pool_lock);
		wl_sleep_us(300);
	}
}

int main(int argc, char **argv)
{
	asleep = argc == 2 && !strcmp(argv[1], "asleep");
	bool trigger = asleep || diag_trigger(argc, argv);
	pthread_t fighters[THREADS], idlers[IDLE];

	held_ns = trigger ? 500000 : 5000;
	free_ns = asleep ? 1000 : trigger ? 100000 : 500000;
	for (int i = 0; i < THREADS; i++)
		fighters[i] = diag_thread(NULL, fighter, NULL);
	for (int i = 0; i < IDLE && !trigger; i++)
		idlers[i] = diag_thread(NULL, idler, NULL);
	if (!trigger)
		feed_pool();
	for (int i = 0; i < THREADS; i++)
		diag_join(fighters[i]);
	for (int i = 0; i < IDLE && !trigger; i++)
		diag_join(idlers[i]);
	return 0;
}
