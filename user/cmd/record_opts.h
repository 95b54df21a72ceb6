/* SPDX-License-Identifier: MIT */
#ifndef CMD_RECORD_OPTS_H
#define CMD_RECORD_OPTS_H

/* What the user of `record` asked for, and the command's rows. */
#include <stdbool.h>

#include "cli/opts.h"

struct record_opts {
	const char *output;	/* NULL: below XDG_DATA_HOME */
	const char *user;	/* runs the command; NULL: who called */
	bool quiet, checksum;
	char **argv;		/* of the command */
};

extern const struct cli_cmd record_cmd;

/* As export_opts_parse. */
int record_opts_parse(struct record_opts *o, int argc, char **argv, struct err *err);

#endif
