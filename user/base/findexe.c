/* SPDX-License-Identifier: MIT */
#include "base/findexe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool findexe(char *path, size_t n, const char *command)
{
	const char *dirs = getenv("PATH"), *end;

	if (strchr(command, '/'))
		return snprintf(path, n, "%s", command) < (int)n && !access(path, X_OK);
	for (; dirs && *dirs; dirs = *end ? end + 1 : end) {
		end = strchrnul(dirs, ':');
		if (snprintf(path, n, "%.*s%s%s", (int)(end - dirs), dirs, end > dirs ? "/" : "",
			     command) < (int)n && !access(path, X_OK))
			return true;
	}
	return false;
}
