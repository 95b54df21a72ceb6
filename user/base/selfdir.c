/* SPDX-License-Identifier: MIT */
#include "base/selfdir.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int selfdir(char *to, size_t bytes, struct err *err)
{
	ssize_t n = readlink("/proc/self/exe", to, bytes - 1);
	char *slash;

	if (n < 0)
		return err_sys(err, errno, "cannot find tracer's own directory");
	to[n] = '\0';
	slash = strrchr(to, '/');
	if (slash)
		*slash = '\0';
	return 0;
}
