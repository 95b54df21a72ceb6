/* SPDX-License-Identifier: MIT */
#include "cmd/record_opts.h"

#include <errno.h>
#include <stddef.h>

#define RECORD_AT(field) .offset = offsetof(struct record_opts, field)
#define REPLAY_AT(field) .offset = offsetof(struct replay_opts, field)
#define GROUP_WHERE "Where it goes"
#define GROUP_WHAT "What is done"
#define GROUP_OTHER "Other"

static const struct cli_opt record_rows[] = {
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "DIR", .group = GROUP_WHERE,
	  .help = "record into DIR, which must not be there (default: a new one in "
		  "tracer/recordings under XDG_DATA_HOME)", RECORD_AT(output) },
	{ .name = "user", .letter = 'u', .kind = CLI_STRING, .arg = "USER", .group = GROUP_WHAT,
	  .help = "run the command as this user, a name or a uid, with its groups (default: "
		  "who called sudo)", RECORD_AT(user) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = GROUP_WHERE,
	  .help = "no notes on stderr", RECORD_AT(quiet) },
	{ .name = "checksum", .letter = 'C', .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "sums of all memory that can be written go in behind each call, and a replay "
		  "compares them: slow, to find out where one goes wrong", RECORD_AT(checksum) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair record_examples[] = {
	{ "sudo tracer record ./app --option", "record a program; it runs as you, not as root" },
	{ "sudo tracer record -o crash -- ./app", "into a directory of that name" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair record_exits[] = {
	{ "N", "the command's own; 128+N: signal N ended it" },
	{ "125", "it could not be recorded; what was recorded up to there replays" },
	CLI_END_OF_PAIRS
};

static int record_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct record_opts o;

	(void)cmd;
	return record_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd record_cmd = {
	.name = "record",
	.summary = "record a program, to be replayed instruction for instruction",
	.usage = "[OPTION]... [--] COMMAND [ARG]...",
	.text = "Runs COMMAND and records what it got to see: results of system calls, signals, "
		"and which thread ran when. 'tracer replay' runs it again just so, as often as "
		"needed and without root.\n"
		"\n"
		"The program is not stopped at its calls, and no hardware counter is needed. It "
		"runs on one CPU, without random addresses, and reads its clock by system calls.\n"
		"\n"
		"Not replayed as yet, and told so at replay: a thread that lost its CPU in the "
		"midst of a computation while another of its process ran, and a signal that met "
		"one there.",
	.program = "tracer-record",
	.operands = CLI_OPERANDS_COMMAND,
	.operand = "command",
	.opts = record_rows,
	.examples = record_examples,
	.exits = record_exits,
	.exit_error = 125,
	.check = record_check,
};

int record_opts_parse(struct record_opts *o, int argc, char **argv, struct err *err)
{
	int first, r;

	*o = (struct record_opts){ 0 };
	r = cli_parse(&record_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	if (first == argc) {
		r = err_set(err, EINVAL, "no command is given");
		err_hint(err, "as in 'sudo tracer record -- ls -l'");
		return r;
	}
	o->argv = argv + first;
	return 0;
}

static const struct cli_opt replay_rows[] = {
	{ .name = "autopilot", .letter = 'a', .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "run to the end without a debugger, print what the program printed, and exit "
		  "as it did", REPLAY_AT(run) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair replay_examples[] = {
	{ "tracer replay -a", "the newest recording" },
	{ "tracer replay -a crash", "that in the directory crash" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair replay_exits[] = {
	{ "N", "with -a, as the recorded program: its exit code, 128+N for signal N" },
	{ "2", "usage, the replay diverged from the recording, or it cannot be replayed" },
	CLI_END_OF_PAIRS
};

static int replay_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct replay_opts o;

	return replay_opts_parse(&o, cmd, argc, argv, err);
}

const struct cli_cmd replay_cmd = {
	.name = "replay",
	.summary = "run a recorded program again, exactly as it ran",
	.usage = "[OPTION]... [DIR]",
	.text = "Runs what 'tracer record' recorded into DIR, or the newest recording: each "
		"instruction again, with the recorded results of each system call and none of "
		"their effects. Where the program does not do what it did, the replay ends and "
		"says at which event, what was recorded and what came.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = replay_rows,
	.examples = replay_examples,
	.exits = replay_exits,
	.check = replay_check,
};

static const struct cli_opt reading_rows[] = {
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_opt ls_rows[] = {
	{ .name = "json", .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "print JSON instead of a table", REPLAY_AT(json) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair reading_exits[] = {
	{ "0", "done" },
	{ "2", "usage, or a recording that is not there or damaged" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair dump_examples[] = {
	{ "tracer dump | less", "the events of the newest recording" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd dump_cmd = {
	.name = "dump",
	.summary = "print the events of a recording",
	.usage = "[DIR]",
	.text = "Prints what is in a recording, the newest or that in DIR, a line for each event: "
		"its number, the thread, and what happened. Memory is told by its size.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = reading_rows,
	.examples = dump_examples,
	.exits = reading_exits,
	.check = replay_check,
};

static const struct cli_pair ps_examples[] = {
	{ "tracer ps crash", "who ran in the recording in the directory crash" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd ps_cmd = {
	.name = "ps",
	.summary = "list the threads and processes of a recording",
	.usage = "[DIR]",
	.text = "Lists who ran in a recording, the newest or that in DIR: id, who made it, exit "
		"code or signal, and its program where it made an execve.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = reading_rows,
	.examples = ps_examples,
	.exits = reading_exits,
	.check = replay_check,
};

static const struct cli_pair ls_examples[] = {
	{ "tracer ls", "what has been recorded, the newest first" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd ls_cmd = {
	.name = "ls",
	.summary = "list the recordings there are",
	.usage = "[OPTION]...",
	.text = "Lists the recordings below XDG_DATA_HOME, the newest first: when each began, its "
		"size with the files in it, events, how the program ended, the directory and the "
		"command. One that is still made is running; cut is one whose recorder was "
		"killed, and error one that could not be recorded to its end: up to there both "
		"replay.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_NONE,
	.opts = ls_rows,
	.examples = ls_examples,
	.exits = reading_exits,
	.check = replay_check,
};

int replay_opts_parse(struct replay_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		      struct err *err)
{
	int first, r;

	*o = (struct replay_opts){ 0 };
	r = cli_parse(cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	if (argc - first > 1)
		return err_set(err, EINVAL, "more than one recording is given: %s and %s",
			       argv[first], argv[first + 1]);
	if (cmd == &replay_cmd && !o->run) {
		r = err_set(err, EINVAL, "a replay under a debugger is not there yet");
		err_hint(err, "'tracer replay -a' replays the newest recording to its end");
		return r;
	}
	o->dir = first < argc ? argv[first] : NULL;
	return 0;
}
