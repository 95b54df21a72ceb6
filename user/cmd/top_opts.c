/* SPDX-License-Identifier: MIT */
#include "cmd/top_opts.h"

#include <errno.h>
#include <stddef.h>

#include "cmd/live_rows.h"

#define TOP_AT(field) .offset = offsetof(struct top_opts, field)

static const char *const tab_names[] = {
	[TOP_THREADS] = "threads", [TOP_LOCKS] = "locks", [TOP_PIPES] = "pipes",
	[TOP_CALLS] = "calls", [TOP_PROCESSES] = "processes", NULL
};

#define NOT_ASKED UINT64_MAX

static const struct cli_opt top_rows[] = {
	{ .name = "pid", .letter = 'p', .kind = CLI_PIDS, .arg = "PID[,PID]...",
	  .group = LIVE_GROUP_WHICH,
	  .help = "only these processes and what they start from now on, the same as giving "
		  "them as operands (default: all)", TOP_AT(pids) },
	{ .name = "comm", .kind = CLI_STRING, .arg = "REGEX", .group = LIVE_GROUP_WHICH,
	  .help = "only threads whose name matches this extended regular expression",
	  TOP_AT(comm) },
	{ .name = "cgroup", .kind = CLI_FILE, .arg = "PATH", .group = LIVE_GROUP_WHICH,
	  .help = "only processes in this control group (version 2) and below", TOP_AT(cgroup) },
	{ .name = "user", .letter = 'u', .kind = CLI_STRING, .arg = "USER",
	  .group = LIVE_GROUP_WHICH,
	  .help = "only processes of this user, by name or number, as they are at each refresh",
	  TOP_AT(user) },
	{ .name = "mode", .kind = CLI_ENUM, .arg = "MODE", .group = LIVE_GROUP_WHAT,
	  .help = "wait: only waits that really block, at no cost to system calls; exact: every "
		  "call counted and timed (default: wait)",
	  .values = live_mode_names, TOP_AT(mode) },
	{ .name = "ring", .kind = CLI_SIZE, .arg = "SIZE", .group = LIVE_GROUP_WHAT,
	  .help = "size of the ring buffers for events, all CPUs together (as in 32M; default: "
		  "1M)", TOP_AT(ring_bytes) },
	{ .name = "delay", .letter = 'd', .kind = CLI_DURATION, .arg = "TIME",
	  .group = LIVE_GROUP_SHOW,
	  .help = "from one refresh to the next, in seconds unless it says ms, m or h; 100ms at "
		  "least (default: 1)", TOP_AT(delay_ns) },
	{ .name = "iterations", .letter = 'n', .kind = CLI_UINT, .arg = "N",
	  .group = LIVE_GROUP_SHOW,
	  .help = "end after so many refreshes; 0: at q or ctrl-C (default: 0)",
	  TOP_AT(refreshes) },
	{ .name = "tab", .kind = CLI_ENUM, .arg = "TAB", .group = LIVE_GROUP_SHOW,
	  .help = "begin with threads, locks, pipes, calls or processes (default: threads); with "
		  "--batch: print this one", .values = tab_names, TOP_AT(tab) },
	{ .name = "sort", .letter = 'S', .kind = CLI_STRING, .arg = "COLUMN",
	  .group = LIVE_GROUP_SHOW,
	  .help = "sort by this column of the tab, by its heading in any case", TOP_AT(sort) },
	{ .name = "rows", .kind = CLI_UINT, .arg = "N", .group = LIVE_GROUP_SHOW,
	  .help = "with --batch and --json: most rows of a table; 0: all (default: 20)",
	  TOP_AT(rows) },
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,
	  .help = "auto, always or never (default: auto: on a terminal, unless NO_COLOR is set)",
	  .values = live_color_names, TOP_AT(color) },
	{ .name = "batch", .letter = 'b', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "print a table a refresh instead of a screen, for logs and pipes",
	  TOP_AT(batch) },
	{ .name = "json", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "print one JSON object a refresh, a line each, with all tabs", TOP_AT(json) },
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",
	  .group = LIVE_GROUP_WHERE,
	  .help = "write --batch and --json to FILE instead of stdout", TOP_AT(output) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "no notes on stderr", TOP_AT(quiet) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair top_examples[] = {
	{ "tracer top", "all threads of the machine, by CPU time" },
	{ "tracer top --tab locks $(pidof redis-server)", "which locks one process waits for" },
	{ "tracer top -b -n 5 -d 2", "five tables, two seconds apart, for a log" },
	{ "tracer top --json -n 1 | jq .locks", "one refresh for another program" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair top_exits[] = {
	{ "0", "ended by q, ctrl-C, -n or the end of all processes of -p" },
	{ "2", "usage, no such process, no privilege, no terminal, or output that could not be "
	       "written" },
	CLI_END_OF_PAIRS
};

static int top_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct top_opts o;
	int r = top_opts_parse(&o, argc, argv, err);

	(void)cmd;
	top_opts_release(&o);
	return r;
}

const struct cli_cmd top_cmd = {
	.name = "top",
	.summary = "watch live where threads wait",
	.usage = "[OPTION]... [PID]...",
	.text = "Shows threads, locks, pipes, system calls and processes, anew each second, until "
		"q is pressed. F1 or ? lists the keys, which are htop's where there is one for it. "
		"The processes are not stopped and not changed; threads of the kernel are not "
		"shown.\n"
		"\n"
		"Figures are those of the last refresh's interval, and with T those since tracing "
		"began. What was lost and what tracing itself costs stand on the second line.",
	.program = "tracer-top",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "pid",
	.opts = top_rows,
	.examples = top_examples,
	.exits = top_exits,
	.check = top_check,
};

static int top_agree(const struct top_opts *o, struct err *err)
{
	if (o->batch && o->json)
		return err_set(err, EINVAL, "--batch and --json exclude each other");
	if (o->output && !o->batch && !o->json)
		return err_set(err, EINVAL, "--output is for --batch and --json");
	if (o->rows != NOT_ASKED && !o->batch && !o->json)
		return err_set(err, EINVAL, "--rows is for --batch and --json");
	if (o->delay_ns < TOP_DELAY_MIN_NS)
		return err_set(err, EINVAL, "--delay: at least 100ms");
	if (o->ring_bytes > LIVE_RING_LARGEST)
		return err_set(err, EINVAL, "--ring: at most 2G");
	return 0;
}

int top_opts_parse(struct top_opts *o, int argc, char **argv, struct err *err)
{
	int first, i, r;

	*o = (struct top_opts){
		.mode = LIVE_MODE_WAIT,
		.delay_ns = TOP_DELAY_NS,
		.rows = NOT_ASKED,
	};
	r = cli_parse(&top_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	for (i = first; i < argc; i++) {
		r = cli_pids_add(&o->pids, argv[i], err);
		if (r) {
			err_hint(err, "'pidof NAME' or 'pgrep NAME' finds one");
			return r;
		}
	}
	r = top_agree(o, err);
	if (o->rows == NOT_ASKED)
		o->rows = TOP_ROWS_DEFAULT;
	return r;
}

void top_opts_release(struct top_opts *o)
{
	cli_pids_release(&o->pids);
}
