/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_MEASURE_H
#define COLLECT_MEASURE_H

/*
 * One run of a command: how long it took and what it used, from just before its exec
 * to its end, and what a trace of it counted. Loading and attaching the trace come
 * before that, names and sums after it.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "out/summary.h"
#include "out/usage.h"

/* MEASURE_TIMES needs no privilege; the others trace in the mode of that name. */
enum measure_how { MEASURE_TIMES, MEASURE_WAIT, MEASURE_EXACT };

struct live;

struct measure_setup {
	enum measure_how how;
	bool silent;			/* the command's standard descriptors are /dev/null */
	const sigset_t *mask;		/* the command's signal mask */
	const char *user;		/* run it as this user; NULL */
	const char *libexec_dir;	/* of tracer-sym */
	/*
	 * Where one run leaves its trace for the next, of the same .how: NULL before the
	 * first; live_free() after the last.
	 */
	struct live **trace;
	/*
	 * Becomes readable when it is to end early: by ctrl-C, which reaches the command
	 * by itself (then *stop_signal is SIGINT), or by another signal, which is handed on.
	 */
	int stop_fd;
	int (*stop_signal)(int stop_fd);	/* takes it; 0: it was nothing */
};

struct measured {
	struct usage usage;
	int status;			/* of waitpid */
	uint64_t start_ns;		/* since 1970 */
	int stopped;			/* the signal that asked for an early end, or 0 */
	bool has_summary;
	struct summary sum;		/* not judged; with .command borrowed from @argv */
};

/*
 * Runs @argv once. 0; what launch_exec gives where it cannot be run, -EPERM without the
 * privilege to trace, and other errors of live.h. measured_release() after success.
 */
int measure_run(const struct measure_setup *setup, char **argv, struct measured *out,
		struct err *err);
void measured_release(struct measured *m);

#endif
