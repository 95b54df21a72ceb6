/* SPDX-License-Identifier: MIT */
#ifndef RR_RECORDER_H
#define RR_RECORDER_H

/* A program is run and recorded, to its end. */
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct recorder_opts {
	char **argv;
	const char *dir;	/* is made; must not be there */
	uid_t uid;		/* the program's */
	gid_t gid;
};

struct recorder_result {
	int status;		/* as wait(2) tells it */
	uint64_t events, bytes;
};

/*
 * Root, or CAP_BPF, CAP_PERFMON, CAP_SYS_NICE, CAP_SYS_PTRACE and CAP_SYS_ADMIN. Blocks until
 * the program has ended. -errno with words: what was recorded up to there replays.
 */
int recorder_run(const struct recorder_opts *opts, struct recorder_result *result,
		 struct err *err);

#endif
