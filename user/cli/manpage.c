/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "cli/tool.h"

/* Text for roff: a backslash is escaped, a hyphen is a minus, no line begins a request. */
static void man_text(struct buf *b, const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool start = i == 0 || s[i - 1] == '\n';

		if (start && (s[i] == '.' || s[i] == '\''))
			buf_adds(b, "\\&");
		if (s[i] == '\\')
			buf_adds(b, "\\e");
		else if (s[i] == '-')
			buf_adds(b, "\\-");
		else if (s[i] == '\'')
			buf_adds(b, "\\(aq");
		else if (s[i] == '^')
			buf_adds(b, "\\(ha");
		else
			buf_addc(b, s[i]);
	}
}

static void man_string(struct buf *b, const char *s)
{
	man_text(b, s, strlen(s));
}

static void man_upper(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_addc(b, (char)toupper((unsigned char)*s));
}

static void man_paragraphs(struct buf *b, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		size_t n = end ? (size_t)(end - text) : strlen(text);

		if (n) {
			man_text(b, text, n);
			buf_addc(b, '\n');
		} else {
			buf_adds(b, ".PP\n");
		}
		text += n + (end ? 1 : 0);
	}
}

static void man_pairs(struct buf *b, const char *heading, const struct cli_pair *pair)
{
	if (!pair || !pair->what)
		return;
	buf_addf(b, ".SH %s\n", heading);
	for (; pair->what; pair++) {
		buf_adds(b, ".TP\n.B ");
		man_string(b, pair->what);
		buf_addc(b, '\n');
		man_string(b, pair->text);
		buf_addc(b, '\n');
	}
}

static void man_examples(struct buf *b, const struct cli_pair *pair)
{
	if (!pair || !pair->what)
		return;
	buf_adds(b, ".SH EXAMPLES\n");
	for (; pair->what; pair++) {
		buf_adds(b, ".TP\n.B ");
		man_string(b, pair->what);
		buf_addc(b, '\n');
		man_string(b, pair->text);
		buf_addc(b, '\n');
	}
}

static void man_option(struct buf *b, const struct cli_opt *o)
{
	buf_adds(b, ".TP\n");
	if (o->letter)
		buf_addf(b, "\\fB\\-%c\\fR", o->letter);
	if (o->letter && o->name)
		buf_adds(b, ", ");
	if (o->name) {
		buf_adds(b, "\\fB\\-\\-");
		man_string(b, o->name);
		buf_adds(b, "\\fR");
	}
	if (cli_takes_arg(o)) {
		buf_adds(b, o->name ? "=\\fI" : " \\fI");
		man_string(b, o->arg);
		buf_adds(b, "\\fR");
	}
	buf_addc(b, '\n');
	man_string(b, o->help);
	buf_adds(b, ".\n");
}

static void man_head(struct buf *b, const struct cli_tool *tool, const char *command)
{
	buf_adds(b, ".\\\" Generated from the option tables: edit those.\n.TH ");
	man_upper(b, tool->name);
	if (command) {
		buf_adds(b, "\\-");
		man_upper(b, command);
	}
	buf_addf(b, " 1 \"\" \"%s %s\" \"User Commands\"\n", tool->name, tool->version);
}

void cli_man_command(struct buf *b, const struct cli_tool *tool, const struct cli_cmd *cmd)
{
	const char *group = NULL;

	man_head(b, tool, cmd->name);
	buf_addf(b, ".SH NAME\n%s\\-%s \\- ", tool->name, cmd->name);
	man_string(b, cmd->summary);
	buf_addf(b, "\n.SH SYNOPSIS\n.B %s %s\n", tool->name, cmd->name);
	man_string(b, cmd->usage);
	buf_adds(b, "\n.SH DESCRIPTION\n");
	man_paragraphs(b, cmd->text);
	buf_adds(b, ".SH OPTIONS\n");
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (!group || strcmp(group, o->group)) {
			group = o->group;
			buf_adds(b, ".SS ");
			man_string(b, group);
			buf_addc(b, '\n');
		}
		man_option(b, o);
	}
	man_pairs(b, "EXIT STATUS", cmd->exits);
	man_pairs(b, "ENVIRONMENT", tool->environment);
	man_examples(b, cmd->examples);
	buf_addf(b, ".SH SEE ALSO\n.BR %s (1)", tool->name);
	for (size_t i = 0; tool->cmds[i]; i++) {
		if (tool->cmds[i] != cmd && tool->cmds[i]->program)
			buf_addf(b, ",\n.BR %s\\-%s (1)", tool->name, tool->cmds[i]->name);
	}
	buf_adds(b, "\n");
}

void cli_man_tool(struct buf *b, const struct cli_tool *tool)
{
	man_head(b, tool, NULL);
	buf_addf(b, ".SH NAME\n%s \\- ", tool->name);
	man_string(b, tool->summary);
	buf_addf(b, "\n.SH SYNOPSIS\n.B %s\n", tool->name);
	buf_adds(b, "\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARG\\fR]...\n.SH DESCRIPTION\n");
	man_paragraphs(b, tool->text);
	buf_adds(b, ".SH COMMANDS\n");
	for (size_t i = 0; tool->cmds[i]; i++) {
		buf_addf(b, ".TP\n.B %s\n", tool->cmds[i]->name);
		man_string(b, tool->cmds[i]->summary);
		if (tool->cmds[i]->program)
			buf_addf(b, ", see\n.BR %s\\-%s (1)", tool->name, tool->cmds[i]->name);
		buf_addc(b, '\n');
	}
	buf_adds(b, ".SH OPTIONS\n"
		 ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nprint the list of commands.\n"
		 ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nprint the version.\n");
	man_pairs(b, "EXIT STATUS", tool->exits);
	man_pairs(b, "ENVIRONMENT", tool->environment);
	man_examples(b, tool->examples);
	buf_adds(b, ".SH SEE ALSO\n");
	for (size_t i = 0; tool->cmds[i]; i++) {
		if (tool->cmds[i]->program)
			buf_addf(b, ".BR %s\\-%s (1),\n", tool->name, tool->cmds[i]->name);
	}
	buf_adds(b, ".BR strace (1),\n.BR perf (1)\n");
}
