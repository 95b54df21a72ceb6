/* SPDX-License-Identifier: MIT */
/*
 * condvar_handoff N: two threads hand a turn to each other N times through
 * one mutex and one condition variable. nvcsw is how often each really slept:
 * inside the loop there is nothing else to sleep in.
 */
#include "workload.h"

#include <pthread.h>

static pthread_mutex_t handoff_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handoff_cond = PTHREAD_COND_INITIALIZER;
static long turn, total;

struct side {
	long me, done, nvcsw;
	pid_t tid;
};

static void *play(void *arg)
{
	struct side *s = arg;
	long before = wl_nvcsw();

	s->tid = wl_tid();
	pthread_mutex_lock(&handoff_lock);
	for (;;) {
		while (turn < total && turn % 2 != s->me)
			pthread_cond_wait(&handoff_cond, &handoff_lock);
		if (turn >= total)
			break;
		turn++;
		s->done++;
		pthread_cond_signal(&handoff_cond);
	}
	pthread_cond_signal(&handoff_cond);
	pthread_mutex_unlock(&handoff_lock);
	s->nvcsw = wl_nvcsw() - before;
	return NULL;
}

int main(int argc, char **argv)
{
	struct side a = { .me = 0 }, b = { .me = 1 };
	pthread_t t[2];

	total = wl_arg(argc, argv, 1, 40000);
	pthread_create(&t[0], NULL, play, &a);
	pthread_create(&t[1], NULL, play, &b);
	pthread_join(t[0], NULL);
	pthread_join(t[1], NULL);
	printf("handoffs=%ld a_tid=%d a_nvcsw=%ld b_tid=%d b_nvcsw=%ld nvcsw=%ld lock=%p cond=%p\n",
	       a.done + b.done, a.tid, a.nvcsw, b.tid, b.nvcsw, a.nvcsw + b.nvcsw,
	       (void *)&handoff_lock, (void *)&handoff_cond);
	return 0;
}
