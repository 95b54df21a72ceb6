/* SPDX-License-Identifier: MIT */
#ifndef RR_RECORDER_H
#define RR_RECORDER_H

/* A program is run and recorded, to its end. */
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/caller.h"
#include "base/err.h"

/* How far a recording is. */
struct recorder_progress {
	uint64_t events, bytes;
	uint32_t threads;	/* that are recorded */
	bool ended;		/* the first process has: .pid and .comm are of one that has not */
	pid_t pid;
	char comm[16];
};

struct recorder_opts {
	char **argv;
	const char *dir;	/* is there; the events go into it */
	struct caller who;	/* whom the program runs as, and whose the files are */
	bool checksum;		/* sums of its memory go in behind each call */
	const struct passwd *user;	/* whom the program runs as instead; NULL */
	/* About once a second; may be NULL. What is recorded waits for it. */
	void (*progress)(void *ctx, const struct recorder_progress *p);
	/* What may make a replay differ from what was recorded; may be NULL. */
	void (*warn)(void *ctx, const char *text);
	void *ctx;
};

struct recorder_result {
	int status;		/* as wait(2) tells it */
	int exec_error;		/* it could not even be started: nothing was recorded */
	int load_error;		/* an errno: the kernel refused the recorder's programs */
	uint64_t events, bytes;
};

/*
 * Root, or CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_SYS_PTRACE and CAP_SYS_ADMIN. Blocks until
 * the program has ended. -errno with words: what was recorded up to there replays.
 */
int recorder_run(const struct recorder_opts *opts, struct recorder_result *result,
		 struct err *err);

#endif
