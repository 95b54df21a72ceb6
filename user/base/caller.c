/* SPDX-License-Identifier: MIT */
#include "base/caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool number_of(const char *name, unsigned int *out)
{
	const char *s = getenv(name);
	char *end;
	unsigned long v;

	if (!s || *s < '0' || *s > '9')
		return false;
	v = strtoul(s, &end, 10);
	*out = (unsigned int)v;
	return !*end && v && v < UINT_MAX;
}

int caller_find(struct caller *c)
{
	const struct passwd *pw;
	unsigned int uid, gid;

	*c = (struct caller){ .uid = getuid(), .gid = getgid() };
	if (geteuid() && c->uid)
		return 0;
	if (!number_of("SUDO_UID", &uid) || !number_of("SUDO_GID", &gid))
		return -EPERM;
	c->uid = uid;
	c->gid = gid;
	c->change = true;
	pw = getpwuid(uid);
	snprintf(c->home, sizeof(c->home), "%s", pw ? pw->pw_dir : "/nonexistent");
	return 0;
}

int caller_become(const struct caller *c)
{
	if (!c->change)
		return 0;
	if (setgroups(1, &c->gid) || setresgid(c->gid, c->gid, c->gid) ||
	    setresuid(c->uid, c->uid, c->uid))
		return -errno;
	return getuid() && geteuid() ? 0 : -EPERM;
}

/* Of this thread alone: libc's calls stop all others and wait for them. */
static int set_effective(gid_t gid, uid_t uid, bool gid_first)
{
	if (gid_first && syscall(SYS_setresgid, -1, gid, -1))
		return -errno;
	if (syscall(SYS_setresuid, -1, uid, -1))
		return -errno;
	return !gid_first && syscall(SYS_setresgid, -1, gid, -1) ? -errno : 0;
}

/* Groups stay root's: what the files' owner may do is enough. */
int caller_lower(const struct caller *c)
{
	return c->change ? set_effective(c->gid, c->uid, true) : 0;
}

int caller_raise(const struct caller *c)
{
	return c->change ? set_effective(0, 0, false) : 0;
}
