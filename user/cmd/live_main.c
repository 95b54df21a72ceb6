/* SPDX-License-Identifier: MIT */
/* The executable behind run and attach: tracer runs it with its own arguments. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/session.h"

static const struct { const char *name; int (*main)(int argc, char **argv); } commands[] = {
	{ "run", run_main },
	{ "attach", attach_main },
};

/*
 * A standard descriptor that was closed must not become one of ours: it is held
 * by something that refuses writing, and that the command does not inherit.
 */
static void hold_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	struct err err;
	size_t i;

	hold_standard_fds();
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	err_set(&err, EINVAL, "this program is run by tracer, not by itself");
	err_hint(&err, "as in 'tracer run -- ls'");
	return session_fail(&err, 2);
}
