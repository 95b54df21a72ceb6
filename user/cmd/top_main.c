/* SPDX-License-Identifier: MIT */
/* The executable behind top, which alone needs the terminal library. */
#include <errno.h>
#include <string.h>

#include "base/io.h"
#include "cmd/session.h"

int main(int argc, char **argv)
{
	struct err err;

	io_hold_standard_fds();
	if (argc > 1 && !strcmp(argv[1], "top"))
		return top_main(argc - 1, argv + 1);
	err_set(&err, EINVAL, "this program is run by tracer, not by itself");
	err_hint(&err, "as in 'tracer top'");
	return session_fail(&err, 2);
}
