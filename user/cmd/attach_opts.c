/* SPDX-License-Identifier: MIT */
#include "cmd/live_rows.h"

static const struct cli_opt attach_opts[] = {
	{ .name = "pid", .letter = 'p', .kind = CLI_PIDS, .arg = "PID[,PID]...",
	  .group = LIVE_GROUP_WHAT,
	  .help = "trace these processes, the same as giving them as operands", LIVE_AT(pids) },
	LIVE_ROWS_WHAT("wait"),
	{ .name = "duration", .letter = 'd', .kind = CLI_DURATION, .arg = "TIME",
	  .group = LIVE_GROUP_WHAT,
	  .help = "detach and print after this long, in seconds unless it says ms, m or h "
		  "(default: when all processes have ended, or at ctrl-C)", LIVE_AT(duration_ns) },
	LIVE_ROWS_WHICH,
	LIVE_ROWS_SHOW,
	LIVE_ROWS_WHERE("to stdout"),
	LIVE_ROWS_OTHER,
	CLI_END_OF_OPTS
};

static const struct cli_pair attach_examples[] = {
	{ "tracer attach 4242", "what a running process waits for, until it ends or ctrl-C" },
	{ "tracer attach -d 10 $(pidof redis-server)", "for ten seconds" },
	{ "tracer attach --mode exact -d 1 4242", "with every system call counted and timed" },
	{ "tracer attach -d 5 --cgroup /system.slice/nginx.service", "all processes of a service" },
	{ "tracer attach -d 5 --comm '^worker-'",
	  "all threads of that name, whatever their process" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair attach_exits[] = {
	{ "0", "the summary was printed" },
	{ "2", "usage, no such process, no privilege, or the summary could not be written" },
	{ "128+N", "signal N came while the summary was printed" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd attach_cmd = {
	.name = "attach",
	.summary = "trace running processes and print where they wait",
	.usage = "[OPTION]... PID...",
	.text = "Attaches to processes that run already, with all their threads and what they "
		"start from then on, until they end, TIME is over or ctrl-C is pressed; then "
		"detaches and prints to stdout. The processes are not stopped and not changed.\n"
		"\n"
		"Without a PID, --cgroup or --comm says whom to trace.\n"
		"\n"
		LIVE_TEXT_LOCKS "\n"
		"\n"
		LIVE_TEXT_LIMITS,
	.program = "tracer-live",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "pid",
	.opts = attach_opts,
	.examples = attach_examples,
	.exits = attach_exits,
	.check = live_check,
};
