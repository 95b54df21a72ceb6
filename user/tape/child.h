/* SPDX-License-Identifier: MIT */
#ifndef TAPE_CHILD_H
#define TAPE_CHILD_H

/* A command with pipes to its stdin and from its stdout. */
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct child {
	pid_t pid;		/* 0: none */
	int in, out;		/* our ends, -1 when closed; they do not block */
};

/*
 * Starts @argv by PATH. @input false: its stdin is empty. 0; a negative errno that names
 * the command. SIGPIPE is as it was when tape began.
 */
int child_start(struct child *c, char *const *argv, bool input, struct err *err);
void child_close_in(struct child *c);
void child_close_out(struct child *c);
/* Waits; the status as wait() has it. */
int child_wait(struct child *c);
/* Whether SIGPIPE was ignored before tape did, which commands are to inherit. */
void child_keep_sigpipe(bool ignored);

#endif
