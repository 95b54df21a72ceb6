/* SPDX-License-Identifier: MIT */
#ifndef SYM_SYMCHILD_H
#define SYM_SYMCHILD_H

/* The parent's end of tracer-sym: starts it, talks to it, ends it. */
#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "sym/symproto.h"

struct symchild {
	pid_t pid;	/* 0: not running */
	int sock;
	int pidfd;	/* -1: kernel without */
	int nice;	/* the child's priority: the caller's when it was set up */
	uint64_t cpu_ns;	/* CPU time of those that have ended */
	struct buf in;	/* received and not taken yet */
	size_t taken;	/* bytes at the start of .in that were */
};

/* Nothing runs yet. */
void symchild_init(struct symchild *c);
/*
 * Starts tracer-sym as @opts say, with an empty environment and in a session
 * of its own: a terminal's ctrl-C is not meant for it. Returns 0 or -errno.
 * That the program cannot be executed shows as an end of the child at the
 * first request.
 */
int symchild_start(struct symchild *c, const struct sym_opts *opts);
/* Kills and reaps the child if there is one. */
void symchild_stop(struct symchild *c);
/*
 * Sends the message in @b, with descriptor @fd unless that is -1. 0;
 * -ETIMEDOUT when the child did not take it within @timeout_ms; -EPIPE and
 * other errors of the socket. A child that is ready to run when @timeout_ms are
 * over may have had no CPU: it has so much CPU time, within SYM_TIMEOUT_MS; here
 * and below.
 */
int symchild_send(struct symchild *c, const struct buf *b, int fd, int timeout_ms);
/*
 * Waits for the message of @type with @seq. Valid until the next call. 0;
 * -ETIMEDOUT; -EPIPE when the child ended; -EBADMSG when it sent another thing.
 */
int symchild_recv(struct symchild *c, enum symp_type type, uint32_t seq, int timeout_ms,
		  struct symp_msg *out);

/* CPU time of the child and those before it, in ns. */
uint64_t symchild_cpu_ns(const struct symchild *c);

#endif
