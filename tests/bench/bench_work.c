/* SPDX-License-Identifier: MIT */
/*
 * bench_work KIND MS [SIZE]: does one kind of work for MS milliseconds in short
 * batches and prints the quartiles of a batch's time per operation. A batch is
 * shorter than a time slice, so that the median one was not disturbed by what
 * else runs on the machine.
 *
 *   calls     getppid; an operation is a call
 *   switch    two processes hand a byte to and fro on one CPU; a context switch
 *   pingpong  two threads, one futex word; a round trip
 *   threads   pthread_create and pthread_join; a thread
 *   pipe      writer and reader processes, chunks of SIZE bytes; a chunk
 *
 * Two kinds are there to be attached to: they say "ready", print no times, and end
 * with their parent.
 *
 *   sleep     does nothing
 *   tick      sleeps for 100 µs, again and again
 *
 * BENCH_CPU=N pins it all to one CPU; BENCH_FIFO=1 puts it before all ordinary
 * processes, as if they were not there.
 */
#include "../workloads/workload.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define BATCHES_MAX 200000

static uint64_t sample[BATCHES_MAX], end_ns;
static size_t nsample, size = 1;
static long total;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_die("sched_setaffinity");
}

/* Ends a batch of @ops that began at @start; false when the time is over. */
static bool batch(uint64_t start, long ops)
{
	uint64_t now = wl_now_ns();

	total += ops;
	if (nsample < BATCHES_MAX)
		sample[nsample++] = (now - start) * 1000 / (uint64_t)ops;
	return now < end_ns && nsample < BATCHES_MAX;
}

static void do_calls(void)
{
	uint64_t start;

	do {
		start = wl_now_ns();
		for (int i = 0; i < 200; i++)
			syscall(SYS_getppid);
	} while (batch(start, 200));
}

static void echo(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1)
		if (write(out, &c, 1) != 1)
			break;
	_exit(0);
}

static void do_switch(void)
{
	int there[2], back[2];
	uint64_t start;
	char c = 0;
	pid_t pid;

	if (pipe(there) || pipe(back))
		wl_die("pipe");
	pid = fork();
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		close(there[1]);
		echo(there[0], back[1]);
	}
	do {
		start = wl_now_ns();
		for (int i = 0; i < 50; i++)
			if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
				wl_die("ping");
	} while (batch(start, 100));
	close(there[1]);
	waitpid(pid, NULL, 0);
}

static uint32_t ball __attribute__((aligned(64)));

static void hit(uint32_t mine)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&ball, __ATOMIC_ACQUIRE)) != mine) {
		if (seen > 1)
			return;
		wl_futex(&ball, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
	__atomic_store_n(&ball, !mine, __ATOMIC_RELEASE);
	wl_futex(&ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *partner(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&ball, __ATOMIC_ACQUIRE) < 2)
		hit(1);
	return NULL;
}

static void do_pingpong(void)
{
	uint32_t seen;
	uint64_t start;
	pthread_t t;

	pthread_create(&t, NULL, partner, NULL);
	do {
		start = wl_now_ns();
		for (int i = 0; i < 50; i++)
			hit(0);
	} while (batch(start, 50));
	/* Asleep: with both on one CPU, spinning would keep the partner from its turn. */
	while ((seen = __atomic_load_n(&ball, __ATOMIC_ACQUIRE)))
		wl_futex(&ball, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	__atomic_store_n(&ball, 2, __ATOMIC_RELEASE);
	wl_futex(&ball, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	pthread_join(t, NULL);
}

static void *nothing(void *arg)
{
	return arg;
}

static void do_threads(void)
{
	uint64_t start;
	pthread_t t;

	do {
		start = wl_now_ns();
		for (int i = 0; i < 10; i++)
			if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
				wl_die("pthread_create");
	} while (batch(start, 10));
}

static void do_pipe(void)
{
	char *buf = calloc(1, size);
	long per = size > 4096 ? 20 : 100;
	uint64_t start;
	int fd[2];
	pid_t pid;

	if (!buf || pipe(fd))
		wl_die("pipe");
	pid = fork();
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fd[1]);
		while (read(fd[0], buf, size) > 0)
			;
		_exit(0);
	}
	close(fd[0]);
	do {
		start = wl_now_ns();
		for (long i = 0; i < per; i++)
			if (write(fd[1], buf, size) != (ssize_t)size)
				wl_die("write");
	} while (batch(start, per));
	close(fd[1]);
	waitpid(pid, NULL, 0);
	free(buf);
}

static void be_there(useconds_t pause_us)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	puts("ready");
	fflush(stdout);
	while (wl_now_ns() < end_ns)
		usleep(pause_us);
	exit(0);
}

static void do_sleep(void)
{
	be_there(1000000000);
}

static void do_tick(void)
{
	be_there(100);
}

static const struct { const char *name; void (*run)(void); } kinds[] = {
	{ "calls", do_calls },
	{ "switch", do_switch },
	{ "pingpong", do_pingpong },
	{ "threads", do_threads },
	{ "pipe", do_pipe },
	{ "sleep", do_sleep },
	{ "tick", do_tick },
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double at(double share)
{
	return (double)sample[(size_t)(share * (double)(nsample - 1))] / 1000;
}

int main(int argc, char **argv)
{
	long ms = wl_arg(argc, argv, 2, 200);
	const char *cpu = getenv("BENCH_CPU");
	size_t i;

	size = (size_t)wl_arg(argc, argv, 3, 1);
	memset(sample, 1, sizeof(sample));	/* no page fault in a batch */
	if (cpu)
		pin(atoi(cpu));
	if (getenv("BENCH_FIFO"))	/* without the right to it: as it is */
		(void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 });
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (argc > 1 && !strcmp(argv[1], kinds[i].name))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0])) {
		fprintf(stderr, "usage: bench_work calls|switch|pingpong|threads|pipe|sleep|tick "
			"MS [SIZE]\n");
		return 2;
	}
	end_ns = wl_now_ns() + (uint64_t)ms * 1000000;
	kinds[i].run();
	qsort(sample, nsample, sizeof(sample[0]), by_size);
	printf("ops=%ld batches=%zu min=%.1f q1=%.1f median=%.1f q3=%.1f\n", total, nsample, at(0),
	       at(0.25), at(0.5), at(0.75));
	return 0;
}
