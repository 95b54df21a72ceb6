/* SPDX-License-Identifier: MIT */
#ifndef BASE_USER_H
#define BASE_USER_H

/* A user who was named on the command line. */
#include <pwd.h>

#include "base/err.h"

/*
 * @user is a name, or a uid as sudo takes it: 1000, #1000; a name of digits alone is a name
 * first. As getpwnam(3), until that is called anew; NULL with words (ENOENT).
 */
struct passwd *user_find(const char *user, struct err *err);
/* Between fork and exec: the ids, groups and HOME, USER, LOGNAME; 0 or -errno. */
int user_become(const struct passwd *pw);

#endif
