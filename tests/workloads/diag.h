/* SPDX-License-Identifier: MIT */
#ifndef DIAG_H
#define DIAG_H

/* What the programs of DIAGNOSE.md share. */
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "workload.h"

/* Whether argument 1 is "trigger"; false for "nearmiss"; ends with 2 on anything else. */
static inline bool diag_trigger(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "trigger"))
		return true;
	if (argc == 2 && !strcmp(argv[1], "nearmiss"))
		return false;
	fprintf(stderr, "usage: %s trigger|nearmiss\n", argv[0]);
	exit(2);
}

/* Starts a thread of fn(arg), with the attributes attr or NULL. */
static inline pthread_t diag_thread(const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	pthread_t t;

	errno = pthread_create(&t, attr, fn, arg);
	if (errno)
		wl_die("pthread_create");
	return t;
}

/* Joins a thread. */
static inline void diag_join(pthread_t t)
{
	errno = pthread_join(t, NULL);
	if (errno)
		wl_die("pthread_join");
}

/* Writes all n bytes, or ends the process. */
static inline void diag_write(int fd, const void *data, size_t n)
{
	if (write(fd, data, n) != (ssize_t)n)
		wl_die("write");
}

/* Reads exactly n bytes, in as many calls as the pipe needs. */
static inline void diag_read(int fd, char *data, size_t n)
{
	while (n) {
		ssize_t r = read(fd, data, n);

		if (r <= 0)
			wl_die("read");
		data += r;
		n -= (size_t)r;
	}
}

#endif
