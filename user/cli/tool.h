/* SPDX-License-Identifier: MIT */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

/* The whole tool as data: what its help, man pages and completions are made of. */
#include "base/buf.h"
#include "cli/opts.h"

struct cli_tool {
	const char *name, *version;
	const char *summary;
	const char *text;	/* paragraphs parted by an empty line */
	const struct cli_cmd *const *cmds;	/* NULL-terminated */
	const struct cli_pair *examples;
	const struct cli_pair *exits;
	const struct cli_pair *environment;
};

struct cli_style {
	bool color;
	unsigned int width;	/* columns */
};

/* The command called @name, or NULL; *near, if asked for, is one spelled nearly so, or NULL. */
const struct cli_cmd *cli_find(const struct cli_tool *tool, const char *name, const char **near);

/* All write into @b, whose .failed says when memory ran out. */
void cli_help_tool(struct buf *b, const struct cli_tool *tool, struct cli_style style);
void cli_help_command(struct buf *b, const struct cli_tool *tool, const struct cli_cmd *cmd,
		      struct cli_style style);
/* man(7) pages: tracer(1), and tracer-NAME(1) for a command. */
void cli_man_tool(struct buf *b, const struct cli_tool *tool);
void cli_man_command(struct buf *b, const struct cli_tool *tool, const struct cli_cmd *cmd);
/* @shell is "bash", "zsh" or "fish"; -EINVAL for another. */
int cli_completion(struct buf *b, const struct cli_tool *tool, const char *shell);

#endif
