/* SPDX-License-Identifier: MIT */
#ifndef BASE_CALLER_H
#define BASE_CALLER_H

/* Who is behind root: the user that called sudo, whose files and programs are not root's. */
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct caller {
	uid_t uid;
	gid_t gid;
	bool change;		/* we are root, and go back to who called sudo */
	char home[PATH_MAX];	/* with .change */
};

/* -EPERM: root itself, whom nobody called; then .uid and .gid are root's. */
int caller_find(struct caller *c);
/*
 * Between fork and exec, to stay so: system calls only. 0 or -errno; nothing where
 * .change is not set.
 */
int caller_become(const struct caller *c);
/* The effective ids for a while, of this thread; 0 or -errno. */
int caller_lower(const struct caller *c);
int caller_raise(const struct caller *c);

#endif
