/* SPDX-License-Identifier: MIT */
/*
 * What no replay would read again: the time stamp counter, and random numbers of the processor
 * where it has them.
 *	rr_insn threads		three threads go by the counter's bits
 *	rr_insn lib PATH	the same, by run() of that library, which is this file too
 */
#include <cpuid.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

#define THREADS 3
#define ROUNDS 50

/* By itself: of the processor's number, which changes, nothing is to stay in a register. */
__attribute__((noinline)) static int has_random(void)
{
	unsigned int a, b, features = 0, d;

	return __get_cpuid(1, &a, &b, &features, &d) && features & bit_RDRND;
}

__attribute__((target("rdrnd"))) static unsigned long long random_sum(void)
{
	unsigned long long wide = 0;
	unsigned int word = 0;
	unsigned short half = 0;
	int got;

	if (!has_random())
		return 0;
	got = _rdrand64_step(&wide) + _rdrand32_step(&word) + _rdrand16_step(&half);
	return wide + word + half + (unsigned long long)got;
}

static void *count(void *arg)
{
	unsigned long *sum = arg;
	unsigned int cpu;

	for (int i = 0; i < ROUNDS; i++) {
		if (__rdtsc() & 16)
			*sum += (unsigned long)i;
		*sum += __rdtscp(&cpu) & 255;
	}
	return NULL;
}

/* Their bytes are in the midst of instructions of quite another kind. */
static unsigned int decoy(void)
{
	unsigned int sum;

	__asm__ volatile("mov $0xf9010f31, %0\n\tadd $0xf2c70f31, %0\n\tadd $0x310f310f, %0"
			 : "=r"(sum));
	return sum;
}

void run(void);
void run(void)
{
	unsigned long sum[THREADS] = { 0 };
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, count, &sum[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%lu %lu %lu %llx %llx %x\n", sum[0], sum[1], sum[2], random_sum(), __rdtsc(),
	       decoy());
}

int main(int argc, char **argv)
{
	void (*other)(void);
	void *lib;

	if (argc == 2 && !strcmp(argv[1], "threads")) {
		run();
		return 0;
	}
	if (argc != 3 || strcmp(argv[1], "lib"))
		return 2;
	lib = dlopen(argv[2], RTLD_NOW);
	if (!lib)
		return 2;
	*(void **)&other = dlsym(lib, "run");
	other();
	return 0;
}
