/* SPDX-License-Identifier: MIT */
#ifndef RR_CONFINED_H
#define RR_CONFINED_H

/*
 * The child that becomes the recorded program: on one CPU, without address randomisation,
 * without the calls that cannot be recorded, and stopped by us at each execve alone.
 */
#include <pwd.h>
#include <sys/types.h>

#include "base/caller.h"
#include "base/err.h"

struct confined {
	pid_t pid;
	int pidfd;
	int notify;		/* a seccomp listener: each execve waits here */
	int go;			/* closed, or written to: it may exec */
	int from;		/* what it says when its exec failed */
};

struct confined_opts {
	char **argv;
	int cpu;
	const struct caller *who;
	const struct passwd *user;	/* whom it is to run as instead; NULL */
};

/* 0; or -errno with words. It waits then for confined_go(). */
int confined_start(struct confined *c, const struct confined_opts *opts, struct err *err);
int confined_go(struct confined *c, struct err *err);
/* Once it has ended: the errno of an exec that failed, or 0. */
int confined_exec_error(struct confined *c);
void confined_release(struct confined *c);

#endif
