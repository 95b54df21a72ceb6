/* SPDX-License-Identifier: MIT */
#include "base/caller.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Groups stay root's: what the files' owner may do is enough. */
int caller_lower(const struct caller *c)
{
	if (!c->change)
		return 0;
	return setegid(c->gid) || seteuid(c->uid) ? -errno : 0;
}

int caller_raise(const struct caller *c)
{
	if (!c->change)
		return 0;
	return seteuid(0) || setegid(0) ? -errno : 0;
}
