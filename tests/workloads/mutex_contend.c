/* SPDX-License-Identifier: MIT */
/*
 * mutex_contend THREADS ITERS HOLD_NS: threads take one static lock ITERS
 * times each and hold it for HOLD_NS of work. lock_ns is all time spent in
 * pthread_mutex_lock: no trace may report more waiting than that.
 */
#include "workload.h"

#include <pthread.h>

static pthread_mutex_t contended_lock = PTHREAD_MUTEX_INITIALIZER;
static long iters, hold_ns, inside;

struct worker {
	pthread_t thread;
	uint64_t lock_ns;
	long nvcsw;
};

static void __attribute__((noinline)) take_and_hold(struct worker *w)
{
	uint64_t t0 = wl_now_ns();

	pthread_mutex_lock(&contended_lock);
	w->lock_ns += wl_now_ns() - t0;
	inside++;
	wl_spin_ns((uint64_t)hold_ns);
	pthread_mutex_unlock(&contended_lock);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	long before = wl_nvcsw();

	for (long i = 0; i < iters; i++)
		take_and_hold(w);
	w->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 4), nvcsw = 0;
	struct worker *w = calloc((size_t)n + 1, sizeof(*w));
	uint64_t lock_ns = 0;

	if (!w)
		wl_die("calloc");
	iters = wl_arg(argc, argv, 2, 1009);
	hold_ns = wl_arg(argc, argv, 3, 20000);
	for (long i = 0; i < n; i++)
		pthread_create(&w[i].thread, NULL, work, &w[i]);
	for (long i = 0; i < n; i++) {
		pthread_join(w[i].thread, NULL);
		lock_ns += w[i].lock_ns;
		nvcsw += w[i].nvcsw;
	}
	printf("taken=%ld lock_ns=%llu nvcsw=%ld addr=%p\n", inside, (unsigned long long)lock_ns,
	       nvcsw, (void *)&contended_lock);
	return 0;
}
