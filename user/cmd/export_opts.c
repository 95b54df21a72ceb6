/* SPDX-License-Identifier: MIT */
#include "cmd/export_opts.h"

#include <errno.h>
#include <stddef.h>

#include "cmd/live_rows.h"

#define EXPORT_AT(field) .offset = offsetof(struct export_opts, field)

const char *const export_format_names[] = {
	[EXPORT_PERFETTO] = "perfetto", [EXPORT_FOLDED] = "folded", [EXPORT_PPROF] = "pprof",
	[EXPORT_CSV] = "csv", [EXPORT_TABLE] = "table", [EXPORT_JSON] = "json", NULL
};

/* As enum out_weight. */
static const char *const weight_names[] = { "time", "waits", "samples", NULL };

/* As fmt_csv.c has them. */
static const char *const csv_table_names[] = {
	"syscalls", "errors", "findings", "stages", "threads", "locks", "wakeups", "pipes",
	"pipe_ends", "blocked", "loss", NULL
};

const char *export_csv_table(const struct export_opts *o)
{
	return o->csv_table < 0 ? NULL : csv_table_names[o->csv_table];
}

static const struct cli_opt export_rows[] = {
	{ .name = "to", .letter = 't', .kind = CLI_ENUM, .arg = "FORMAT",
	  .group = LIVE_GROUP_WHERE,
	  .help = "perfetto, folded, pprof, csv, table or json (default: perfetto)",
	  .values = export_format_names, EXPORT_AT(to) },
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",
	  .group = LIVE_GROUP_WHERE, .help = "write to FILE instead of stdout",
	  EXPORT_AT(output) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "no notes on stderr", EXPORT_AT(quiet) },
	{ .name = "weight", .kind = CLI_ENUM, .arg = "WHAT", .group = LIVE_GROUP_SHOW,
	  .help = "folded: what a stack is counted in: time (microseconds waited), waits or "
		  "samples (default: time)", .values = weight_names, EXPORT_AT(weight) },
	{ .name = "csv-table", .kind = CLI_ENUM, .arg = "NAME", .group = LIVE_GROUP_SHOW,
	  .help = "csv: this table alone: syscalls, errors, findings, stages, threads, locks, "
		  "wakeups, pipes, pipe_ends, blocked or loss", .values = csv_table_names,
	  EXPORT_AT(csv_table) },
	{ .name = "stacks", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,
	  .help = "table: the stacks that wait for each lock", EXPORT_AT(stacks) },
	{ .name = "threads", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,
	  .help = "table: a row for each thread", EXPORT_AT(threads) },
	{ .name = "sort", .letter = 'S', .kind = CLI_ENUM, .arg = "COLUMN",
	  .group = LIVE_GROUP_SHOW,
	  .help = "table, csv: order of the system calls: time, cpu, calls, errors, mean, p50, "
		  "p99, max, name or nothing (default: time)",
	  .values = live_sort_names, .aliases = live_sort_aliases, EXPORT_AT(sort) },
	{ .name = "rows", .letter = 'n', .kind = CLI_UINT, .arg = "N", .group = LIVE_GROUP_SHOW,
	  .help = "table: most rows of a table; 0: all (default: 10)", EXPORT_AT(rows) },
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,
	  .help = "table: auto, always or never (default: auto: on a terminal, unless NO_COLOR "
		  "is set)", .values = live_color_names, EXPORT_AT(color) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair export_examples[] = {
	{ "tracer run --json -o run.json -- ./app", "a summary, to be exported as often as "
	  "needed" },
	{ "tracer export --to pprof -o run.pb.gz run.json",
	  "where threads wait for locks, for 'go tool pprof -http=: run.pb.gz'" },
	{ "tracer export --to folded run.json | flamegraph.pl --countname us >run.svg",
	  "the same as a flame graph" },
	{ "tracer export -o run.trace.json run.json",
	  "the threads' lives and what creating them took, to be opened in ui.perfetto.dev" },
	{ "tracer export --to csv --csv-table locks run.json", "one table for a spreadsheet" },
	{ "tracer export --to table --stacks run.json | less",
	  "the tables, with what run left out" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair export_exits[] = {
	{ "0", "done" },
	{ "2", "usage, a file that is no summary, or output that could not be written" },
	CLI_END_OF_PAIRS
};

static int export_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct export_opts o;

	(void)cmd;
	return export_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd export_cmd = {
	.name = "export",
	.summary = "turn a saved summary into another format",
	.usage = "[OPTION]... [FILE]",
	.text = "Reads a summary that 'tracer run --json -o FILE' or 'tracer attach --json' saved, "
		"from FILE or, without one or with -, from stdin, and writes it in another format. "
		"FILE may have up to 512 MiB.\n"
		"\n"
		"A summary knows how often and how long, but not when. So perfetto draws what it "
		"knows of: each thread's life, what creating and ending it took, who created whom "
		"and how many there were. A timeline with each wait and call is written while "
		"tracing, by 'tracer run --trace FILE'; such a file is taken too and checked, and "
		"one that ends too soon, tracer having been killed, is ended behind its last whole "
		"event.\n"
		"\n"
		"pprof and folded are the stacks that wait for locks: each lock's whole waiting, "
		"shared out by how often each stack was sampled.",
	.program = "tracer-export",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = export_rows,
	.examples = export_examples,
	.exits = export_exits,
	.check = export_check,
};

static int export_agree(const struct export_opts *o, struct err *err)
{
	const bool table = o->to == EXPORT_TABLE, csv = o->to == EXPORT_CSV;
	const struct { bool given; const char *option; bool fits; const char *format; } rows[] = {
		{ o->weight >= 0, "--weight", o->to == EXPORT_FOLDED, "--to folded" },
		{ o->csv_table >= 0, "--csv-table", csv, "--to csv" },
		{ o->stacks, "--stacks", table, "--to table" },
		{ o->threads, "--threads", table, "--to table" },
		{ o->sort >= 0, "--sort", table || csv, "--to table and --to csv" },
		{ o->rows != UINT64_MAX, "--rows", table, "--to table" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].given && !rows[i].fits)
			return err_set(err, EINVAL, "%s is for %s", rows[i].option, rows[i].format);
	}
	return 0;
}

int export_opts_parse(struct export_opts *o, int argc, char **argv, struct err *err)
{
	int first, r;

	*o = (struct export_opts){
		.weight = -1, .csv_table = -1, .sort = -1, .rows = UINT64_MAX
	};
	r = cli_parse(&export_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	if (argc - first > 1) {
		r = err_set(err, EINVAL, "more than one file is given: %s and %s", argv[first],
			    argv[first + 1]);
		err_hint(err, "each is exported by itself");
		return r;
	}
	o->input = first < argc ? argv[first] : NULL;
	return export_agree(o, err);
}
