/* SPDX-License-Identifier: MIT */
/*
 * rr_spin HOW N: two threads, or with 'p' two processes, hand over to each other N times by a
 * flag that they wait for in a loop; with 'c' there is a call in that. Says how long a sum was
 * that one of them computed in between.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *turn;
static int times;
static char how;

static void await(int whose)
{
	while (*turn != whose) {
		if (how == 'c')
			syscall(SYS_getppid);
		else
			__builtin_ia32_pause();
	}
}

static void *other(void *arg)
{
	(void)arg;
	for (int i = 0; i < times; i++) {
		await(1);
		*turn = 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	volatile unsigned int sum = 0;
	pthread_t t;
	pid_t pid = 0;

	if (argc != 3)
		return 2;
	how = argv[1][0];
	times = atoi(argv[2]);
	turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (how == 'p')
		pid = fork();
	if (how == 'p' && !pid) {
		other(NULL);
		_exit(0);
	}
	if (pid < 0 || (!pid && pthread_create(&t, NULL, other, NULL)))
		return 2;
	for (int i = 0; i < times; i++) {
		await(0);
		for (unsigned int k = 0; k < 1000; k++)
			sum = sum * 31 + k;
		*turn = 1;
	}
	if (pid)
		waitpid(pid, NULL, 0);
	else
		pthread_join(t, NULL);
	printf("%u\n", sum);
	return 0;
}
