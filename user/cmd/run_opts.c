/* SPDX-License-Identifier: MIT */
#include "cmd/live_rows.h"

static const struct cli_opt run_opts[] = {
	LIVE_ROWS_WHAT("exact"),
	{ .name = "duration", .letter = 'd', .kind = CLI_DURATION, .arg = "TIME",
	  .group = LIVE_GROUP_WHAT,
	  .help = "stop tracing and print after this long, in seconds unless it says ms, m or h; "
		  "the command is left to run to its end", LIVE_AT(duration_ns) },
	{ .name = "user", .letter = 'u', .kind = CLI_STRING, .arg = "USER",
	  .group = LIVE_GROUP_WHAT,
	  .help = "run the command as this user, a name or a uid, with its groups", LIVE_AT(user) },
	LIVE_ROWS_WHICH,
	LIVE_ROWS_SHOW,
	LIVE_ROWS_WHERE("to stderr"),
	LIVE_ROWS_OTHER,
	CLI_END_OF_OPTS
};

static const struct cli_pair run_examples[] = {
	{ "tracer run ./app --its-own-options",
	  "trace a command to its end and print what it waited for" },
	{ "tracer run --stacks -- make -j2", "with the stacks that wait for each lock" },
	{ "tracer run -S calls -e %file ls -l",
	  "system calls that take a file name, most frequent first" },
	{ "tracer run --json -o run.json -- ./app", "for a program to read" },
	{ "tracer run --trace run.trace.json -- ./app",
	  "a timeline, to be opened in ui.perfetto.dev" },
	{ "tracer run -u www-data -d 30 -- ./server", "as another user, for half a minute" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair run_exits[] = {
	{ "N", "the command's own exit code" },
	{ "128+N", "the command was ended by signal N, or tracer while it printed" },
	{ "125", "tracer failed: a wrong option, no privilege, the summary could not be written" },
	{ "126", "the command was found but is not executable" },
	{ "127", "the command was not found" },
	{ "130", "a second ctrl-C: tracer detached and left the command running" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd run_cmd = {
	.name = "run",
	.summary = "trace a command and print where it waits",
	.usage = "[OPTION]... [--] COMMAND [ARG]...",
	.text = "Runs COMMAND and traces it with all its threads and children. When it ends, "
		"prints to stderr what was found: findings; threads and what they cost to create; "
		"locks and who waits for whom; pipes and which side holds the other up; system "
		"calls; scheduling.\n"
		"\n"
		"The command keeps its stdin, stdout, terminal, process group and exit code. A "
		"ctrl-C reaches it as it would without tracer; tracer waits for it and prints. A "
		"second ctrl-C detaches and leaves it running; while the summary is printed, it "
		"ends tracer. SIGTERM is passed on.\n"
		"\n"
		LIVE_TEXT_LOCKS "\n"
		"\n"
		LIVE_TEXT_LIMITS,
	.program = "tracer-live",
	.exit_error = 125,	/* as env(1), to be told from the command's own code */
	.operands = CLI_OPERANDS_COMMAND,
	.operand = "command",
	.opts = run_opts,
	.examples = run_examples,
	.exits = run_exits,
	.check = live_check,
};
