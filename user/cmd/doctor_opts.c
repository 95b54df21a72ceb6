/* SPDX-License-Identifier: MIT */
#include "cmd/doctor_opts.h"

#include <stddef.h>

#include "cmd/live_rows.h"

#define DOCTOR_AT(field) .offset = offsetof(struct doctor_opts, field)

static const struct cli_opt doctor_rows[] = {
	{ .name = "color", .kind = CLI_ENUM, .arg = "WHEN", .group = LIVE_GROUP_SHOW,
	  .help = "auto, always or never (default: auto: on a terminal, unless NO_COLOR is set)",
	  .values = live_color_names, DOCTOR_AT(color) },
	{ .name = "json", .kind = CLI_FLAG, .group = LIVE_GROUP_WHERE,
	  .help = "print JSON instead of tables", DOCTOR_AT(json) },
	{ .name = "output", .letter = 'o', .kind = CLI_FILE, .arg = "FILE",
	  .group = LIVE_GROUP_WHERE, .help = "write to FILE instead of stdout",
	  DOCTOR_AT(output) },
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = LIVE_GROUP_OTHER,
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair doctor_examples[] = {
	{ "sudo tracer doctor", "try everything, and measure what tracing costs here" },
	{ "tracer doctor", "what can be seen without root, and what root would add" },
	{ "tracer doctor --json | jq '.collectors[] | select(.works | not)'",
	  "what does not work, for a program" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair doctor_exits[] = {
	{ "0", "all collectors work" },
	{ "1", "some do not" },
	{ "2", "usage, or the output could not be written" },
	CLI_END_OF_PAIRS
};

static int doctor_check(const struct cli_cmd *cmd, int argc, char **argv, struct err *err)
{
	struct doctor_opts o;

	(void)cmd;
	return doctor_opts_parse(&o, argc, argv, err);
}

const struct cli_cmd doctor_cmd = {
	.name = "doctor",
	.summary = "say what works on this machine and what is missing",
	.usage = "[OPTION]...",
	.text = "Tries what tracing needs by really doing it: makes the buffers, loads and "
		"attaches each BPF program by itself, in each way that there is, and takes it away "
		"again. Prints which collectors work and by which way, why others do not and what "
		"would mend it, what tracing adds to a call, and what it sees of the kernel, the "
		"privileges, the machine, the terminal and the installation.\n"
		"\n"
		"It works without root too; then it says what it could not try. Nothing is "
		"changed, and nothing of other processes is read.",
	.program = "tracer-live",
	.operands = CLI_OPERANDS_NONE,
	.opts = doctor_rows,
	.examples = doctor_examples,
	.exits = doctor_exits,
	.check = doctor_check,
};

int doctor_opts_parse(struct doctor_opts *o, int argc, char **argv, struct err *err)
{
	int first;

	*o = (struct doctor_opts){ 0 };
	return cli_parse(&doctor_cmd, argc, argv, o, &first, err);
}
