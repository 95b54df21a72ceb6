/* SPDX-License-Identifier: MIT */
#ifndef WORKLOAD_H
#define WORKLOAD_H

/*
 * What the workloads share. A workload does an exactly known amount of work
 * and prints what it really did as KEY=VALUE words, so that a test compares a
 * trace against the program's own account and not against a guess.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Prints what failed, with errno's words, and ends the process with 1. */
static inline void __attribute__((noreturn)) wl_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* The number in argument i, or dflt when it was not given. Ends with 2 on a bad number. */
static inline long wl_arg(int argc, char **argv, int i, long dflt)
{
	char *end;
	long v;

	if (i >= argc)
		return dflt;
	v = strtol(argv[i], &end, 10);
	if (*end || end == argv[i] || v < 0) {
		fprintf(stderr, "%s: bad number: %s\n", argv[0], argv[i]);
		exit(2);
	}
	return v;
}

/* Monotonic clock in nanoseconds; no system call where the vDSO works. */
static inline uint64_t wl_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Uses the CPU for ns nanoseconds of wall time. */
static inline void wl_spin_ns(uint64_t ns)
{
	uint64_t end = wl_now_ns() + ns;

	while (wl_now_ns() < end)
		;
}

/* Sleeps for us microseconds; 0 makes no call. */
static inline void wl_sleep_us(long us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	if (us)
		while (nanosleep(&ts, &ts) && errno == EINTR)
			;
}

/* How often the calling thread has given up the CPU to wait: the kernel's own count. */
static inline long wl_nvcsw(void)
{
	struct rusage ru;

	if (getrusage(RUSAGE_THREAD, &ru))
		wl_die("getrusage");
	return ru.ru_nvcsw;
}

static inline pid_t wl_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/* futex(2): the result, or a negative errno. arg4 is a timeout or val2. */
static inline long wl_futex(void *addr, int op, uint32_t val, const void *arg4, void *addr2,
			    uint32_t val3)
{
	long r = syscall(SYS_futex, addr, op, val, arg4, addr2, val3);

	return r < 0 ? -errno : r;
}

/* What one side of a wait/wake exchange did. */
struct wl_tally {
	long waits;	/* returned 0 */
	long eagain;
	long wakes;
	long woken;
	long wasted;	/* wakes that woke nobody */
	long nvcsw;
	pid_t tid;
};

/* Accounts for the result of a wait. */
static inline void wl_tally_wait(struct wl_tally *t, long r)
{
	if (r >= 0)
		t->waits++;
	else if (r == -EAGAIN)
		t->eagain++;
	else if (r != -EINTR) {
		errno = (int)-r;
		wl_die("futex wait");
	}
}

/* Accounts for the result of a wake. */
static inline void wl_tally_wake(struct wl_tally *t, long r)
{
	if (r < 0) {
		errno = (int)-r;
		wl_die("futex wake");
	}
	t->wakes++;
	t->woken += r;
	t->wasted += !r;
}

/* Prints the two sides, first a's and then b's fields prefixed with their letter, then sums. */
static inline void wl_tally_print(const struct wl_tally *a, const struct wl_tally *b)
{
	printf("a_tid=%d a_waits=%ld a_wakes=%ld a_nvcsw=%ld ", a->tid, a->waits, a->wakes,
	       a->nvcsw);
	printf("b_tid=%d b_waits=%ld b_wakes=%ld b_nvcsw=%ld ", b->tid, b->waits, b->wakes,
	       b->nvcsw);
	printf("waits=%ld eagain=%ld wakes=%ld woken=%ld wasted=%ld nvcsw=%ld\n",
	       a->waits + b->waits, a->eagain + b->eagain, a->wakes + b->wakes,
	       a->woken + b->woken, a->wasted + b->wasted, a->nvcsw + b->nvcsw);
}

#endif
