/* SPDX-License-Identifier: MIT */
/* The executable behind run, attach and doctor: tracer runs it with its own arguments. */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "cmd/session.h"
#include "collect/privilege.h"

static const struct { const char *name; int (*main)(int argc, char **argv); } commands[] = {
	{ "run", run_main },
	{ "attach", attach_main },
	{ "doctor", doctor_main },
};

int main(int argc, char **argv)
{
	struct err err = {};
	size_t i;

	io_hold_standard_fds();
	if (privilege_begin(&err))
		return session_fail(&err, argc > 1 && !strcmp(argv[1], "run") ? 125 : 2);
	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].main(argc - 1, argv + 1);
	err_set(&err, EINVAL, "this program is run by tracer, not by itself");
	err_hint(&err, "as in 'tracer run -- ls'");
	return session_fail(&err, 2);
}
