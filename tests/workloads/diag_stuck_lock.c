/* SPDX-License-Identifier: MIT */
/*
 * diag_stuck_lock: 2 threads take two mutexes, each in its own order, and wait
 * for each other from then on; or 2 idle on a condition variable and a semaphore
 * while a mutex is held for 200 ms at a time. After 2 s the process ends.
 */
#include "diag.h"

#include <semaphore.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;
static sem_t items;

static void *take(void *other_way)
{
	pthread_mutex_lock(other_way ? &second : &first);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(other_way ? &first : &second);
	return NULL;
}

static void *idle_at_condition(void *arg)
{
	pthread_mutex_lock(&first);
	for (;;)
		pthread_cond_wait(&work, &first);
	return arg;
}

static void *idle_at_semaphore(void *arg)
{
	while (sem_wait(&items) < 0)
		;
	return arg;
}

/* The lock changes hands until the process ends: never one wait through all of it. */
static void *hold(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&second);
		wl_sleep_us(200000);
		pthread_mutex_unlock(&second);
		wl_sleep_us(1000);
	}
	return arg;
}

int main(int argc, char **argv)
{
	bool trigger = diag_trigger(argc, argv);

	if (pthread_barrier_init(&both, NULL, 2) || sem_init(&items, 0, 0))
		wl_die("init");
	diag_thread(NULL, trigger ? take : idle_at_condition, NULL);
	diag_thread(NULL, trigger ? take : idle_at_semaphore, &both);
	for (int i = 0; i < 2 && !trigger; i++)
		diag_thread(NULL, hold, NULL);
	wl_sleep_us(2000000);
	_exit(0);
}
