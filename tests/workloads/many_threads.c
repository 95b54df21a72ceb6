/* SPDX-License-Identifier: MIT */
/*
 * many_threads N COUNT: has N threads alive, prints "ready", and for each
 * line on stdin lets every thread make COUNT getppid calls and prints
 * "done round=R calls=TOTAL". Ends at the end of stdin. Each thread asks for
 * its wake by a futex word of its own, so that no lock is shared.
 */
#include "workload.h"

#include <pthread.h>

struct worker {
	uint32_t round;
	pthread_t thread;
	long calls;
} __attribute__((aligned(64)));

static long count;
static uint32_t finished;

static void *work(void *arg)
{
	struct worker *w = arg;
	uint32_t seen = 0;

	for (;;) {
		uint32_t now;

		while ((now = __atomic_load_n(&w->round, __ATOMIC_ACQUIRE)) == seen)
			wl_futex(&w->round, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		if (now == UINT32_MAX)
			return NULL;
		seen = now;
		for (long i = 0; i < count; i++)
			syscall(SYS_getppid);
		w->calls += count;
		__atomic_add_fetch(&finished, 1, __ATOMIC_ACQ_REL);
	}
}

static void tell(struct worker *w, long n, uint32_t round)
{
	for (long i = 0; i < n; i++) {
		__atomic_store_n(&w[i].round, round, __ATOMIC_RELEASE);
		wl_futex(&w[i].round, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 5000), total = 0;
	struct worker *w = aligned_alloc(64, sizeof(*w) * (size_t)(n + 1));
	char line[64];
	uint32_t round = 0;
	pthread_attr_t attr;

	if (!w)
		wl_die("aligned_alloc");
	memset(w, 0, sizeof(*w) * (size_t)(n + 1));
	count = wl_arg(argc, argv, 2, 11);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (long i = 0; i < n; i++) {
		errno = pthread_create(&w[i].thread, &attr, work, &w[i]);
		if (errno)
			wl_die("pthread_create");
	}
	printf("ready threads=%ld pid=%d\n", n, getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		finished = 0;
		tell(w, n, ++round);
		while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) != (uint32_t)n)
			wl_sleep_us(500);
		total += n * count;
		printf("done round=%u calls=%ld\n", round, total);
		fflush(stdout);
	}
	tell(w, n, UINT32_MAX);
	for (long i = 0; i < n; i++)
		pthread_join(w[i].thread, NULL);
	return 0;
}
