/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: finds the command, nothing else. What a command needs (libbpf, libdw)
 * is linked into executables of libexec that are run in this one's place, so
 * that help, version and completion start with libc alone.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"
#include "base/keepenv.h"
#include "cli/opts.h"
#include "cli/term.h"
#include "cli/tool.h"
#include "cmd/bench_opts.h"
#include "cmd/doctor_opts.h"
#include "cmd/export_opts.h"
#include "cmd/live_opts.h"
#include "cmd/record_opts.h"
#include "cmd/replay_opts.h"
#include "cmd/report_opts.h"
#include "cmd/tape_opts.h"
#include "cmd/top_opts.h"
#include "tracer/version.h"

#define EXIT_ERROR 2

static const struct cli_opt no_opts[] = {
	{ .name = "help", .letter = 'h', .kind = CLI_HELP, .group = "Other",
	  .help = "print this help" },
	CLI_END_OF_OPTS
};

static const struct cli_pair common_exits[] = {
	{ "0", "done" },
	{ "2", "usage or error" },
	CLI_END_OF_PAIRS
};

static const struct cli_cmd help_cmd = {
	.name = "help",
	.summary = "print the help of a command",
	.usage = "[COMMAND]",
	.text = "Prints what COMMAND does and takes, or the list of commands.",
	.operands = CLI_OPERANDS_MIXED,
	.operand = "topic",
	.opts = no_opts,
	.exits = common_exits,
};

static const struct cli_cmd *const commands[] = {
	&run_cmd, &attach_cmd, &top_cmd, &bench_cmd, &report_cmd, &doctor_cmd, &export_cmd,
	&tape_cmd, &record_cmd, &replay_cmd,
	&dump_cmd, &ps_cmd, &ls_cmd, &pack_cmd, &help_cmd, NULL
};

static const struct cli_pair tool_examples[] = {
	{ "tracer run ./app", "trace a program from its start to its end" },
	{ "tracer attach -d 10 4242", "ten seconds of a running process" },
	{ "tracer top", "the whole machine, live" },
	CLI_END_OF_PAIRS
};

static const struct cli_pair tool_environment[] = {
	{ "NO_COLOR", "when set and not empty, no colours on a terminal" },
	{ "COLUMNS", "the width of tables and help that do not go to a terminal" },
	CLI_END_OF_PAIRS
};

static const struct cli_tool tool = {
	.name = "tracer",
	.version = TRACER_VERSION,
	.summary = "show where a multi-threaded program waits",
	.text = "Shows where a multi-threaded program waits: what its threads cost to create, "
		"which locks it fights over, how data moves through its pipes, which system calls "
		"it makes.\n"
		"\n"
		"Tracing needs root, or the capabilities CAP_BPF and CAP_PERFMON; recording, "
		"CAP_SYS_NICE, CAP_SYS_PTRACE and CAP_SYS_ADMIN besides. Replaying needs nothing.",
	.cmds = commands,
	.examples = tool_examples,
	.exits = common_exits,
	.environment = tool_environment,
};

/* Writes to stdout; a full disk or closed pipe there is an error to be told. */
static int print_out(struct buf *b)
{
	struct err err;
	int r = b->failed ? -ENOMEM : io_write_all(STDOUT_FILENO, b->data, b->len);

	buf_release(b);
	if (!r)
		return 0;
	err_sys(&err, -r, "cannot write to stdout");
	return cli_fail(tool.name, &err, EXIT_ERROR);
}

static struct cli_style style_of(int fd)
{
	return (struct cli_style){ .color = cli_term_color(fd), .width = cli_term_width(fd, 80) };
}

static int print_help(const struct cli_cmd *cmd)
{
	struct buf b = BUF_INIT;

	if (cmd)
		cli_help_command(&b, &tool, cmd, style_of(STDOUT_FILENO));
	else
		cli_help_tool(&b, &tool, style_of(STDOUT_FILENO));
	return print_out(&b);
}

static int unknown_command(const char *name)
{
	const char *near;
	struct err err;

	cli_find(&tool, name, &near);
	err_set(&err, EINVAL, "unknown command '%s'", name);
	if (near)
		err_hint(&err, "did you mean '%s'? 'tracer --help' lists all commands", near);
	else
		err_hint(&err, "'tracer --help' lists all commands");
	return cli_fail(tool.name, &err, EXIT_ERROR);
}

static int cmd_help(int argc, char **argv)
{
	const struct cli_cmd *cmd;
	struct err err;
	int first, r;

	r = cli_parse(&help_cmd, argc, argv, NULL, &first, &err);
	if (r < 0)
		return cli_fail(tool.name, &err, EXIT_ERROR);
	if (r == CLI_WANTS_HELP)
		return print_help(&help_cmd);
	if (first == argc)
		return print_help(NULL);
	cmd = cli_find(&tool, argv[first], NULL);
	return cmd ? print_help(cmd) : unknown_command(argv[first]);
}

/* For the Makefile: `__man tracer` or `__man tracer-run`, `__completion SHELL`. */
static int cmd_generate(const char *what, const char *arg)
{
	const struct cli_cmd *cmd = NULL;
	struct buf b = BUF_INIT;

	if (!strcmp(what, "__completion"))
		return cli_completion(&b, &tool, arg) ? unknown_command(arg) : print_out(&b);
	if (!strncmp(arg, "tracer-", 7))
		cmd = cli_find(&tool, arg + 7, NULL);
	if (cmd)
		cli_man_command(&b, &tool, cmd);
	else if (!strcmp(arg, "tracer"))
		cli_man_tool(&b, &tool);
	else
		return unknown_command(arg);
	return print_out(&b);
}

static int error_code(const struct cli_cmd *cmd)
{
	return cmd->exit_error ? cmd->exit_error : EXIT_ERROR;
}

/*
 * Help and usage errors are told here, before anything is loaded. Parsing moves
 * operands, so it has a copy. Returns 0 to go on, or 1 with the exit code.
 */
static int check_line(const struct cli_cmd *cmd, int argc, char **argv, int *code)
{
	struct err err = { 0 };
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	int r;

	if (!copy)
		return 0;
	memcpy(copy, argv, (size_t)argc * sizeof(*copy));
	r = cmd->check(cmd, argc, copy, &err);
	free(copy);
	if (r == CLI_WANTS_HELP) {
		*code = print_help(cmd);
	} else if (r) {
		*code = cli_fail(tool.name, &err, error_code(cmd));
	}
	return r != 0;
}

/*
 * Runs @cmd's executable in our place: in libexec/ beside us in the build tree,
 * in ../libexec/tracer/ when installed. Returns only when there is none.
 */
static int exec_program(const struct cli_cmd *cmd, char **argv)
{
	static const char *const places[] = { "libexec", "../libexec/tracer" };
	int code = error_code(cmd);
	char self[PATH_MAX], path[PATH_MAX + 64], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct err err;

	if (n < 0) {
		err_sys(&err, errno, "cannot read /proc/self/exe");
		return cli_fail(tool.name, &err, code);
	}
	self[n] = '\0';
	/* Root's are not taken away, and sudo has its own list. */
	if (getuid())
		keepenv_save();
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", self, places[i], cmd->program);
		execv(path, argv);
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	err_sys(&err, errno, "cannot run %s", path);
	if (err.code == EACCES || err.code == EPERM)
		err_hint(&err, "tracing was left to root or a group here; try with sudo");
	else
		err_hint(&err, "the installation is not complete: 'make install' puts it there");
	return cli_fail(tool.name, &err, code);
}

int main(int argc, char **argv)
{
	const struct cli_cmd *cmd;
	const char *word = argc > 1 ? argv[1] : NULL;
	struct buf b = BUF_INIT;
	struct err err;
	int code;

	if (!word) {
		cli_help_tool(&b, &tool, style_of(STDERR_FILENO));
		if (b.len)
			io_write_all(STDERR_FILENO, b.data, b.len);
		buf_release(&b);
		return EXIT_ERROR;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return print_help(NULL);
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		buf_addf(&b, "%s %s\n", tool.name, tool.version);
		return print_out(&b);
	}
	if (argc == 3 && (!strcmp(word, "__man") || !strcmp(word, "__completion")))
		return cmd_generate(word, argv[2]);
	if (word[0] == '-') {
		err_set(&err, EINVAL, "unknown option '%s'", word);
		err_hint(&err, "options stand behind the command, as in 'tracer run %s'; "
			 "'tracer --help' lists the commands", word);
		return cli_fail(tool.name, &err, EXIT_ERROR);
	}
	cmd = cli_find(&tool, word, NULL);
	if (!cmd)
		return unknown_command(word);
	if (cmd == &help_cmd)
		return cmd_help(argc - 1, argv + 1);
	if (check_line(cmd, argc - 1, argv + 1, &code))
		return code;
	return exec_program(cmd, argv);
}
