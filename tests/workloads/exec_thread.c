/* SPDX-License-Identifier: MIT */
/*
 * exec_thread COUNT: a thread that is not the first one executes this program
 * again while others sleep; the new image makes COUNT getppid calls. The
 * kernel gives the executing thread the leader's id: its old id vanishes.
 */
#include "workload.h"

#include <pthread.h>

static char **args;

static void *sleeper(void *arg)
{
	pause();
	return arg;
}

static void *executor(void *arg)
{
	char *av[] = { args[0], args[1], (char *)(uintptr_t)"again", NULL };

	wl_sleep_us(20000);
	execv("/proc/self/exe", av);
	wl_die("execv");
	return arg;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1009);
	pthread_t t;

	if (argc > 2) {
		for (long i = 0; i < n; i++)
			syscall(SYS_getppid);
		printf("pid=%d tid=%d calls=%ld\n", getpid(), wl_tid(), n);
		return 0;
	}
	args = (char *[]){ argv[0], argc > 1 ? argv[1] : (char *)(uintptr_t)"1009", NULL };
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, sleeper, NULL);
	pthread_create(&t, NULL, executor, NULL);
	pthread_join(t, NULL);
	return 1;
}
