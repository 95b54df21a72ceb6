/* SPDX-License-Identifier: MIT */
/*
 * What happens between system calls, and is another thing each time: threads that count
 * without a lock, wait for a flag or spin, and signals that meet a loop somewhere.
 *   rr_points race|registers|flag|spinlock|alarm|prof MILLIONS
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define THREADS 3

static volatile long counter, sums[THREADS];
static volatile int flag;
static volatile sig_atomic_t signals;
static volatile long seen[64];
static pthread_spinlock_t lock;
static long rounds;

/* With what it counts in memory, or in registers however all the rest is compiled. */
#ifdef __clang__
#define SLOW __attribute__((noinline, optnone))
#define FAST
#else
#define SLOW __attribute__((optimize("O0")))
#define FAST __attribute__((optimize("O2")))
#endif

SLOW static void *race(void *arg)
{
	const long id = (long)(intptr_t)arg;

	for (long i = 0; i < rounds; i++) {
		counter++;
		sums[id] += counter & 7;
	}
	return NULL;
}

FAST static void *registers(void *arg)
{
	unsigned long x = (unsigned long)(intptr_t)arg + 1, taken = 0;

	for (long i = 0; i < rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (!(x & 0xfffff))
			taken += (unsigned long)counter++;
	}
	sums[(long)(intptr_t)arg] = (long)(x ^ taken);
	return NULL;
}

static void *set_flag(void *arg)
{
	race(arg);
	flag = 1;
	return NULL;
}

static void *wait_for_flag(void *arg)
{
	(void)arg;
	while (!flag)
		;
	return NULL;
}

static void *spin(void *arg)
{
	const long id = (long)(intptr_t)arg;

	for (long i = 0; i < rounds; i++) {
		pthread_spin_lock(&lock);
		counter += id + 1;
		sums[id] ^= counter;
		pthread_spin_unlock(&lock);
	}
	return NULL;
}

static void run(void *(*first)(void *), void *(*others)(void *))
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, i ? others : first, (void *)(intptr_t)i))
			exit(1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void on_signal(int sig)
{
	(void)sig;
	seen[signals % 64] = counter;
	signals++;
}

/* Counts until @n signals have come. */
static void count(int sig, int which, long usec, int n)
{
	const struct itimerval every = { .it_interval = { 0, usec }, .it_value = { 0, usec } };
	double x = 1;

	signal(sig, on_signal);
	setitimer(which, &every, NULL);
	while (signals < n) {
		counter++;
		x = x * 1.0000001 + 1e-9;
	}
	setitimer(which, &(struct itimerval){ 0 }, NULL);
	printf("%.17g\n", x);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	rounds = strtol(argv[2], NULL, 10) * 1000000;
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	if (!strcmp(argv[1], "race"))
		run(race, race);
	else if (!strcmp(argv[1], "registers"))
		run(registers, registers);
	else if (!strcmp(argv[1], "flag"))
		run(wait_for_flag, set_flag);
	else if (!strcmp(argv[1], "spinlock"))
		run(spin, spin);
	else if (!strcmp(argv[1], "alarm"))
		count(SIGALRM, ITIMER_REAL, 20000, 15);
	else if (!strcmp(argv[1], "prof"))
		count(SIGPROF, ITIMER_PROF, 20000, 15);
	else
		return 2;
	for (int i = 0; i < THREADS; i++)
		printf("%ld ", sums[i]);
	for (int i = 0; i < signals; i++)
		printf("%ld ", seen[i]);
	printf("%ld\n", counter);
	return 0;
}
