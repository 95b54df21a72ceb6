/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/suggest.h"
#include "cli/tool.h"

#define HELP_COLUMN 28	/* where the explanations begin */
#define HELP_NARROW 60	/* a narrower terminal gets lines of this width all the same */
#define HELP_WIDE 100	/* longer lines do not read well */

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

const struct cli_cmd *cli_find(const struct cli_tool *tool, const char *name, const char **near)
{
	unsigned int distance = 0;

	if (near)
		*near = NULL;
	for (size_t i = 0; tool->cmds[i]; i++) {
		if (!strcmp(tool->cmds[i]->name, name))
			return tool->cmds[i];
		if (near)
			cli_suggest(name, tool->cmds[i]->name, near, &distance);
	}
	return NULL;
}

static unsigned int help_width(struct cli_style style)
{
	if (style.width < HELP_NARROW)
		return HELP_NARROW;
	return style.width > HELP_WIDE ? HELP_WIDE : style.width;
}

/* Words of @s from column @at on, further lines indented by @indent; ends the line. */
static void help_wrap(struct buf *b, const char *s, size_t len, unsigned int at,
		      unsigned int indent, unsigned int width)
{
	const char *end = s + len;
	bool first = true;

	while (s < end) {
		const char *space = memchr(s, ' ', (size_t)(end - s));
		size_t n = space ? (size_t)(space - s) : (size_t)(end - s);

		if (!first && at + 1 + n > width) {
			buf_addf(b, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		if (!first)
			buf_addc(b, ' ');
		buf_add(b, s, n);
		at += (unsigned int)n + !first;
		first = false;
		s += n + (space ? 1 : 0);
	}
	buf_addc(b, '\n');
}

static void help_heading(struct buf *b, struct cli_style style, const char *heading)
{
	buf_addf(b, "\n%s%s:%s\n", style.color ? BOLD : "", heading, style.color ? PLAIN : "");
}

static void help_text(struct buf *b, struct cli_style style, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		size_t n = end ? (size_t)(end - text) : strlen(text);

		help_wrap(b, text, n, 0, 0, help_width(style));
		text += n + (end ? 1 : 0);
	}
}

/* "  -d, --duration=TIME" padded, then what it means. */
static void help_row(struct buf *b, struct cli_style style, const char *left, const char *right)
{
	size_t n = strlen(left) + 2;

	buf_addf(b, "  %s%s%s", style.color ? BOLD : "", left, style.color ? PLAIN : "");
	if (n + 2 > HELP_COLUMN)
		buf_addf(b, "\n%*s", HELP_COLUMN, "");
	else
		buf_addf(b, "%*s", (int)(HELP_COLUMN - n), "");
	help_wrap(b, right, strlen(right), HELP_COLUMN, HELP_COLUMN, help_width(style));
}

static void help_option(struct buf *b, struct cli_style style, const struct cli_opt *o)
{
	struct buf left = BUF_INIT;

	if (o->letter)
		buf_addf(&left, "-%c%s", o->letter, o->name ? ", " : "");
	else
		buf_adds(&left, "    ");
	if (o->name)
		buf_addf(&left, "--%s", o->name);
	if (cli_takes_arg(o))
		buf_addf(&left, "%s%s", o->name ? "=" : " ", o->arg);
	if (left.failed)
		b->failed = true;
	else
		help_row(b, style, left.data, o->help);
	buf_release(&left);
}

static void help_pairs(struct buf *b, struct cli_style style, const char *heading,
		       const struct cli_pair *pair)
{
	if (!pair || !pair->what)
		return;
	help_heading(b, style, heading);
	for (; pair->what; pair++)
		help_row(b, style, pair->what, pair->text);
}

/* An example stands on a line of its own: to be copied. */
static void help_examples(struct buf *b, struct cli_style style, const struct cli_pair *pair)
{
	if (!pair || !pair->what)
		return;
	help_heading(b, style, "Examples");
	for (; pair->what; pair++) {
		buf_addf(b, "  %s%s%s\n      ", style.color ? BOLD : "", pair->what,
			 style.color ? PLAIN : "");
		help_wrap(b, pair->text, strlen(pair->text), 6, 6, help_width(style));
	}
}

void cli_help_command(struct buf *b, const struct cli_tool *tool, const struct cli_cmd *cmd,
		      struct cli_style style)
{
	const char *group = NULL;

	buf_addf(b, "Usage: %s %s %s\n\n", tool->name, cmd->name, cmd->usage);
	help_text(b, style, cmd->text);
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (!group || strcmp(group, o->group)) {
			group = o->group;
			help_heading(b, style, group);
		}
		help_option(b, style, o);
	}
	help_examples(b, style, cmd->examples);
	help_pairs(b, style, "Exit codes", cmd->exits);
}

void cli_help_tool(struct buf *b, const struct cli_tool *tool, struct cli_style style)
{
	buf_addf(b, "Usage: %s COMMAND [OPTION]... [ARG]...\n\n", tool->name);
	help_text(b, style, tool->text);
	help_heading(b, style, "Commands");
	for (size_t i = 0; tool->cmds[i]; i++)
		help_row(b, style, tool->cmds[i]->name, tool->cmds[i]->summary);
	help_heading(b, style, "Options");
	help_row(b, style, "-h, --help", "print this help");
	help_row(b, style, "-V, --version", "print the version");
	help_examples(b, style, tool->examples);
	buf_addf(b, "\n'%s COMMAND --help' says more of a command.\n", tool->name);
}
