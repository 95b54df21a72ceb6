/* SPDX-License-Identifier: MIT */
/*
 * rr_nosys ROUNDS: two threads make calls that the kernel does not have, and between them change
 * what both see, each its own way.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NO_SUCH_CALL 9999

static volatile unsigned long seen;
static long rounds;

static void *work(void *arg)
{
	const unsigned long who = (unsigned long)arg;

	for (long i = 0; i < rounds; i++) {
		syscall(NO_SUCH_CALL);
		for (int k = 0; k < 20; k++)
			seen = seen * 3 + who;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[2];

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%lu\n", seen);
	return 0;
}
