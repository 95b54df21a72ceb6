/* SPDX-License-Identifier: MIT */
#ifndef CMD_DOCTOR_OPTS_H
#define CMD_DOCTOR_OPTS_H

/* What the user of `doctor` asked for, and the command's rows. */
#include <stdbool.h>

#include "cli/opts.h"

struct doctor_opts {
	int color;		/* enum live_color */
	bool json;
	const char *output;	/* file, NULL: stdout */
};

extern const struct cli_cmd doctor_cmd;

/* As live_opts_parse; there is nothing to release. */
int doctor_opts_parse(struct doctor_opts *o, int argc, char **argv, struct err *err);

#endif
