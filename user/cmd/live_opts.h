/* SPDX-License-Identifier: MIT */
#ifndef CMD_LIVE_OPTS_H
#define CMD_LIVE_OPTS_H

/* What the user of `run` and `attach` asked for, and the commands' rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

enum live_mode { LIVE_MODE_WAIT, LIVE_MODE_EXACT };	/* as enum sum_mode */

/* Bits of .collect, as SUM_SYSCALLS … SUM_SCHED of out/summary.h. */
#define LIVE_COLLECT_ALL 0x1fu
#define LIVE_COLLECT_FUTEX 2	/* the bit's number */

/* -S: order of the system call table; the rest names the columns it sorts by. */
enum live_sort {
	LIVE_SORT_TIME,		/* total wall time, the default */
	LIVE_SORT_CPU,
	LIVE_SORT_CALLS,
	LIVE_SORT_ERRORS,
	LIVE_SORT_MEAN,
	LIVE_SORT_P50,
	LIVE_SORT_P99,
	LIVE_SORT_MAX,
	LIVE_SORT_NAME,		/* A to Z; all others largest first */
	LIVE_SORT_NOTHING,	/* by system call number */
};

enum live_color { LIVE_COLOR_AUTO, LIVE_COLOR_ALWAYS, LIVE_COLOR_NEVER };

struct live_opts {
	int mode;		/* enum live_mode */
	unsigned int collect;	/* bits */
	struct cli_pids pids;	/* attach: operands and -p */
	const char *cgroup;	/* NULL: not asked for */
	const char *comm;	/* regular expression for thread names, NULL */
	struct cli_list calls;	/* -e: as written, "trace=" cut off */
	struct cli_list paths;	/* -P */
	uint64_t ring_bytes;	/* 0: the default */
	uint64_t duration_ns;	/* 0: until it ends */
	const char *user;	/* run: user to run the command as, NULL */
	bool start_routine;	/* time the start routine by uprobe */
	bool stacks, threads;	/* views */
	bool debuginfod;	/* ask its servers for debug files */
	int sort;		/* enum live_sort */
	uint64_t rows;		/* most rows a table, 0: all */
	int color;		/* enum live_color */
	bool json, csv, folded;
	const char *trace;	/* file for the timeline, NULL */
	const char *output;	/* file for the summary, NULL: stderr (run), stdout (attach) */
	bool quiet;		/* no progress, no notes: the summary alone */
	int argc;		/* run: the command line, argv[argc] is NULL */
	char **argv;
};

#define LIVE_ROWS_DEFAULT 10
#define LIVE_RING_LARGEST ((uint64_t)1 << 31)	/* the kernel takes no larger ring */

extern const struct cli_cmd run_cmd, attach_cmd;

/*
 * Parses a command's arguments, argv[0] being "run" or "attach", and checks
 * what rows cannot: a command or something to attach to is there, --json,
 * --csv and --folded exclude each other. Returns 0, CLI_WANTS_HELP, or a negative errno with
 * the error filled. live_opts_release() in every case.
 */
int live_opts_parse(struct live_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		    struct err *err);
void live_opts_release(struct live_opts *o);
/* For .check of the rows: parses and lets go. */
int live_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err);

#endif
