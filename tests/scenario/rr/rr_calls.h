/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RR_CALLS_H
#define TESTS_RR_CALLS_H

/*
 * What the programs of this directory share: each makes the calls of an area, as numbers, since
 * libc often makes another, checks what they answer, and prints it. A check that fails ends it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The call succeeds; its result. */
#define OK(name, ...) calls_ok(syscall(SYS_##name, ##__VA_ARGS__), #name, __LINE__)
/* The same, as an argument of another: a macro is not expanded within itself. */
#define GOT(name, ...) calls_ok(syscall(SYS_##name, ##__VA_ARGS__), #name, __LINE__)
/* It fails with that error. */
#define FAILS(error, name, ...) \
	calls_fails(syscall(SYS_##name, ##__VA_ARGS__), error, #name, __LINE__)
#define CHECK(what) calls_check(what, #what, __LINE__)
/* A struct or buffer, as one number: whatever the kernel put there. */
#define SHOW(name, at, bytes) calls_show(name, at, bytes)

static inline void calls_check(int ok, const char *what, int line)
{
	if (ok)
		return;
	fflush(stdout);
	fprintf(stderr, "line %d: not so: %s (%s)\n", line, what, strerrorname_np(errno));
	_exit(99);
}

static inline long calls_ok(long ret, const char *name, int line)
{
	char what[64];

	if (ret == -1) {
		snprintf(what, sizeof(what), "%s succeeds", name);
		calls_check(0, what, line);
	}
	printf("%s = %ld\n", name, ret);
	return ret;
}

static inline void calls_fails(long ret, int error, const char *name, int line)
{
	char what[64];

	snprintf(what, sizeof(what), "%s fails with %s", name, strerrorname_np(error));
	calls_check(ret == -1 && errno == error, what, line);
	printf("%s: %s\n", name, strerrorname_np(error));
}

static inline void calls_show(const char *name, const void *at, size_t bytes)
{
	const unsigned char *p = at;
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	printf("%s: %016llx\n", name, (unsigned long long)h);
}

/* A file of that many bytes, each its offset. */
static inline void calls_make_file(const char *path, size_t bytes)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	for (size_t i = 0; i < bytes; i++)
		putc((int)(i & 0xff), f);
	CHECK(!fclose(f));
}

#endif
