/* SPDX-License-Identifier: MIT */
#include "cmd/tape_opts.h"

#include <errno.h>
#include <stddef.h>

#define TAPE_AT(field) .offset = offsetof(struct tape_opts, field)
#define GROUP_SELECT "What is selected"
#define GROUP_COMMAND "The command"
#define GROUP_OTHER "Other"

static const struct cli_opt tape_rows[] = {
	{ .name = "lines", .letter = 'l', .kind = CLI_TEXT, .arg = "LIST", .group = GROUP_SELECT,
	  .help = "these lines: N, N-, -M, N-M, parted by commas", TAPE_AT(lines) },
	{ .name = "regex", .letter = 'g', .kind = CLI_TEXT, .arg = "RE", .group = GROUP_SELECT,
	  .help = "lines that match RE, in the syntax of Rust's regex", TAPE_AT(pattern) },
	{ .name = "only-matching", .letter = 'o', .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "with -g: only what matches", TAPE_AT(only_matching) },
	{ .name = "onig", .letter = 'G', .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "with -g: RE is in Oniguruma's syntax, with look-around", TAPE_AT(onig) },
	{ .name = "after-context", .letter = 'A', .kind = CLI_UINT, .arg = "N",
	  .group = GROUP_SELECT, .help = "with -g: also N lines behind each that matches",
	  TAPE_AT(after) },
	{ .name = "before-context", .letter = 'B', .kind = CLI_UINT, .arg = "N",
	  .group = GROUP_SELECT, .help = "with -g: also N lines before each that matches",
	  TAPE_AT(before) },
	{ .name = "context", .letter = 'C', .kind = CLI_UINT, .arg = "N", .group = GROUP_SELECT,
	  .help = "with -g: also N lines on both sides", TAPE_AT(context) },
	{ .name = "characters", .letter = 'c', .kind = CLI_TEXT, .arg = "LIST",
	  .group = GROUP_SELECT, .help = "these characters of each line", TAPE_AT(chars) },
	{ .name = "fields", .letter = 'f', .kind = CLI_TEXT, .arg = "LIST", .group = GROUP_SELECT,
	  .help = "these fields of each line, between white space", TAPE_AT(fields) },
	{ .name = "delimiter", .letter = 'd', .kind = CLI_TEXT, .arg = "STR",
	  .group = GROUP_SELECT, .help = "with -f: fields are parted by STR", TAPE_AT(delimiter) },
	{ .name = "regex-delimiter", .letter = 'D', .kind = CLI_TEXT, .arg = "RE",
	  .group = GROUP_SELECT, .help = "with -f: fields are parted by what matches RE",
	  TAPE_AT(delimiter_re) },
	{ .name = "csv", .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "with -f: fields of CSV (RFC 4180), with newlines in quotes", TAPE_AT(csv) },
	{ .name = "unquote", .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "with --csv: the command sees values; quotes are put back", TAPE_AT(unquote) },
	{ .name = "external", .letter = 'e', .kind = CLI_TEXT, .arg = "CMD",
	  .group = GROUP_SELECT,
	  .help = "lines whose numbers 'sh -c CMD' prints, given a copy of the input",
	  TAPE_AT(external) },
	{ .name = "sed", .kind = CLI_TEXT, .arg = "P", .group = GROUP_SELECT,
	  .help = "lines that sed's address P selects, as in 2,4 or 1~3", TAPE_AT(sed) },
	{ .name = "awk", .kind = CLI_TEXT, .arg = "P", .group = GROUP_SELECT,
	  .help = "lines that awk's pattern P selects, as in NR%2==0", TAPE_AT(awk) },
	{ .name = "invert", .letter = 'v', .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "what would not be selected", TAPE_AT(invert) },
	{ .name = "header", .kind = CLI_UINT, .arg = "N", .group = GROUP_SELECT,
	  .help = "the first N lines pass untouched", TAPE_AT(header) },
	{ .name = "zero", .letter = 'z', .kind = CLI_FLAG, .group = GROUP_SELECT,
	  .help = "lines end with NUL, of the command too", TAPE_AT(nul) },
	{ .name = "solid", .letter = 's', .kind = CLI_FLAG, .group = GROUP_COMMAND,
	  .help = "run COMMAND once for each hole; a hole may hold newlines", TAPE_AT(each) },
	{ .name = "replace", .letter = 'I', .kind = CLI_TEXT, .arg = "STR", .group = GROUP_COMMAND,
	  .help = "with each hole in place of STR in COMMAND's words; implies -s",
	  TAPE_AT(placeholder) },
	{ .name = "chomp", .kind = CLI_FLAG, .group = GROUP_COMMAND,
	  .help = "with -s: no newline behind the hole, and none taken off the output",
	  TAPE_AT(chomp) },
	{ .name = "jobs", .letter = 'j', .kind = CLI_UINT, .arg = "N", .group = GROUP_COMMAND,
	  .help = "with -s: up to N commands at a time, 64 at most; the order "
		  "stays", TAPE_AT(jobs) },
	{ .name = "status", .kind = CLI_FLAG, .group = GROUP_COMMAND,
	  .help = "exit as COMMAND did", TAPE_AT(status) },
	{ .name = "stats", .kind = CLI_FLAG, .group = GROUP_OTHER,
	  .help = "at the end, print figures as JSON to stderr", TAPE_AT(stats) },
	{ .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .group = GROUP_OTHER,
	  .help = "no notes on stderr, errors alone", TAPE_AT(quiet) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair tape_examples[] = {
	{ "tracer tape -og '[0-9]+' <access.log", "show what would be sent to a command" },
	{ "tracer tape -og '(\\d{1,3}\\.){3}\\d{1,3}' -- sed 's/.*/@@@/' <access.log",
	  "mask addresses, and nothing else on their lines" },
	{ "tracer tape -f 2-3 -- tr a-z A-Z", "columns of a table; what parts them stays" },
	{ "tracer tape -d, -f4 -- numfmt --to=iec", "a column of numbers, for people" },
	{ "tracer tape --csv --unquote --header 1 -f 2 -- sort <people.csv",
	  "sort one column of CSV, below its heading" },
	{ "tracer tape -c -8 -- date -f - +%s", "the first eight characters, as a date" },
	{ "tracer tape -l 3- -- column -t", "all but two lines of a heading" },
	{ "tail -f app.log | tracer tape -g ERROR -- sed -u 's/^/!! /'",
	  "a live log: each line goes on as soon as it comes" },
	{ "tracer tape -s -j 4 -og 'https?://[^ ]+' -- sh -c 'curl -sI \"$(cat)\" | head -n 1'",
	  "a command for each link, four at a time" },
	{ "tracer tape -I {} -f 1 -- basename {} .c", "the hole as an argument" },
	{ "tracer tape -e 'git blame -s app.c | grep -n ^0000' -- sed 's/$/ \\/\\/ new/' <app.c",
	  "lines that another command chooses" },
	{ "tracer tape -og '@.*@' -- tape -og 'A+' -- tr A _", "holes in holes" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair tape_exits[] = {
	{ "0", "done; with --status, COMMAND's own" },
	{ "1", "COMMAND's output ran short, it could not be started, or input or output failed" },
	{ "2", "usage: an option, a list or a pattern is wrong" },
	CLI_END_OF_PAIRS
};

static int tape_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct tape_opts o;

	(void)cmd;
	return tape_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd tape_cmd = {
	.name = "tape",
	.summary = "send parts of a stream through a command",
	.usage = "SELECTOR... [--] [COMMAND [ARG]...]",
	.text = "Cuts stdin into pieces, sends those that are selected (holes) through COMMAND, "
		"a line each, and puts the lines that it prints in their places. All else "
		"passes as it is, byte for byte. Without COMMAND the holes are shown. Also "
		"installed as 'tape'.\n"
		"\n"
		"One process works on one stream, in batches: nothing is handed over for a "
		"single piece. What is ready moves on whenever the input would block. COMMAND "
		"has to print a line for each that it reads, in any order and at any time; text "
		"that waits for it goes to a temporary file when it grows. With -s it runs for "
		"each hole by itself and may print anything.\n"
		"\n"
		"Of several selectors one counts: -l, then -g without -o, then -A, -B, -C, "
		"--sed, --awk and -e; --csv; then -og, -G, -c, and -f with -d before -D. "
		"Patterns are those of Rust's regex crate: Unicode, leftmost first, no look-"
		"around. TEIP_HIGHLIGHT ('<{}>') is how holes are shown; TEIP_SED_PATH and "
		"TEIP_AWK_PATH are the programs of --sed and --awk.",
	.program = "tracer-tape",
	.by_itself = true,
	.operands = CLI_OPERANDS_MIXED,
	.operand = "command",
	.opts = tape_rows,
	.examples = tape_examples,
	.exits = tape_exits,
	.once = true,
	.letter_equals = true,
	.check = tape_check,
};

static int no_selector(const struct tape_opts *o, struct err *err)
{
	int r;

	if (o->delimiter || o->delimiter_re || o->csv) {
		r = err_set(err, EINVAL, "%s needs -f LIST: which fields",
			    o->delimiter ? "-d" : o->delimiter_re ? "-D" : "--csv");
		err_hint(err, "as in 'tape -d, -f 2 -- COMMAND'");
		return r;
	}
	r = err_set(err, EINVAL, "nothing is selected: one of -g, -c, -l, -f, -e, --sed and --awk "
		    "is missing");
	err_hint(err, "as in \"tape -og '[0-9]+' -- COMMAND\"; 'tracer tape --help' has more");
	return r;
}

static int tape_agree(const struct tape_opts *o, struct err *err)
{
	const bool around = o->before != UINT64_MAX || o->after != UINT64_MAX ||
			    o->context != UINT64_MAX;

	if (!o->pattern && !o->onig && !o->chars && !o->lines && !o->fields && !o->external &&
	    !o->sed && !o->awk)
		return no_selector(o, err);
	if (around && !o->pattern && !o->lines)
		return err_set(err, EINVAL, "-A, -B and -C are lines around those of -g RE, which "
			       "is missing");
	if (o->csv && !o->fields && !o->lines && !(o->pattern && !o->only_matching))
		return err_set(err, EINVAL, "--csv needs -f LIST: which fields");
	if (o->unquote && !o->csv)
		return err_set(err, EINVAL, "--unquote is for --csv");
	if (o->placeholder && !*o->placeholder)
		return err_set(err, EINVAL, "-I: STR is empty");
	if (o->jobs < 1 || o->jobs > TAPE_JOBS_MAX)
		return err_set(err, EINVAL, "-j: 1 to %d", TAPE_JOBS_MAX);
	if (o->jobs > 1 && !o->each)
		return err_set(err, EINVAL, "-j is for -s: one command works on all holes");
	if (o->status && !o->command)
		return err_set(err, EINVAL, "--status is for a COMMAND, which is missing");
	return 0;
}

int tape_opts_parse(struct tape_opts *o, int argc, char **argv, struct err *err)
{
	int first, r;

	*o = (struct tape_opts){
		.before = UINT64_MAX, .after = UINT64_MAX, .context = UINT64_MAX, .jobs = 1
	};
	r = cli_parse(&tape_cmd, argc, argv, o, &first, err);
	if (r)
		return r;
	o->command = first < argc ? argv + first : NULL;
	o->each |= o->placeholder != NULL;
	return tape_agree(o, err);
}
