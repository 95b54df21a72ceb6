/* SPDX-License-Identifier: MIT */
/*
 * rr_turns KIND: threads that take turns, some hundred times, with states that a switch must
 * keep, and ends that need more than the thread's call. The kinds are in the table at the end.
 */
#include "workload.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <xmmintrin.h>

#define THREADS 8
#define ROUNDS 200
#define MANY 700	/* live at once */

static pthread_barrier_t all;

static void turn(void)
{
	pthread_barrier_wait(&all);
}

static void run(void *(*fn)(void *), long n)
{
	pthread_t t[MANY];

	if (pthread_barrier_init(&all, NULL, (unsigned int)n))
		wl_die("pthread_barrier_init");
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, fn, (void *)i))
			wl_die("pthread_create");
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
}

/* To the nearest, down, up, towards zero. */
static void round_so(unsigned int way)
{
	const unsigned short control = (unsigned short)(0x37f | way << 10);

	__asm__ volatile("fldcw %0" : : "m"(control));
	_mm_setcsr(0x1f80 | way << 13);
}

/* Its own way of rounding, a sum in the vector registers, one in those of the x87. */
static void *rounds(void *arg)
{
	static double sums[THREADS];
	static long double longs[THREADS];
	const long n = (long)arg;
	double sum = (double)n;
	long double other = (long double)n;

	round_so((unsigned int)n % 4);
	for (int i = 1; i <= ROUNDS; i++) {
		sum += 1.0 / (i + (double)n);
		other += 1.0L / (i + (long double)n);
		turn();
	}
	sums[n] = sum;
	longs[n] = other;
	turn();
	if (!n)
		for (int i = 0; i < THREADS; i++)
			printf("%a %La %#x\n", sums[i], longs[i], _mm_getcsr());
	return NULL;
}

static void states(void)
{
	run(rounds, THREADS);
}

/* A base of its own in gs. */
static void *based(void *arg)
{
	static long cell[THREADS];
	const long n = (long)arg;
	long got;

	if (syscall(SYS_arch_prctl, ARCH_SET_GS, &cell[n]))
		wl_die("arch_prctl");
	for (int i = 0; i < ROUNDS; i++) {
		__asm__ volatile("mov %%gs:0, %0\n\tadd %1, %0\n\tmov %0, %%gs:0" : "=&r"(got) :
				 "r"(n + 1) : "memory");
		turn();
	}
	if (!n)
		for (int i = 0; i < THREADS; i++)
			printf("%ld\n", cell[i]);
	return NULL;
}

static void set_gs(long *to)
{
	/* Without a call where the kernel lets programs do so: HWCAP2_FSGSBASE. */
	if (getauxval(AT_HWCAP2) & 2)
		__asm__ volatile("wrgsbase %0" : : "r"(to));
	else if (syscall(SYS_arch_prctl, ARCH_SET_GS, to))
		wl_die("arch_prctl");
}

/* Another one each time that it takes its turn. */
static void *rebased(void *arg)
{
	static long cell[THREADS][ROUNDS + 1];
	const long n = (long)arg;
	long got;

	set_gs(&cell[n][0]);
	for (int i = 0; i < ROUNDS; i++) {
		__asm__ volatile("mov %%gs:0, %0\n\tadd %1, %0\n\tmov %0, %%gs:8" : "=&r"(got) :
				 "r"(n + 1) : "memory");
		set_gs(&cell[n][i + 1]);
		turn();
	}
	if (!n)
		for (int i = 0; i < THREADS; i++)
			printf("%ld\n", cell[i][ROUNDS]);
	return NULL;
}

static void bases(void)
{
	run(based, THREADS);
	run(rebased, THREADS);
}

/* Lists and words that are not there when a thread ends, and a lock that is held then. */
static void *ends_badly(void *arg)
{
	static pthread_mutex_t held[ROUNDS];
	pthread_mutexattr_t attr;
	const long n = (long)arg;

	if (n % 4 == 1)
		syscall(SYS_set_robust_list, (void *)8, 24);
	if (n % 4 == 2) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		pthread_mutex_init(&held[n], &attr);
		pthread_mutex_lock(&held[n]);
		return &held[n];
	}
	return NULL;
}

static void ends(void)
{
	long died = 0;

	for (long i = 0; i < ROUNDS; i++) {
		void *lock;
		pthread_t t;

		if (pthread_create(&t, NULL, ends_badly, (void *)i))
			wl_die("pthread_create");
		pthread_join(t, &lock);
		if (lock && pthread_mutex_lock(lock) == EOWNERDEAD)
			died += !pthread_mutex_consistent(lock);
	}
	printf("%ld held a lock\n", died);
}

/* Mappings that come, change and go in turns; the break, which moves for all. */
static void *maps(void *arg)
{
	static long sums[THREADS];
	const long n = (long)arg;
	const size_t bytes = 65536 * (size_t)(n + 1);

	for (int i = 0; i < ROUNDS; i++) {
		char *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		turn();
		if (p == MAP_FAILED || mprotect(p, bytes, PROT_READ | PROT_WRITE))
			wl_die("mmap");
		p[i] = (char)n;
		p[bytes - 1] = 1;
		if (madvise(p + 4096, bytes - 4096, MADV_DONTNEED))
			wl_die("madvise");
		turn();
		sums[n] += p[i] + p[bytes - 1] + ((long)(intptr_t)p >> 12 & 0xff);
		if (!n && sbrk(i % 3 ? 12288 : -8192) == (void *)-1)
			wl_die("sbrk");
		turn();
		munmap(p, bytes / 2);
		munmap(p + bytes / 2, bytes / 2);
	}
	turn();
	if (!n)
		for (int i = 0; i < THREADS; i++)
			printf("%ld\n", sums[i]);
	return NULL;
}

static void mappings(void)
{
	run(maps, THREADS);
}

static void *waits(void *arg)
{
	for (int i = 0; i < 3; i++)
		turn();
	return arg;
}

static void live(void)
{
	run(waits, MANY);
	printf("%d\n", MANY);
}

/* Not of its process, and in its memory. */
static int apart(void *arg)
{
	++*(long *)arg;
	syscall(SYS_exit, 3);
	return 0;
}

static void clones(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	long ran = 0, sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int status, pid = clone(apart, stack + sizeof(stack), CLONE_VM | SIGCHLD, &ran);

		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			wl_die("clone");
		sum += WEXITSTATUS(status);
	}
	printf("%ld %ld\n", ran, sum);
}

/* Handlers that interrupt others, which take turns all the time. */
static volatile long handled;

static void count(int sig)
{
	handled += sig == SIGUSR1;
}

static void *signalled(void *arg)
{
	const long n = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		if (n == i % THREADS)
			raise(SIGUSR1);
		turn();
	}
	return NULL;
}

static void handlers(void)
{
	signal(SIGUSR1, count);
	run(signalled, THREADS);
	printf("%ld\n", handled);
}

/* Code with a call in it, each time another behind the call: mov eax, 110; syscall; add eax, i. */
static void *rewrites(void *arg)
{
	unsigned char code[] = { 0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0x05, 0, 0, 0, 0, 0xc3 };
	static long sums[THREADS];
	const long n = (long)arg;
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*fn)(void);

	memcpy(&fn, &at, sizeof(fn));
	for (int i = 0; i < ROUNDS; i++) {
		code[8] = (unsigned char)i;
		if (at == MAP_FAILED || mprotect(at, 4096, PROT_READ | PROT_WRITE))
			wl_die("mmap");
		memcpy(at, code, sizeof(code));
		mprotect(at, 4096, PROT_READ | PROT_EXEC);
		sums[n] += fn() - getppid();
		turn();
	}
	if (!n)
		for (int i = 0; i < THREADS; i++)
			printf("%ld\n", sums[i]);
	return NULL;
}

static void code(void)
{
	run(rewrites, THREADS);
}

static const struct {
	const char *name;
	void (*fn)(void);
} kinds[] = {
	{ "states", states },
	{ "bases", bases },
	{ "ends", ends },
	{ "mappings", mappings },
	{ "live", live },
	{ "clones", clones },
	{ "handlers", handlers },
	{ "code", code },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 2)
			puts(kinds[i].name);
		else if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].fn();
	}
	return 0;
}
