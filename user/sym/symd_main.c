/* SPDX-License-Identifier: MIT */
/*
 * tracer-sym [-n] [-u UID -g GID]: names addresses and unwinds stacks for its
 * parent, which is at descriptor 3; with -n without source lines. Not for people to start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sym/symd.h"

static bool number(const char *s, unsigned int *out)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	*out = (unsigned int)v;
	return *s >= '0' && *s <= '9' && !*end && v < 0xffffffffu;
}

int main(int argc, char **argv)
{
	unsigned int uid = 0, gid = 0;
	bool good = true, lines = true;
	int c;

	while ((c = getopt(argc, argv, "nu:g:")) != -1) {
		if (c == 'n')
			lines = false;
		else if (c == 'u')
			good &= number(optarg, &uid);
		else if (c == 'g')
			good &= number(optarg, &gid);
		else
			good = false;
	}
	if (!good || optind != argc || isatty(SYMD_FD)) {
		fputs("tracer-sym: started by tracer, not by hand\n", stderr);
		return 2;
	}
	if (symd_box(uid, gid))
		return 2;
	return symd_serve(SYMD_FD, lines) ? 2 : 0;
}
