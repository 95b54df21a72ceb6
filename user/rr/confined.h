/* SPDX-License-Identifier: MIT */
#ifndef RR_CONFINED_H
#define RR_CONFINED_H

/*
 * The child that becomes the recorded program: on one CPU, without address randomisation,
 * without the calls that cannot be recorded, and stopped by us at each execve alone.
 */
#include <sys/types.h>

#include "base/err.h"

struct confined {
	pid_t pid;
	int pidfd;
	int notify;		/* a seccomp listener: each execve waits here */
	int go;			/* closed, or written to: it may exec */
};

struct confined_opts {
	char **argv;
	int cpu;
	uid_t uid;
	gid_t gid;
};

/* 0; or -errno with words. It waits then for confined_go(). */
int confined_start(struct confined *c, const struct confined_opts *opts, struct err *err);
int confined_go(struct confined *c, struct err *err);
void confined_release(struct confined *c);

#endif
