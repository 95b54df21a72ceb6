/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPORT_OPTS_H
#define CMD_REPORT_OPTS_H

/* What the user of `report` asked for, and the command's rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

/* --format, in the order of its names; -1: not asked for. */
enum report_format {
	REPORT_TEXT, REPORT_JSON, REPORT_HTML, REPORT_MARKDOWN, REPORT_JUNIT, REPORT_FORMATS
};

struct report_opts {
	const char *base, *now;		/* operands; NULL */
	int format;			/* enum report_format */
	const char *store;		/* file or URL; NULL: the default */
	const char *history;		/* a metric; NULL */
	const char *import;		/* a file; NULL */
	const char *label;		/* for the two before; NULL */
	bool list, forget;
	bool strict, all, json, quiet;
	uint64_t rows;
	int color;			/* enum live_color */
	const char *output;		/* NULL: stdout */
};

extern const char *const report_format_names[];
extern const struct cli_cmd report_cmd;

/* As live_opts_parse; there is nothing to release. */
int report_opts_parse(struct report_opts *o, int argc, char **argv, struct err *err);

#endif
