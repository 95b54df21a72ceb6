/* SPDX-License-Identifier: MIT */
/* Two threads that compute without a call, for long enough to take the CPU from each other. */
#include <pthread.h>
#include <stdio.h>

#define ROUNDS 400000000L
#define PART (ROUNDS / 20)

static volatile long sum;
static char apart[8192];	/* so that what is watched has a page of its own */
static volatile long parts[2];
static char apart_too[8192];

static void end_part(long who)
{
	parts[who]++;
}

static void *compute(void *arg)
{
	const long who = (long)arg;

	for (long i = 1; i <= ROUNDS; i++) {
		sum += who + 1;
		if (i % PART == 0)
			end_part(who);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, compute, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%ld %ld %ld\n", sum, parts[0] + apart[0], parts[1] + apart_too[0]);
	return 0;
}
