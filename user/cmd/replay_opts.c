/* SPDX-License-Identifier: MIT */
#include "cmd/replay_opts.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define REPLAY_AT(field) .offset = offsetof(struct replay_opts, field)
#define GROUP_WHERE "Where it begins"
#define GROUP_WHAT "What is done"
#define GROUP_OTHER "Other"

static const struct cli_opt replay_rows[] = {
	{ .name = "autopilot", .letter = 'a', .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "run to the end without a debugger, print what the program printed, and exit "
		  "as it did", REPLAY_AT(run) },
	{ .name = "port", .letter = 's', .kind = CLI_UINT, .arg = "PORT", .group = GROUP_WHAT,
	  .help = "start no gdb, and wait for one at this port of the local host",
	  REPLAY_AT(port) },
	{ .name = "commands", .letter = 'x', .kind = CLI_FILE, .arg = "FILE",
	  .group = GROUP_WHAT, .help = "commands of gdb to begin with", REPLAY_AT(commands) },
	{ .name = "goto", .letter = 'g', .kind = CLI_UINT, .arg = "EVENT", .group = GROUP_WHERE,
	  .help = "begin at this event ('tracer dump' numbers them)", REPLAY_AT(event) },
	{ .name = "onprocess", .letter = 'p', .kind = CLI_UINT, .arg = "PID",
	  .group = GROUP_WHERE, .help = "debug this process, from its execve on ('tracer ps' "
		  "lists them; default: the first)", REPLAY_AT(pid) },
	{ .name = "onfork", .letter = 'f', .kind = CLI_UINT, .arg = "PID", .group = GROUP_WHERE,
	  .help = "debug this process, from the fork on that made it", REPLAY_AT(fork_pid) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair replay_examples[] = {
	{ "tracer replay", "debug the newest recording by gdb, forwards and backwards" },
	{ "tracer replay -a crash", "run that in the directory crash to its end" },
	{ "tracer replay -a app-3", "run one of those that 'tracer ls' lists" },
	{ "tracer replay crash -- -batch -x script", "with arguments for gdb" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair replay_exits[] = {
	{ "N", "with -a, as the recorded program: its exit code, 128+N for signal N" },
	{ "N", "without, as gdb" },
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
	.usage = "[OPTION]... [DIR] [-- GDB-OPTION...]",
	.text = "Runs what 'tracer record' recorded into DIR, a path or a name that 'tracer ls' "
		"lists, or the newest recording: each instruction again, with the recorded results "
		"of each system call and none of their effects. Where the program does not do what "
		"it did, the replay ends and says at which event, what was recorded and what "
		"came.\n"
		"\n"
		"Without -a, gdb is started on the replay. Its commands to go backwards work: "
		"reverse-continue, reverse-step, reverse-next, reverse-finish. Besides, 'when' "
		"prints the event that is replayed, 'run N' goes to event N, 'checkpoint' "
		"remembers a point and 'restart N' goes back to it. What gdb writes, and functions "
		"that it calls, change a copy of the process that is thrown away.",
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

static const struct cli_opt pack_rows[] = {
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = GROUP_WHAT,
	  .help = "no notes on stderr, but of files that could not be packed",
	  REPLAY_AT(quiet) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair pack_examples[] = {
	{ "tracer pack", "the newest recording is all that its replay needs" },
	{ "tracer pack crash && tar czf crash.tgz crash", "for another machine" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair pack_exits[] = {
	{ "0", "the recording has all files that its replay needs" },
	{ "1", "some could not be packed, and were told; the others are" },
	{ "2", "usage, a recording that is not there or damaged, or no room: nothing changed" },
	CLI_END_OF_PAIRS
};

const struct cli_cmd pack_cmd = {
	.name = "pack",
	.summary = "copy into a recording all files that its replay needs",
	.usage = "[OPTION]... [DIR]",
	.text = "A recording, the newest or that in DIR, has copies of the files that the program "
		"mapped, but for those below /usr, /lib, /lib64, /bin and /sbin: programs and "
		"libraries of the system, which it knows by name, size and time. Once such a file "
		"is replaced, an upgrade say, the recording replays no longer. This copies them "
		"into it too, and takes sums of all copies, by which a replay finds damage.\n"
		"\n"
		"What is packed can be taken to another machine. Its processor should be of the "
		"same model: programs ask it what it can do. Packing again is no harm, and mends "
		"copies that are damaged while the originals are there.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = pack_rows,
	.examples = pack_examples,
	.exits = pack_exits,
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
		"size with the files in it, events, how the program ended, whether 'tracer pack' "
		"made it independent of the system's files, the directory and the command. One "
		"that is still made is running; cut is one whose recorder was killed, and error "
		"one that could not be recorded to its end: up to there both replay.",
	.program = "tracer-replay",
	.operands = CLI_OPERANDS_NONE,
	.opts = ls_rows,
	.examples = ls_examples,
	.exits = reading_exits,
	.check = replay_check,
};

/* What is behind "--" is gdb's. */
static void split_gdb_args(struct replay_opts *o, int *argc, char **argv)
{
	for (int i = 1; i < *argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		o->gdb_args = argv + i + 1;
		*argc = i;
		return;
	}
}

int replay_opts_parse(struct replay_opts *o, const struct cli_cmd *cmd, int argc, char **argv,
		      struct err *err)
{
	int first, r;

	*o = (struct replay_opts){ 0 };
	if (cmd == &replay_cmd)
		split_gdb_args(o, &argc, argv);
	r = cli_parse(cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	if (argc - first > 1)
		return err_set(err, EINVAL, "more than one recording is given: %s and %s",
			       argv[first], argv[first + 1]);
	if (o->pid && o->fork_pid)
		return err_set(err, EINVAL, "--onprocess and --onfork are given both");
	if (o->pid > UINT32_MAX || o->fork_pid > UINT32_MAX || o->port > UINT16_MAX)
		return err_set(err, EINVAL, "there is no such process or port");
	if (o->run && (o->pid || o->fork_pid || o->port || o->event || o->commands ||
		       o->gdb_args))
		return err_set(err, EINVAL, "--autopilot runs without a debugger, and takes none "
			       "of its options");
	o->dir = first < argc ? argv[first] : NULL;
	return 0;
}
