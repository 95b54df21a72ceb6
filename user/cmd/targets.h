/* SPDX-License-Identifier: MIT */
#ifndef CMD_TARGETS_H
#define CMD_TARGETS_H

/* What `attach` and `top` have in common: processes that run already. */
#include "cmd/session.h"

/* That all pids of @o can be traced; -ESRCH, -EPERM, -EINVAL with a message. */
int targets_check(const struct live_opts *o, struct err *err);
/*
 * Opens the trace, watches signals and @fd (-1: none), and finds the targets. The
 * number of threads traced, or -errno.
 */
long targets_begin(struct session *s, int fd, struct err *err);

#endif
