/* SPDX-License-Identifier: MIT */
/*
 * bench_once FILE COMMAND [ARG]...: runs the command and writes into FILE how many nanoseconds
 * passed from before its start to behind its end: without what runs bench_once.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	const long long began = now_ns();
	int r, status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fputs("usage: bench_once FILE COMMAND [ARG]...\n", stderr);
		return 2;
	}
	r = posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ);
	if (r || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "bench_once: cannot run %s: %s\n", argv[2], strerror(r));
		return 127;
	}
	f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%lld\n", now_ns() - began) < 0 || fclose(f)) {
		fprintf(stderr, "bench_once: cannot write %s\n", argv[1]);
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
