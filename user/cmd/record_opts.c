/* SPDX-License-Identifier: MIT */
#include "cmd/record_opts.h"

#include <errno.h>
#include <stddef.h>

#define RECORD_AT(field) .offset = offsetof(struct record_opts, field)
#define GROUP_WHERE "Where it goes"
#define GROUP_WHAT "What is done"
#define GROUP_OTHER "Other"

static const struct cli_opt record_rows[] = {
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "DIR", .group = GROUP_WHERE,
	  .help = "record into DIR, which must not be there (default: a new one in "
		  "tracer/recordings under XDG_DATA_HOME)", RECORD_AT(output) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = GROUP_WHERE,
	  .help = "no notes on stderr", RECORD_AT(quiet) },
	{ .name = "user", .letter = 'u', .kind = CLI_STRING, .arg = "USER", .group = GROUP_WHAT,
	  .help = "run the command as this user, a name or a uid, with its groups (default: "
		  "who called sudo)", RECORD_AT(user) },
	{ .name = "checksum", .letter = 'C', .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "sums of all memory that can be written go in behind each call, and a replay "
		  "compares them: slow, to find out where one goes wrong", RECORD_AT(checksum) },
	{ .name = "no-syscall-buffer", .letter = 'n', .kind = CLI_NOOP, .group = GROUP_OTHER,
	  .help = "accepted for rr's sake: nothing is put into the program that could be "
		  "left out" },
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
	{ "2", "DIR is there already" },
	{ "125", "it could not be recorded, or not to its end; what was recorded up to there "
		 "replays" },
	{ "126", "the command was found but is not executable" },
	{ "127", "the command was not found" },
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
		"Refused, by name: 32-bit code, ptrace, and system calls and ioctls whose effects "
		"are not known. Absent for the program: io_uring, aio, rseq and userfaultfd. What "
		"others write into memory that they share with it is not seen, and told when it "
		"is mapped.",
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
