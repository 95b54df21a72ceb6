/* SPDX-License-Identifier: MIT */
#ifndef CLI_OPTS_H
#define CLI_OPTS_H

/*
 * Commands and their options as rows. The parser, the help text, the man page
 * and the shell completions all come out of the same rows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum cli_kind {
	CLI_FLAG,	/* bool */
	CLI_STRING,	/* const char *, into argv */
	CLI_FILE,	/* the same; completed with file names */
	CLI_TEXT,	/* const char *, into argv, of any bytes: may be empty */
	CLI_SIZE,	/* uint64_t, bytes: 4096, 32M, 1G */
	CLI_DURATION,	/* uint64_t, nanoseconds: 10 (seconds), 1.5s, 500ms, 2m */
	CLI_UINT,	/* uint64_t */
	CLI_ENUM,	/* int: index into .values */
	CLI_SET,	/* unsigned int: bit per .values, from a comma list */
	CLI_LIST,	/* struct cli_list: may be given again */
	CLI_PIDS,	/* struct cli_pids: a comma or blank list, may be given again */
	CLI_NOOP,	/* accepted, stores nothing: what other tools have to be asked for */
	CLI_HELP,	/* ends the parse: cli_parse() returns CLI_WANTS_HELP */
};

struct cli_pair {
	const char *what, *text;	/* an example and its meaning; an exit code and its */
};

struct cli_opt {
	const char *name;	/* long form without dashes, or NULL */
	char letter;		/* short form, or 0 */
	enum cli_kind kind;
	const char *arg;	/* the argument's name in help: "FILE"; NULL for flags */
	const char *group;	/* heading in help; rows of a group stand together */
	const char *help;	/* a phrase, lower case, no full stop */
	const char *const *values;	/* CLI_ENUM, CLI_SET: NULL-terminated */
	/* CLI_ENUM: other names, .what, of a value, .text; not completed. Ends as pairs do. */
	const struct cli_pair *aliases;
	size_t offset;		/* of the result in the caller's struct */
};

enum cli_operands {
	CLI_OPERANDS_NONE,	/* any operand is an error */
	CLI_OPERANDS_MIXED,	/* operands and options in any order, all options up to "--" */
	CLI_OPERANDS_COMMAND,	/* the first operand ends the options: a command line of its own */
};

struct cli_cmd {
	const char *name;
	const char *summary;	/* a phrase for the list of commands */
	const char *usage;	/* behind "tracer NAME " */
	const char *text;	/* what it does: paragraphs parted by an empty line */
	const char *program;	/* executable in libexec that runs it; NULL: tracer itself */
	bool by_itself;		/* also installed as a program of that name */
	enum cli_operands operands;
	/* What operands are, for completion: "pid", "command", "file", "topic" or NULL. */
	const char *operand;
	const struct cli_opt *opts;	/* ends with a row of neither name nor letter */
	const struct cli_pair *examples;	/* end with a NULL .what */
	const struct cli_pair *exits;
	int exit_error;		/* of a failure of the command's own; 0: 2 */
	bool once;		/* an option that is given again is an error */
	/* "-f=VALUE" means "-fVALUE", but "-f=" alone means "=". */
	bool letter_equals;
	/*
	 * Parses a line, whose operands it may move, and does nothing else: 0,
	 * CLI_WANTS_HELP or a negative errno with the error. NULL: of tracer itself.
	 */
	int (*check)(const struct cli_cmd *cmd, int argc, char **argv, struct err *err);
};

struct cli_list {
	const char **item;	/* point into argv */
	size_t n;
};

struct cli_pids {
	pid_t *pid;
	size_t n;
};

#define CLI_WANTS_HELP 1

#define CLI_END_OF_OPTS { .kind = CLI_FLAG }
#define CLI_END_OF_PAIRS { NULL, NULL }

/*
 * Parses argv[1..argc-1], argv[0] being the command's name, into the struct at
 * @dest, which the caller has filled with defaults. Operands are moved to the
 * end of argv in their order and *first set to their index (argc: none).
 * Returns 0, CLI_WANTS_HELP, -EINVAL with a message such as
 * "unknown option '--colour'" and a hint, or -ENOMEM. Lists and pids that
 * were filled are the caller's to release, also after an error.
 */
int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, void *dest, int *first,
	      struct err *err);

/*
 * Adds the pids of a comma or blank list; -EINVAL with a message, also for an
 * empty item between commas, -ENOMEM.
 */
int cli_pids_add(struct cli_pids *pids, const char *list, struct err *err);
void cli_pids_release(struct cli_pids *pids);
void cli_list_release(struct cli_list *list);

/* True when @opt takes an argument. */
bool cli_takes_arg(const struct cli_opt *opt);
/* True for the row that ends a table. */
bool cli_is_end(const struct cli_opt *opt);

#endif
