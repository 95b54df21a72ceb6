/* SPDX-License-Identifier: MIT */
#ifndef CMD_RECORD_OPTS_H
#define CMD_RECORD_OPTS_H

/* What the users of `record` and `replay` asked for, and the commands' rows. */
#include <stdbool.h>

#include "cli/opts.h"

struct record_opts {
	const char *output;	/* NULL: below XDG_DATA_HOME */
	const char *user;	/* runs the command; NULL: who called */
	bool quiet, checksum;
	char **argv;		/* of the command */
};

struct replay_opts {
	bool run;		/* -a: to the end, with its output */
	bool json;		/* of ls */
	const char *dir;	/* NULL: the newest */
};

extern const struct cli_cmd record_cmd, replay_cmd, dump_cmd, ps_cmd, ls_cmd;

/* As export_opts_parse. */
int record_opts_parse(struct record_opts *o, int argc, char **argv, struct err *err);
/* Of @cmd: replay, dump, ps or ls. */
int replay_opts_parse(struct replay_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		      struct err *err);

#endif
