/* SPDX-License-Identifier: MIT */
#ifndef CMD_TOP_OPTS_H
#define CMD_TOP_OPTS_H

/* What the user of `top` asked for, and the command's rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

/* --tab, in the order in which they stand on the screen. */
enum top_tab { TOP_THREADS, TOP_LOCKS, TOP_PIPES, TOP_CALLS, TOP_PROCESSES, TOP_TABS };

struct top_opts {
	int mode;		/* enum live_mode */
	struct cli_pids pids;
	const char *cgroup;	/* NULL: not asked for */
	const char *comm;	/* regular expression for thread names, NULL */
	const char *user;	/* only this user's processes, NULL */
	uint64_t ring_bytes;	/* 0: the default */
	uint64_t delay_ns;	/* from refresh to refresh */
	uint64_t refreshes;	/* end after so many; 0: go on */
	int tab;		/* enum top_tab */
	const char *sort;	/* a column's name; NULL: the tab's own */
	bool batch, json;
	uint64_t rows;		/* batch and json: most rows of a table, 0: all */
	int color;		/* enum live_color */
	const char *output;	/* batch and json: file, NULL: stdout */
	bool quiet;
};

#define TOP_DELAY_NS 1000000000ull
#define TOP_DELAY_MIN_NS 100000000ull
#define TOP_ROWS_DEFAULT 20

extern const struct cli_cmd top_cmd;

/* As live_opts_parse. top_opts_release() in every case. */
int top_opts_parse(struct top_opts *o, int argc, char **argv, struct err *err);
void top_opts_release(struct top_opts *o);

#endif
