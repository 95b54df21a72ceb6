/* SPDX-License-Identifier: MIT */
#ifndef CMD_EXPORT_OPTS_H
#define CMD_EXPORT_OPTS_H

/* What the user of `export` asked for, and the command's rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

/* --to, in the order of export_format_names. */
enum export_format {
	EXPORT_PERFETTO, EXPORT_FOLDED, EXPORT_PPROF, EXPORT_CSV, EXPORT_TABLE, EXPORT_JSON
};

struct export_opts {
	int to;			/* enum export_format */
	int weight;		/* enum out_weight of out/out.h; -1: not asked for */
	int csv_table;		/* -1: all */
	bool stacks, threads;
	int sort;		/* enum live_sort; -1: not asked for */
	uint64_t rows;		/* UINT64_MAX: not asked for */
	int color;		/* enum live_color */
	const char *output;	/* NULL: stdout */
	bool quiet;
	const char *input;	/* NULL or "-": stdin */
};

/* The largest file that is read. */
#define EXPORT_FILE_BYTES ((uint64_t)512 << 20)

extern const char *const export_format_names[];
extern const struct cli_cmd export_cmd;

/* The name of --csv-table; NULL: all. */
const char *export_csv_table(const struct export_opts *o);

/* As live_opts_parse; there is nothing to release. */
int export_opts_parse(struct export_opts *o, int argc, char **argv, struct err *err);

#endif
