/* SPDX-License-Identifier: MIT */
#include "rr/ordinary.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

int ordinary_thread(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	const struct sched_param none = { 0 };
	sigset_t every, old;
	pthread_attr_t attr;
	cpu_set_t all;
	int r;

	CPU_ZERO(&all);
	for (int i = 0; i < CPU_SETSIZE; i++)
		CPU_SET(i, &all);
	r = pthread_attr_init(&attr);
	if (r)
		return r;
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_OTHER);
	pthread_attr_setschedparam(&attr, &none);
	pthread_attr_setaffinity_np(&attr, sizeof(all), &all);
	/* A signal that is the recorder's to hear of would be lost in it. */
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &old);
	r = pthread_create(thread, &attr, fn, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return r;
}

struct ended {
	pid_t pid;
	int status;
};

static void *reap(void *arg)
{
	struct ended *e = arg;

	pid_t got;

	/* Of what is attached to, stops are told, too. */
	do
		got = waitpid(e->pid, &e->status, __WALL);
	while ((got < 0 && errno == EINTR) || (got > 0 && WIFSTOPPED(e->status)));
	return NULL;
}

int ordinary_reap(pid_t pid)
{
	struct ended e = { .pid = pid };
	pthread_t thread;

	if (ordinary_thread(&thread, reap, &e))
		reap(&e);
	else
		pthread_join(thread, NULL);
	return e.status;
}
