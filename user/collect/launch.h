/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_LAUNCH_H
#define COLLECT_LAUNCH_H

/*
 * The tracer's own child: it measures what tracing costs, then becomes the
 * command, with the signal mask, dispositions, terminal, process group and
 * standard descriptors that the tracer was started with.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/cost.h"

struct launch {
	pid_t pid;
	int pidfd;		/* readable when the child has ended */
	int to, from;		/* pipes to and from it */
	bool refused;
	struct cost bare, traced;
	/* Once it has become the command: just before that. */
	uint64_t exec_ns;	/* of CLOCK_MONOTONIC */
	struct rusage used;	/* by the child up to there, and no part of the command's */
};

struct launch_opts {
	char **argv;		/* NULL: it only measures and exits */
	const char *user;	/* run the command as this user, a name or a uid; NULL */
	bool unmeasured;	/* costs are not asked for: no launch_measure, .bare stays 0 */
	const sigset_t *mask;	/* the command's signal mask; NULL: as ours */
	bool silent;		/* the command's standard descriptors are /dev/null */
};

/* The uid of @user, a name or a number as sudo takes it; 0, or -ENOENT with a message. */
int launch_user(const char *user, uid_t *uid, struct err *err);

/*
 * Starts the child and waits until it has measured bare costs, if it is to, some 2 ms. Returns
 * 0; ENOENT for an unknown user, EAGAIN, ENOMEM, EIO when the child died.
 */
int launch_start(struct launch *c, const struct launch_opts *opts, struct err *err);
/* Has the child measure again, now that it is traced; 0, -EIO when it died. */
int launch_measure(struct launch *c, struct err *err);
/*
 * Lets the child become the command. 0 when it has; ENOENT, EACCES, … as
 * execvp found: the child has then ended and was waited for. c->refused tells
 * that the kernel refused .user instead.
 */
int launch_exec(struct launch *c, struct err *err);
/* Closes what is open; a child that has not become the command ends. */
void launch_release(struct launch *c);

#endif
