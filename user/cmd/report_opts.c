/* SPDX-License-Identifier: MIT */
#include "cmd/report_opts.h"

#include <errno.h>
#include <stddef.h>

#include "cmd/live_rows.h"

#define REPORT_AT(field) .offset = offsetof(struct report_opts, field)

#define GROUP_COMPARE "What is compared"
#define GROUP_ELSE "What is done instead"

const char *const report_format_names[] = {
	[REPORT_TEXT] = "text", [REPORT_JSON] = "json", [REPORT_HTML] = "html",
	[REPORT_MARKDOWN] = "markdown", [REPORT_JUNIT] = "junit", NULL
};

static const struct cli_opt report_rows[] = {
	{ .name = "store", .kind = CLI_FILE, .arg = "FILE|URL", .group = GROUP_COMPARE,
	  .help = "an SQLite file, or postgresql://... (default: tracer/runs.db under "
		  "XDG_DATA_HOME)", REPORT_AT(store) },
	{ .name = "strict", .kind = CLI_FLAG, .group = GROUP_COMPARE,
	  .help = "exit with 3 where nothing is worse and something is not known yet",
	  REPORT_AT(strict) },
	{ .name = "history", .kind = CLI_STRING, .arg = "METRIC", .group = GROUP_ELSE,
	  .help = "show a metric over all benches of --label, and where its level moved",
	  REPORT_AT(history) },
	{ .name = "list", .kind = CLI_FLAG, .group = GROUP_ELSE,
	  .help = "list the labels that are stored, or with --label its benches",
	  REPORT_AT(list) },
	{ .name = "import", .kind = CLI_FILE, .arg = "FILE", .group = GROUP_ELSE,
	  .help = "store what another tool has measured: hyperfine's --export-json, Go's "
		  "benchmarks as text, or a summary of tracer run --json", REPORT_AT(import) },
	{ .name = "forget", .kind = CLI_FLAG, .group = GROUP_ELSE,
	  .help = "delete all benches of --label, and their runs", REPORT_AT(forget) },
	{ .name = "label", .letter = 'l', .kind = CLI_STRING, .arg = "NAME", .group = GROUP_ELSE,
	  .help = "the label that these four are for; -: benches without one", REPORT_AT(label) },
	{ .name = "format", .kind = CLI_ENUM, .arg = "FORMAT", .group = LIVE_GROUP_SHOW,
	  .help = "text, json, html, markdown or junit (default: text)",
	  .values = report_format_names, REPORT_AT(format) },
	{ .name = "json", .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,
	  .help = "the same as --format json", REPORT_AT(json) },
	{ .name = "all", .letter = 'a', .kind = CLI_FLAG, .group = LIVE_GROUP_SHOW,
	  .help = "text: also what is the same, and whole stacks", REPORT_AT(all) },
	{ .name = "rows", .letter = 'n', .kind = CLI_UINT, .arg = "N", .group = LIVE_GROUP_SHOW,
	  .help = "text, markdown: most rows of a table; 0: all (default: 20)",
	  REPORT_AT(rows) },
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,
	  .help = "text: auto, always or never (default: auto: on a terminal, unless NO_COLOR is "
		  "set)", .values = live_color_names, REPORT_AT(color) },
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",
	  .group = LIVE_GROUP_WHERE, .help = "write to FILE instead of stdout",
	  REPORT_AT(output) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "no notes on stderr", REPORT_AT(quiet) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair report_examples[] = {
	{ "tracer report main change", "the newest benches of two labels" },
	{ "tracer report main~1 main", "the last two of one" },
	{ "tracer report 4f1c2a9 8b03d77", "two commits" },
	{ "tracer report old.json new.json", "two files of hyperfine's" },
	{ "tracer report --format html -o report.html main change", "a page for a browser" },
	{ "tracer report --format markdown main change >>\"$GITHUB_STEP_SUMMARY\"",
	  "for a pull request; the exit code is that of every format" },
	{ "tracer report --history time.wall -l main", "how it went so far" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair report_exits[] = {
	{ "0", "nothing is worse" },
	{ "1", "something is" },
	{ "2", "usage, a side that is not there, or output that could not be written" },
	{ "3", "with --strict: nothing is worse, but something is not known yet" },
	CLI_END_OF_PAIRS
};

static int report_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct report_opts o;

	(void)cmd;
	return report_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd report_cmd = {
	.name = "report",
	.summary = "compare runs that bench stored, and say what got worse",
	.usage = "[OPTION]... BASE NEW",
	.text = "Compares the runs of NEW with those of BASE, metric by metric, and says of each "
		"whether it is better, worse, the same, or not known yet: then with how many runs "
		"it would be. A difference counts when it is both significant, corrected for how "
		"many metrics there are, and as large as matters for that metric; docs/"
		"statistics.md says what a verdict rests on. What changed in the program is named "
		"too: system calls, locks with their stacks, stages of threads, pipes.\n"
		"\n"
		"A side is a label (its newest bench that was not broken off; LABEL~1 the one "
		"before), a bench's id or a "
		"commit as they begin, or a file: of 'tracer run --json', hyperfine's "
		"--export-json, or Go's benchmarks (FILE#2: the second command in it).\n"
		"\n"
		"The exit code is the same in every format, so that a CI job fails by it.",
	.program = "tracer-report",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "file",
	.opts = report_rows,
	.examples = report_examples,
	.exits = report_exits,
	.check = report_check,
};

static int report_agree(const struct report_opts *o, int operands, struct err *err)
{
	const int modes = o->list + o->forget + (o->history != NULL) + (o->import != NULL);
	int r;

	if (modes > 1)
		return err_set(err, EINVAL, "--history, --list, --import and --forget exclude each "
			       "other");
	if (modes && operands)
		return err_set(err, EINVAL, "nothing is compared with --history, --list, --import "
			       "or --forget: '%s' is one too many", o->base);
	if ((o->history || o->forget) && !o->label)
		return err_set(err, EINVAL, "%s: --label says of what",
			       o->forget ? "--forget" : "--history");
	if (!modes && o->label)
		return err_set(err, EINVAL, "--label is for --history, --list, --import and "
			       "--forget");
	if (modes && o->format > REPORT_JSON)
		return err_set(err, EINVAL, "--format %s is for BASE and NEW",
			       report_format_names[o->format]);
	if (modes || operands == 2)
		return 0;
	r = operands > 2 ? err_set(err, EINVAL, "two sides are compared, and %d are given",
				   operands) :
	    err_set(err, EINVAL, operands ? "only one side is given" : "no sides are given");
	err_hint(err, "as in 'tracer report BASE NEW'; 'tracer report --list' shows what there is");
	return r;
}

int report_opts_parse(struct report_opts *o, int argc, char **argv, struct err *err)
{
	int first, r;

	*o = (struct report_opts){ .format = -1, .rows = 20 };
	r = cli_parse(&report_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	if (o->json && o->format >= 0 && o->format != REPORT_JSON)
		return err_set(err, EINVAL, "--json and --format %s exclude each other",
			       report_format_names[o->format]);
	if (o->json)
		o->format = REPORT_JSON;
	if (first < argc)
		o->base = argv[first];
	if (first + 1 < argc)
		o->now = argv[first + 1];
	return report_agree(o, argc - first, err);
}
