/* SPDX-License-Identifier: MIT */
/* The executable behind top, which alone needs the terminal library. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/io.h"
#include "cmd/session.h"
#include "collect/privilege.h"

/*
 * With file capabilities: the terminal library asks whether it is set-uid, and knows
 * nothing of these, so that it would read descriptions of the user's own making.
 */
static void forget_terminals(void)
{
	static const char *const names[] = {
		"TERMINFO", "TERMINFO_DIRS", "TERMCAP", "TERMPATH", "HOME",
	};
	size_t i;

	for (i = 0; getauxval(AT_SECURE) && i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

int main(int argc, char **argv)
{
	struct err err = {};

	io_hold_standard_fds();
	if (privilege_begin(&err))
		return session_fail(&err, 2);
	forget_terminals();
	if (argc > 1 && !strcmp(argv[1], "top"))
		return top_main(argc - 1, argv + 1);
	err_set(&err, EINVAL, "this program is run by tracer, not by itself");
	err_hint(&err, "as in 'tracer top'");
	return session_fail(&err, 2);
}
