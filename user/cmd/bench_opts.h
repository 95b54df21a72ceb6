/* SPDX-License-Identifier: MIT */
#ifndef CMD_BENCH_OPTS_H
#define CMD_BENCH_OPTS_H

/* What the user of `bench` asked for, and the command's rows. */
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"

/* --mode, in the order of its names. */
enum bench_mode {
	BENCH_AUTO,	/* exact, or times where tracing is not allowed */
	BENCH_EXACT, BENCH_WAIT, BENCH_TIMES
};

struct bench_opts {
	uint64_t runs, warmup;
	const char *setup, *prepare, *cleanup;	/* commands for sh; NULL */
	const char *vs;			/* the baseline's command line; NULL */
	const char *label, *vs_label;	/* NULL: none */
	const char *store;		/* file or URL; NULL: the default */
	const char *user;		/* run the commands as this user; NULL */
	int mode;			/* enum bench_mode */
	bool ignore_failure, show_output;
	bool json, quiet;
	int color;			/* enum live_color */
	const char *output;		/* NULL: stdout */
	int argc;
	char **argv;			/* the command line; argv[argc] is NULL */
};

#define BENCH_RUNS 10

extern const struct cli_cmd bench_cmd;

/* As live_opts_parse; there is nothing to release. */
int bench_opts_parse(struct bench_opts *o, int argc, char **argv, struct err *err);

#endif
