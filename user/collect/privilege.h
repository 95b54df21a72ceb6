/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_PRIVILEGE_H
#define COLLECT_PRIVILEGE_H

/*
 * What this process may do, and what of it is the user's own. Capabilities that
 * the executable's file gave are for BPF alone: files of others in /proc are
 * opened without them, so that the kernel decides as it would for the user.
 * What the user has without the file is the ambient set, which an exec of a file
 * with capabilities clears and any other hands on.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct privilege {
	uid_t uid, euid;
	gid_t gid, egid;
	uint64_t effective, permitted, ambient;	/* a bit per capability, CAP_BPF 39 */
	bool no_new_privs, seccomp, user_namespace;
};

void privilege_read(struct privilege *p);
bool privilege_has(const struct privilege *p, int capability);

/*
 * At the start of a program that may have file capabilities. Refuses with EPERM
 * to run set-uid or set-gid, for which nothing here is made; without real uid 0
 * keeps, beside the user's own, only the capabilities that tracing needs.
 */
int privilege_begin(struct err *err);
/* The user's own capabilities: the measure for whom may be looked at. */
uint64_t privilege_own(void);
/*
 * Between the two, the calling thread has the user's own capabilities alone;
 * nothing when the real uid is 0 or privilege_begin was not called. They nest.
 */
void privilege_lower(void);
void privilege_raise(void);
/* Within the two, for a call that needs the others: all of them, and back again. */
void privilege_suspend(void);
void privilege_resume(void);

#endif
