/* SPDX-License-Identifier: MIT */
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct passwd *user_find(const char *user, struct err *err)
{
	const char *digits = *user == '#' ? user + 1 : user;
	struct passwd *pw = getpwnam(user);
	unsigned long uid;

	if (pw)
		return pw;
	if (digits[strspn(digits, "0123456789")] || !*digits) {
		err_set(err, ENOENT, "no such user: %s", user);
		return NULL;
	}
	errno = 0;
	uid = strtoul(digits, NULL, 10);
	/* The largest uid stands for "no change" in setuid(2)'s relatives. */
	pw = errno || uid >= UINT32_MAX ? NULL : getpwuid((uid_t)uid);
	if (!pw) {
		err_set(err, ENOENT, "no such user: %s", user);
		err_hint(err, "a uid needs an entry in the user database, which tells its groups");
	}
	return pw;
}

int user_become(const struct passwd *pw)
{
	if (initgroups(pw->pw_name, pw->pw_gid) || setgid(pw->pw_gid) || setuid(pw->pw_uid))
		return -errno;
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", pw->pw_name, 1);
	setenv("LOGNAME", pw->pw_name, 1);
	return 0;
}
