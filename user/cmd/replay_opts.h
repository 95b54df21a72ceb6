/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPLAY_OPTS_H
#define CMD_REPLAY_OPTS_H

/* What the users of `replay` and of what reads recordings asked for, and the commands' rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

struct replay_opts {
	bool run;		/* -a: to the end, with its output */
	bool json;		/* of ls */
	bool quiet;		/* of pack */
	const char *dir;	/* NULL: the newest */
	uint64_t port, event, pid, fork_pid;	/* 0: not given */
	const char *commands;	/* a file, or NULL */
	char **gdb_args;	/* behind "--", up to NULL; or NULL */
};

extern const struct cli_cmd replay_cmd, dump_cmd, ps_cmd, ls_cmd, pack_cmd;

/* Of @cmd, one of these. As export_opts_parse. */
int replay_opts_parse(struct replay_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		      struct err *err);

#endif
