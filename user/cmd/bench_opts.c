/* SPDX-License-Identifier: MIT */
#include "cmd/bench_opts.h"

#include <errno.h>
#include <stddef.h>

#include "cmd/live_rows.h"

#define BENCH_AT(field) .offset = offsetof(struct bench_opts, field)

#define GROUP_RUNS "What is run"
#define GROUP_MEASURE "What is measured"
#define GROUP_STORE "Where runs are kept"

static const char *const mode_names[] = {
	[BENCH_AUTO] = "auto", [BENCH_EXACT] = "exact", [BENCH_WAIT] = "wait",
	[BENCH_TIMES] = "times", NULL
};

static const struct cli_opt bench_rows[] = {
	{ .name = "runs", .letter = 'n', .kind = CLI_UINT, .arg = "N", .group = GROUP_RUNS,
	  .help = "runs of the command, and as many of the baseline (default: 10)",
	  BENCH_AT(runs) },
	{ .name = "warmup", .letter = 'w', .kind = CLI_UINT, .arg = "N", .group = GROUP_RUNS,
	  .help = "runs before them, which are stored and not compared (default: 0)",
	  BENCH_AT(warmup) },
	{ .name = "vs", .kind = CLI_STRING, .arg = "COMMAND", .group = GROUP_RUNS,
	  .help = "a baseline that takes turns with the command: words with quotes as for a "
		  "shell, run without one; the two are compared at the end", BENCH_AT(vs) },
	{ .name = "setup", .letter = 's', .kind = CLI_STRING, .arg = "COMMAND",
	  .group = GROUP_RUNS, .help = "run by sh once, before all", BENCH_AT(setup) },
	{ .name = "prepare", .letter = 'p', .kind = CLI_STRING, .arg = "COMMAND",
	  .group = GROUP_RUNS, .help = "run by sh before each run, and not measured",
	  BENCH_AT(prepare) },
	{ .name = "cleanup", .letter = 'c', .kind = CLI_STRING, .arg = "COMMAND",
	  .group = GROUP_RUNS, .help = "run by sh once, after all", BENCH_AT(cleanup) },
	{ .name = "ignore-failure", .letter = 'i', .kind = CLI_FLAG, .group = GROUP_RUNS,
	  .help = "go on where a run does not exit with 0", BENCH_AT(ignore_failure) },
	{ .name = "show-output", .kind = CLI_FLAG, .group = GROUP_RUNS,
	  .help = "leave the command its standard input and output, which are /dev/null else",
	  BENCH_AT(show_output) },
	{ .name = "user", .letter = 'u', .kind = CLI_STRING, .arg = "USER", .group = GROUP_RUNS,
	  .help = "run the command as this user (needs root)", BENCH_AT(user) },
	{ .name = "mode", .kind = CLI_ENUM, .arg = "MODE", .group = GROUP_MEASURE,
	  .help = "exact: count every system call, lock and pipe, which adds to each call; wait: "
		  "only what blocks, at no cost to calls; times: nothing is traced, for anybody; "
		  "auto: exact, or times where tracing is not allowed (default: auto)",
	  .values = mode_names, BENCH_AT(mode) },
	{ .name = "label", .letter = 'l', .kind = CLI_STRING, .arg = "NAME", .group = GROUP_STORE,
	  .help = "a name to compare by", BENCH_AT(label) },
	{ .name = "vs-label", .kind = CLI_STRING, .arg = "NAME", .group = GROUP_STORE,
	  .help = "the same for the baseline", BENCH_AT(vs_label) },
	{ .name = "store", .kind = CLI_FILE, .arg = "FILE|URL", .group = GROUP_STORE,
	  .help = "an SQLite file, or postgresql://... (default: tracer/runs.db under "
		  "XDG_DATA_HOME)", BENCH_AT(store) },
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,
	  .help = "of the comparison with --vs: auto, always or never (default: auto: on a "
		  "terminal, unless NO_COLOR is set)",
	  .values = live_color_names, BENCH_AT(color) },
	{ .name = "json", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "print the runs as JSON; with --vs the comparison", BENCH_AT(json) },
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",
	  .group = LIVE_GROUP_WHERE, .help = "write to FILE instead of stdout",
	  BENCH_AT(output) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "no progress and no notes", BENCH_AT(quiet) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair bench_examples[] = {
	{ "sudo tracer bench -l main -- ./app --once", "ten runs, stored as 'main'" },
	{ "sudo tracer bench -l change -- ./app --once && tracer report main change",
	  "ten runs of a changed program, and whether it got worse" },
	{ "sudo tracer bench --vs './app-old --once' -- ./app-new --once",
	  "two programs that take turns, compared at the end" },
	{ "tracer bench --mode times -n 30 -w 3 -- sort big.txt", "times alone, without root" },
	{ "sudo tracer bench -p 'sync; echo 3 >/proc/sys/vm/drop_caches' -- ./app",
	  "each run with cold caches" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair bench_exits[] = {
	{ "0", "done; with --vs, nothing is worse" },
	{ "1", "with --vs: the command is worse than the baseline" },
	{ "2", "usage, a command that failed, or runs that could not be stored" },
	{ "130", "ended by ctrl-C; the runs that were over are stored (129 and 143: by SIGHUP and "
	  "SIGTERM)" },
	CLI_END_OF_PAIRS
};

static int bench_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct bench_opts o;

	(void)cmd;
	return bench_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd bench_cmd = {
	.name = "bench",
	.summary = "run a program many times and store what each run took",
	.usage = "[OPTION]... -- COMMAND [ARG]...",
	.text = "Runs COMMAND again and again, and stores of each run what it took: times, memory, "
		"and, where tracing is allowed (root, or CAP_BPF and CAP_PERFMON), each system "
		"call, wait, wake, thread and chunk as a count. 'tracer report BASE NEW' compares "
		"what was stored. Counts barely vary from run to run: a change that times show in "
		"fifty runs they show in five.\n"
		"\n"
		"A run is stored as soon as it is over: what breaks off a bench loses no finished "
		"run. With --vs the two commands take turns, so that what else the machine does "
		"meets both.\n"
		"\n"
		"Mode exact adds some 250 ns to each system call, the same to both sides of a "
		"comparison. For times of a program that makes millions of calls, take --mode wait "
		"or times.",
	.program = "tracer-bench",
	.operands = CLI_OPERANDS_COMMAND,
	.operand = "command",
	.opts = bench_rows,
	.examples = bench_examples,
	.exits = bench_exits,
	.check = bench_check,
};

int bench_opts_parse(struct bench_opts *o, int argc, char **argv, struct err *err)
{
	int first, r;

	*o = (struct bench_opts){ .runs = BENCH_RUNS };
	r = cli_parse(&bench_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	o->argc = argc - first;
	o->argv = argv + first;
	if (!o->argc) {
		r = err_set(err, EINVAL, "no command is given");
		err_hint(err, "as in 'tracer bench -- ls -l'; 'tracer bench --help' shows more");
		return r;
	}
	/* Their sum is a number too. */
	if (!o->runs || o->runs > UINT32_MAX)
		return err_set(err, EINVAL, "--runs: from 1 to %u", UINT32_MAX);
	if (o->warmup > UINT32_MAX)
		return err_set(err, EINVAL, "--warmup: at most %u", UINT32_MAX);
	if (o->vs_label && !o->vs)
		return err_set(err, EINVAL, "--vs-label is for --vs");
	return 0;
}
