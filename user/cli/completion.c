/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: each script is a loop over the same rows. In `run`, what follows the
 * first operand is another command line and is handed to that command's own
 * completion.
 */
#include <errno.h>
#include <string.h>

#include "cli/tool.h"

static void values_add(struct buf *b, const struct cli_opt *o, const char *sep)
{
	for (size_t i = 0; o->values[i]; i++)
		buf_addf(b, "%s%s", i ? sep : "", o->values[i]);
}

/* @s as the inside of a single-quoted shell string. */
static void quoted(struct buf *b, const char *s, const char *also)
{
	for (; *s; s++) {
		if (*s == '\'')
			buf_adds(b, "'\\''");
		else if (strchr(also, *s))
			buf_addf(b, "\\%c", *s);
		else
			buf_addc(b, *s);
	}
}

static bool runs_command(const struct cli_cmd *cmd)
{
	return cmd->operand && !strcmp(cmd->operand, "command");
}

static void commands_add(struct buf *b, const struct cli_tool *tool)
{
	for (size_t i = 0; tool->cmds[i]; i++)
		buf_addf(b, "%s%s", i ? " " : "", tool->cmds[i]->name);
}

static void words_add(struct buf *b, const struct cli_cmd *cmd)
{
	bool first = true;

	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (o->letter)
			buf_addf(b, "%s-%c", first ? "" : " ", o->letter);
		first = first && !o->letter;
		if (o->name)
			buf_addf(b, "%s--%s", first ? "" : " ", o->name);
		first = false;
	}
}

/* The case pattern "-d|--duration" of an option. */
static void pattern_add(struct buf *b, const struct cli_opt *o)
{
	if (o->letter)
		buf_addf(b, "-%c", o->letter);
	if (o->letter && o->name)
		buf_addc(b, '|');
	if (o->name)
		buf_addf(b, "--%s", o->name);
}

static void bash_values(struct buf *b, const struct cli_cmd *cmd)
{
	buf_adds(b, "\t\tcase $prev in\n");
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (!cli_takes_arg(o))
			continue;
		buf_adds(b, "\t\t");
		pattern_add(b, o);
		buf_adds(b, ")\n\t\t\t");
		if (o->values) {
			buf_adds(b, "COMPREPLY=($(compgen -W '");
			values_add(b, o, " ");
			buf_adds(b, "' -- \"$cur\"))");
		} else if (o->kind == CLI_FILE || !strcmp(o->arg, "PATH")) {
			buf_adds(b, "COMPREPLY=($(compgen -f -- \"$cur\"))");
		} else if (o->kind == CLI_PIDS) {
			buf_adds(b, "COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" "
				 "-- \"$cur\"))");
		} else if (!strcmp(o->arg, "USER")) {
			buf_adds(b, "COMPREPLY=($(compgen -u -- \"$cur\"))");
		} else {
			buf_adds(b, "COMPREPLY=()");
		}
		buf_adds(b, "\n\t\t\treturn ;;\n");
	}
	buf_adds(b, "\t\tesac\n");
}

static void letters_add(struct buf *b, const struct cli_cmd *cmd, bool arg)
{
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++)
		if (o->letter && cli_takes_arg(o) == arg)
			buf_addc(b, o->letter);
}

/* Up to two flags before a letter that takes an argument, as in -og RE. */
static void bash_clusters(struct buf *b, const struct cli_cmd *cmd)
{
	for (int flags = 1; flags <= 2; flags++) {
		buf_adds(b, "|-");
		for (int i = 0; i < flags; i++) {
			buf_addc(b, '[');
			letters_add(b, cmd, false);
			buf_addc(b, ']');
		}
		buf_addc(b, '[');
		letters_add(b, cmd, true);
		buf_addc(b, ']');
	}
}

/* Sets $first to the index of the first operand of `run`, 0 when there is none yet. */
static void bash_first_operand(struct buf *b, const struct cli_cmd *cmd)
{
	bool any = false;

	buf_adds(b, "\t\tlocal i first=0\n"
		 "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
		 "\t\t\tcase ${COMP_WORDS[i]} in\n"
		 "\t\t\t--) first=$((i + 1)); break ;;\n\t\t\t");
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (!cli_takes_arg(o))
			continue;
		if (any)
			buf_addc(b, '|');
		pattern_add(b, o);
		any = true;
	}
	bash_clusters(b, cmd);
	buf_adds(b, ") ((i++))\n"
		 "\t\t\t\t[[ ${COMP_WORDS[i]} == = ]] && ((i++)) ;;\n"
		 "\t\t\t-*) ;;\n"
		 "\t\t\t*) first=$i; break ;;\n"
		 "\t\t\tesac\n"
		 "\t\tdone\n"
		 "\t\tif ((first)); then\n"
		 "\t\t\tdeclare -F _command_offset >/dev/null && _command_offset \"$first\"\n"
		 "\t\t\treturn\n"
		 "\t\tfi\n");
}

/* The line with the tool's name before it; _command_offset reads it by its text too. */
static void bash_by_itself(struct buf *b, const struct cli_tool *tool, const char *name)
{
	buf_addf(b, "_%s_%s() {\n\tCOMP_LINE=\"%s $COMP_LINE\"\n"
		 "\t((COMP_POINT += %zu, COMP_CWORD++))\n"
		 "\tCOMP_WORDS=(%s \"${COMP_WORDS[@]}\")\n\tCOMP_WORDS[1]=%s\n\t_%s\n}\n"
		 "complete -o default -F _%s_%s %s\n", tool->name, name, tool->name,
		 strlen(tool->name) + 1, tool->name, name, tool->name, tool->name, name, name);
}

static void completion_bash(struct buf *b, const struct cli_tool *tool)
{
	buf_addf(b, "# bash completion of %s; generated from the option tables\n_%s() {\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		 "\tCOMPREPLY=()\n"
		 "\t[[ $cur == = ]] && cur=\n"
		 "\t[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
		 "\tif ((COMP_CWORD == 1)); then\n"
		 "\t\tCOMPREPLY=($(compgen -W '", tool->name, tool->name);
	commands_add(b, tool);
	buf_adds(b, " --help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n"
		 "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; tool->cmds[i]; i++) {
		const struct cli_cmd *cmd = tool->cmds[i];

		buf_addf(b, "\t%s)\n", cmd->name);
		if (runs_command(cmd))
			bash_first_operand(b, cmd);
		bash_values(b, cmd);
		buf_adds(b, "\t\tif [[ $cur == -* ]]; then\n\t\t\tCOMPREPLY=($(compgen -W '");
		words_add(b, cmd);
		buf_adds(b, "' -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n");
		if (cmd->operand && !strcmp(cmd->operand, "pid"))
			buf_adds(b, "\t\tCOMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" "
				 "-- \"$cur\"))\n");
		else if (cmd->operand && !strcmp(cmd->operand, "topic")) {
			buf_adds(b, "\t\tCOMPREPLY=($(compgen -W '");
			commands_add(b, tool);
			buf_adds(b, "' -- \"$cur\"))\n");
		} else if (cmd->operand && !strcmp(cmd->operand, "file"))
			buf_adds(b, "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n");
		else if (cmd->operand)
			buf_adds(b, "\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n");
		buf_adds(b, "\t\t;;\n");
	}
	buf_addf(b, "\tesac\n}\ncomplete -o default -F _%s %s\n", tool->name, tool->name);
	for (size_t i = 0; tool->cmds[i]; i++)
		if (tool->cmds[i]->by_itself)
			bash_by_itself(b, tool, tool->cmds[i]->name);
}

static void zsh_action(struct buf *b, const struct cli_opt *o)
{
	buf_addc(b, ':');
	quoted(b, o->arg, ":[]\\");
	buf_addc(b, ':');
	if (o->kind == CLI_SET)
		buf_adds(b, "_sequence compadd - ");
	else if (o->values)
		buf_addc(b, '(');
	if (o->values)
		values_add(b, o, " ");
	if (o->values && o->kind != CLI_SET)
		buf_addc(b, ')');
	else if (o->kind == CLI_FILE || !strcmp(o->arg, "PATH"))
		buf_adds(b, "_files");
	else if (o->kind == CLI_PIDS)
		buf_adds(b, "_pids");
	else if (!strcmp(o->arg, "USER"))
		buf_adds(b, "_users");
}

static void zsh_spec(struct buf *b, const struct cli_opt *o, bool letter)
{
	bool again = o->kind == CLI_LIST || o->kind == CLI_PIDS;

	buf_adds(b, " \\\n\t\t\t'");
	if (again)
		buf_addc(b, '*');
	if (letter)
		buf_addf(b, "-%c%s", o->letter, cli_takes_arg(o) ? "+" : "");
	else
		buf_addf(b, "--%s%s", o->name, cli_takes_arg(o) ? "=" : "");
	buf_addc(b, '[');
	quoted(b, o->help, "[]\\");
	buf_addc(b, ']');
	if (cli_takes_arg(o))
		zsh_action(b, o);
	buf_addc(b, '\'');
}

static void completion_zsh(struct buf *b, const struct cli_tool *tool)
{
	buf_addf(b, "#compdef %s", tool->name);
	for (size_t i = 0; tool->cmds[i]; i++)
		if (tool->cmds[i]->by_itself)
			buf_addf(b, " %s", tool->cmds[i]->name);
	buf_addf(b, "\n# generated from the option tables\n_%s() {\n"
		 "\tlocal curcontext=$curcontext state line\n\ttypeset -A opt_args\n"
		 "\tif [[ $service != %s ]]; then\n"
		 "\t\twords=(%s $service \"${(@)words[2,-1]}\")\n\t\t((CURRENT++))\n\tfi\n"
		 "\tif ((CURRENT == 2)); then\n\t\tlocal -a cmds=(\n", tool->name, tool->name,
		 tool->name);
	for (size_t i = 0; tool->cmds[i]; i++) {
		buf_addf(b, "\t\t\t'%s:", tool->cmds[i]->name);
		quoted(b, tool->cmds[i]->summary, ":\\");
		buf_adds(b, "'\n");
	}
	buf_adds(b, "\t\t)\n\t\t_describe command cmds\n\t\treturn\n\tfi\n"
		 "\tshift words\n\t((CURRENT--))\n\tcase $words[1] in\n");
	for (size_t i = 0; tool->cmds[i]; i++) {
		const struct cli_cmd *cmd = tool->cmds[i];

		buf_addf(b, "\t%s)\n\t\t_arguments -s -S", cmd->name);
		for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
			if (o->letter)
				zsh_spec(b, o, true);
			if (o->name)
				zsh_spec(b, o, false);
		}
		if (runs_command(cmd))
			buf_adds(b, " \\\n\t\t\t'(-)1:command: _command_names -e'"
				 " \\\n\t\t\t'*::args: _normal'");
		else if (cmd->operand && !strcmp(cmd->operand, "pid"))
			buf_adds(b, " \\\n\t\t\t'*:pid:_pids'");
		else if (cmd->operand && !strcmp(cmd->operand, "file"))
			buf_adds(b, " \\\n\t\t\t'1:file:_files'");
		else if (cmd->operand) {
			buf_adds(b, " \\\n\t\t\t'1:command:(");
			commands_add(b, tool);
			buf_adds(b, ")'");
		}
		buf_adds(b, "\n\t\t;;\n");
	}
	buf_addf(b, "\tesac\n}\n_%s \"$@\"\n", tool->name);
}

/* @tool NULL: of the command by itself. */
static void fish_option(struct buf *b, const struct cli_tool *tool, const struct cli_cmd *cmd,
			const struct cli_opt *o)
{
	if (tool)
		buf_addf(b, "complete -c %s -n '__fish_seen_subcommand_from %s'", tool->name,
			 cmd->name);
	else
		buf_addf(b, "complete -c %s", cmd->name);
	if (o->letter)
		buf_addf(b, " -s %c", o->letter);
	if (o->name)
		buf_addf(b, " -l %s", o->name);
	if (cli_takes_arg(o)) {
		buf_adds(b, " -r");
		if (o->values) {
			buf_adds(b, " -f -a '");
			values_add(b, o, " ");
			buf_addc(b, '\'');
		} else if (o->kind == CLI_PIDS) {
			buf_adds(b, " -f -a '(__fish_complete_pids)'");
		} else if (!strcmp(o->arg, "USER")) {
			buf_adds(b, " -f -a '(__fish_complete_users)'");
		} else if (o->kind != CLI_FILE && strcmp(o->arg, "PATH")) {
			buf_adds(b, " -f");
		}
	}
	buf_adds(b, " -d '");
	for (const char *s = o->help; *s; s++)
		buf_addf(b, *s == '\'' || *s == '\\' ? "\\%c" : "%c", *s);
	buf_adds(b, "'\n");
}

static void completion_fish(struct buf *b, const struct cli_tool *tool)
{
	buf_addf(b, "# fish completion of %s; generated from the option tables\n", tool->name);
	buf_addf(b, "complete -c %s -n __fish_use_subcommand -f\n", tool->name);
	for (size_t i = 0; tool->cmds[i]; i++) {
		const struct cli_cmd *cmd = tool->cmds[i];

		buf_addf(b, "complete -c %s -n __fish_use_subcommand -f -a %s -d '%s'\n",
			 tool->name, cmd->name, cmd->summary);
		for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++)
			fish_option(b, tool, cmd, o);
		if (runs_command(cmd))
			buf_addf(b, "complete -c %s -n '__fish_seen_subcommand_from %s' -x -a "
				 "'(__fish_complete_subcommand)'\n", tool->name, cmd->name);
		else if (cmd->operand && !strcmp(cmd->operand, "pid"))
			buf_addf(b, "complete -c %s -n '__fish_seen_subcommand_from %s' -f -a "
				 "'(__fish_complete_pids)'\n", tool->name, cmd->name);
		if (!cmd->by_itself)
			continue;
		for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++)
			fish_option(b, NULL, cmd, o);
		buf_addf(b, "complete -c %s -x -a '(__fish_complete_subcommand)'\n", cmd->name);
	}
}

int cli_completion(struct buf *b, const struct cli_tool *tool, const char *shell)
{
	static const struct {
		const char *shell;
		void (*write)(struct buf *b, const struct cli_tool *tool);
	} shells[] = {
		{ "bash", completion_bash },
		{ "zsh", completion_zsh },
		{ "fish", completion_fish },
	};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (!strcmp(shells[i].shell, shell)) {
			shells[i].write(b, tool);
			return 0;
		}
	}
	return -EINVAL;
}
