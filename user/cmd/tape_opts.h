/* SPDX-License-Identifier: MIT */
#ifndef CMD_TAPE_OPTS_H
#define CMD_TAPE_OPTS_H

/* What the user of `tape` asked for, and the command's rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

struct tape_opts {
	/* Selectors: NULL or false when not given. */
	const char *pattern, *chars, *lines, *fields, *external, *sed, *awk;
	bool only_matching, onig, csv, invert, nul, unquote;
	const char *delimiter, *delimiter_re;
	uint64_t before, after, context;	/* UINT64_MAX: not given */
	uint64_t header;
	/* The command. */
	bool each, chomp, status, stats, quiet;
	const char *placeholder;
	uint64_t jobs;
	char **command;		/* ends with NULL; NULL: none */
};

/* -j: commands at a time. */
#define TAPE_JOBS_MAX 64

extern const struct cli_cmd tape_cmd;

/* As live_opts_parse; there is nothing to release. */
int tape_opts_parse(struct tape_opts *o, int argc, char **argv, struct err *err);

#endif
