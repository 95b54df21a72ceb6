/* SPDX-License-Identifier: MIT */
/*
 * diag_lock_step: 20,000 items from one thread to another under a condition
 * variable; with one place for them, so that each waits for the other at every
 * item, or with 1,024 and a wake only when the queue is empty or half empty. The
 * threads of the first share a CPU: with one each, half of the wakes may come
 * before the sleep that they are for.
 */
#include "diag.h"

#include <sched.h>

#define ITEMS 20000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int places, queued;
static bool producer_waits, consumer_waits;

static void put(void)
{
	pthread_mutex_lock(&lock);
	while (queued == places) {
		producer_waits = true;
		pthread_cond_wait(&changed, &lock);
	}
	queued++;
	if (consumer_waits && queued > places / 2) {
		consumer_waits = false;
		pthread_cond_signal(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static void take(void)
{
	pthread_mutex_lock(&lock);
	while (!queued) {
		consumer_waits = true;
		pthread_cond_wait(&changed, &lock);
	}
	queued--;
	if (producer_waits && queued <= places / 2) {
		producer_waits = false;
		pthread_cond_signal(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static void *consumer(void *arg)
{
	(void)arg;
	for (int i = 0; i < ITEMS; i++)
		take();
	return NULL;
}

static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_die("sched_setaffinity");
}

int main(int argc, char **argv)
{
	pthread_t t;

	places = diag_trigger(argc, argv) ? 1 : 1024;
	if (places == 1)
		stay_on_one_cpu();
	t = diag_thread(NULL, consumer, NULL);
	for (int i = 0; i < ITEMS; i++)
		put();
	/* What is left may be less than half a queue: wake for it. */
	pthread_mutex_lock(&lock);
	places = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	diag_join(t);
	return 0;
}
