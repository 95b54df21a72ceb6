/* SPDX-License-Identifier: MIT */
#ifndef CMD_BENCH_H
#define CMD_BENCH_H

/* What a bench is made of: for user/cmd/bench*.c alone. */
#include <signal.h>

#include "base/caller.h"
#include "cli/cmdline.h"
#include "cmd/bench_opts.h"
#include "collect/machine.h"
#include "collect/measure.h"
#include "store/store.h"

struct bench_side {
	char **argv;
	struct store_bench bench;
	struct buf argv_json;
};

struct bench {
	const struct bench_opts *o;
	struct caller caller;		/* who called, whose the output is */
	struct caller store_caller;	/* whose the store is */
	struct store *store;
	enum measure_how how;
	struct live *trace;		/* from run to run */
	struct bench_side side[2];	/* STORE_COMMAND; with --vs STORE_BASELINE */
	size_t nside;
	struct cmdline vs;
	struct machine machine;
	char commit[MACHINE_COMMIT + 1];
	bool dirty;
	char cwd[4096], libexec[4096];
	sigset_t old_mask;
	int signal_fd;			/* -1: none */
	bool whole;			/* all runs are over */
	struct err cleanup;		/* what --cleanup came to */
	int stopped;			/* signal that ends it early; 0: none */
	uint64_t order;			/* of the next run */
	bool progress;			/* stderr is a terminal that is told */
	uint64_t began_ns;
};

/* Opens the store and looks at where this is; nothing runs yet. 0 or -errno. */
int bench_open(struct bench *b, const struct bench_opts *o, struct err *err);
/* Runs it all, and stores each run when it is over. 0, also when stopped, or -errno. */
int bench_run(struct bench *b, struct err *err);
/* Prints what was stored: 0, 1 where the command is worse than the baseline, -errno. */
int bench_show(struct bench *b, struct err *err);
void bench_close(struct bench *b);

/* A line to stderr, unless --quiet. */
void bench_note(const struct bench *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Of a terminal: how far it is; NULL: the line goes. */
void bench_progress(const struct bench *b, const char *what, uint64_t done, uint64_t all);

#endif
