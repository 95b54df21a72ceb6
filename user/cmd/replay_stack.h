/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPLAY_STACK_H
#define CMD_REPLAY_STACK_H

/* The stack of a thread whose replay diverged, for people. */
#include <sys/types.h>
#include <sys/user.h>

#include "base/buf.h"

/* A line for each frame, the innermost first; addresses alone where there are no names. */
void replay_stack_add(struct buf *b, pid_t pid, const struct user_regs_struct *regs);

#endif
