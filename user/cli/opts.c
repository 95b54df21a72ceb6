/* SPDX-License-Identifier: MIT */
#include "cli/opts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"
#include "cli/value.h"

#define PID_LARGEST 4194304u	/* PID_MAX_LIMIT of the kernel on 64 bits */

/* One option as it stood on the command line, for messages. */
struct spelled {
	const struct cli_cmd *cmd;
	const struct cli_opt *opt;
	const char *word;	/* "--duration" or "-d": .len bytes of it */
	int len;
	void *dest;
	struct err *err;
	uint64_t *given;	/* a bit each row, of a command whose options are given once */
};

bool cli_is_end(const struct cli_opt *opt)
{
	return !opt->name && !opt->letter;
}

bool cli_takes_arg(const struct cli_opt *opt)
{
	return opt->kind != CLI_FLAG && opt->kind != CLI_NOOP && opt->kind != CLI_HELP;
}

void cli_pids_release(struct cli_pids *pids)
{
	free(pids->pid);
	*pids = (struct cli_pids){ 0 };
}

void cli_list_release(struct cli_list *list)
{
	free(list->item);
	*list = (struct cli_list){ 0 };
}

/* Grows by doubling at each power of two, so the count says the room. */
static int list_grow(void **items, size_t n, size_t item_bytes, struct err *err)
{
	void *p;

	if (n & (n - 1))
		return 0;
	p = reallocarray(*items, n ? n * 2 : 1, item_bytes);
	if (!p)
		return err_sys(err, ENOMEM, "cannot keep the options");
	*items = p;
	return 0;
}

static int list_add(struct cli_list *list, const char *item, struct err *err)
{
	void *items = list->item;
	int r = list_grow(&items, list->n, sizeof(*list->item), err);

	if (r)
		return r;
	list->item = items;
	list->item[list->n++] = item;
	return 0;
}

static int pid_add(struct cli_pids *pids, pid_t pid, struct err *err)
{
	void *items = pids->pid;
	int r;

	for (size_t i = 0; i < pids->n; i++) {
		if (pids->pid[i] == pid)
			return 0;
	}
	r = list_grow(&items, pids->n, sizeof(*pids->pid), err);
	if (r)
		return r;
	pids->pid = items;
	pids->pid[pids->n++] = pid;
	return 0;
}

/* "1,,2", ",1", "1,": a value is missing, as of a shell variable that is empty. */
static int empty_item(const char *list, struct err *err)
{
	return err_set(err, EINVAL, "'%s' has an empty item", list);
}

/* Moves *p over what parts two pids: blanks, one comma, or both. The number of commas. */
static unsigned int skip_separator(const char **p)
{
	unsigned int commas = 0;

	for (; **p && strchr(", \t\n", **p); (*p)++)
		commas += **p == ',';
	return commas;
}

int cli_pids_add(struct cli_pids *pids, const char *list, struct err *err)
{
	static const char seps[] = ", \t\n";
	const char *p = list;
	unsigned int commas = skip_separator(&p);
	int r;

	if (!*p)
		return err_set(err, EINVAL, "'%s' holds no pid", list);
	if (commas)
		return empty_item(list, err);
	while (*p) {
		size_t n = strcspn(p, seps);
		char word[16];
		uint64_t v = 0;

		if (n < sizeof(word)) {
			memcpy(word, p, n);
			word[n] = '\0';
			if (cli_value_uint(word, &v))
				v = 0;
		}
		if (!v || v > PID_LARGEST)
			return err_set(err, EINVAL, "'%.*s' is not a pid", (int)n, p);
		r = pid_add(pids, (pid_t)v, err);
		if (r)
			return r;
		p += n;
		commas = skip_separator(&p);
		if (commas > 1 || (commas && !*p))
			return empty_item(list, err);
	}
	return 0;
}

static int value_index(const char *const *values, const char *word, size_t len)
{
	for (int i = 0; values[i]; i++) {
		if (strlen(values[i]) == len && !memcmp(values[i], word, len))
			return i;
	}
	return -1;
}

/* "-S: 'tiem' is not one of time, calls, …", and the nearest. */
static int bad_choice(const struct spelled *s, const char *word, size_t len)
{
	const char *const *values = s->opt->values;
	const char *best = NULL;
	unsigned int distance = 0;
	char copy[64], all[256] = "";
	int r;

	for (int i = 0; values[i]; i++) {
		size_t used = strlen(all);

		if (used + strlen(values[i]) + 3 < sizeof(all)) {
			if (i)
				strcat(all, ", ");
			strcat(all, values[i]);
		}
		if (len < sizeof(copy)) {
			memcpy(copy, word, len);
			copy[len] = '\0';
			cli_suggest(copy, values[i], &best, &distance);
		}
	}
	r = err_set(s->err, EINVAL, "%.*s: '%.*s' is not one of %s", s->len, s->word, (int)len,
		    word, all);
	if (best)
		err_hint(s->err, "did you mean '%s'?", best);
	return r;
}

static int set_choice(const struct spelled *s, const char *value)
{
	const struct cli_pair *alias = s->opt->aliases;
	int i = value_index(s->opt->values, value, strlen(value));

	for (; i < 0 && alias && alias->what; alias++)
		if (!strcmp(alias->what, value))
			i = value_index(s->opt->values, alias->text, strlen(alias->text));

	if (i < 0)
		return bad_choice(s, value, strlen(value));
	*(int *)((char *)s->dest + s->opt->offset) = i;
	return 0;
}

static int set_bits(const struct spelled *s, const char *value)
{
	unsigned int bits = 0;

	for (const char *p = value;; p++) {
		size_t n = strcspn(p, ",");
		int i = value_index(s->opt->values, p, n);

		if (!n && *value) {
			empty_item(value, s->err);
			return err_prefix(s->err, "%.*s", s->len, s->word);
		}
		if (i < 0)
			return bad_choice(s, p, n);
		bits |= 1u << i;
		p += n;
		if (!*p)
			break;
	}
	*(unsigned int *)((char *)s->dest + s->opt->offset) = bits;
	return 0;
}

static int set_number(const struct spelled *s, const char *value)
{
	uint64_t *out = (uint64_t *)((char *)s->dest + s->opt->offset);
	const char *what;
	int r;

	switch (s->opt->kind) {
	case CLI_SIZE:
		what = "a size (as in 65536, 512K, 32M, 1G)";
		r = cli_value_size(value, out);
		break;
	case CLI_DURATION:
		what = "a time (as in 10, 1.5s, 500ms, 2m)";
		r = cli_value_duration(value, out);
		break;
	default:
		what = "a whole number";
		r = cli_value_uint(value, out);
		break;
	}
	if (!r)
		return 0;
	return err_set(s->err, EINVAL, "%.*s: '%s' is %s%s", s->len, s->word, value,
		       r == -ERANGE ? "too large for " : "not ", what);
}

static int set_value(const struct spelled *s, const char *value)
{
	void *at = (char *)s->dest + s->opt->offset;
	int r;

	if (s->cmd->once) {
		const uint64_t bit = 1ull << (s->opt - s->cmd->opts);

		if (*s->given & bit)
			return err_set(s->err, EINVAL, "option '%.*s' is given more than once",
				       s->len, s->word);
		*s->given |= bit;
	}
	switch (s->opt->kind) {
	case CLI_FLAG:
		*(bool *)at = true;
		return 0;
	case CLI_NOOP:
		return 0;
	case CLI_HELP:
		return CLI_WANTS_HELP;
	case CLI_STRING:
	case CLI_FILE:
		if (!*value)
			return err_set(s->err, EINVAL, "%.*s: %s is empty", s->len, s->word,
				       s->opt->arg);
		*(const char **)at = value;
		return 0;
	case CLI_TEXT:
		*(const char **)at = value;
		return 0;
	case CLI_SIZE:
	case CLI_DURATION:
	case CLI_UINT:
		return set_number(s, value);
	case CLI_ENUM:
		return set_choice(s, value);
	case CLI_SET:
		return set_bits(s, value);
	case CLI_LIST:
		return list_add(at, value, s->err);
	case CLI_PIDS:
		r = cli_pids_add(at, value, s->err);
		if (r)
			err_prefix(s->err, "%.*s", s->len, s->word);
		return r;
	}
	return 0;
}

static void hint_help(const struct cli_cmd *cmd, const char *best, struct err *err)
{
	if (best)
		err_hint(err, "did you mean '--%s'? 'tracer %s --help' lists all options", best,
			 cmd->name);
	else
		err_hint(err, "'tracer %s --help' lists all options", cmd->name);
}

static int missing_arg(const struct spelled *s)
{
	int r = err_set(s->err, EINVAL, "option '%.*s' needs an argument: %s", s->len, s->word,
			s->opt->arg);

	hint_help(s->cmd, NULL, s->err);
	return r;
}

/* argv[*i] begins with two dashes; may take argv[*i + 1] as its argument. */
static int parse_long(const struct cli_cmd *cmd, int argc, char **argv, int *i, void *dest,
		      uint64_t *given, struct err *err)
{
	const char *word = argv[*i], *name = word + 2, *value = strchr(name, '=');
	size_t len = value ? (size_t)(value - name) : strlen(name);
	struct spelled s = { cmd, NULL, word, (int)len + 2, dest, err, given };
	const char *best = NULL;
	unsigned int distance = 0;
	char copy[64];
	int r;

	if (len < sizeof(copy)) {
		memcpy(copy, name, len);
		copy[len] = '\0';
	} else {
		copy[0] = '\0';
	}
	for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
		if (!o->name)
			continue;
		if (!strcmp(o->name, copy)) {
			s.opt = o;
			break;
		}
		cli_suggest(copy, o->name, &best, &distance);
	}
	if (!s.opt) {
		r = err_set(err, EINVAL, "unknown option '%.*s'", s.len, word);
		hint_help(cmd, best, err);
		return r;
	}
	if (!cli_takes_arg(s.opt)) {
		if (value)
			return err_set(err, EINVAL, "option '%.*s' takes no argument", s.len, word);
		return set_value(&s, NULL);
	}
	if (value)
		return set_value(&s, value + 1);
	if (*i + 1 >= argc)
		return missing_arg(&s);
	return set_value(&s, argv[++*i]);
}

/* argv[*i] is "-abc", "-dVALUE" or "-d" with its argument in argv[*i + 1]. */
static int parse_short(const struct cli_cmd *cmd, int argc, char **argv, int *i, void *dest,
		       uint64_t *given, struct err *err)
{
	int r;

	for (const char *p = argv[*i] + 1; *p; p++) {
		char word[3] = { '-', *p, '\0' };
		struct spelled s = { cmd, NULL, word, 2, dest, err, given };

		for (const struct cli_opt *o = cmd->opts; !cli_is_end(o); o++) {
			if (o->letter == *p)
				s.opt = o;
		}
		if (!s.opt) {
			r = err_set(err, EINVAL, "unknown option '%s'", word);
			hint_help(cmd, NULL, err);
			return r;
		}
		if (!cli_takes_arg(s.opt)) {
			r = set_value(&s, NULL);
			if (r)
				return r;
			continue;
		}
		if (p[1] == '=' && p[2] && cmd->letter_equals)
			p++;
		if (p[1])
			return set_value(&s, p + 1);
		if (*i + 1 >= argc)
			return missing_arg(&s);
		return set_value(&s, argv[++*i]);
	}
	return 0;
}

int cli_parse(const struct cli_cmd *cmd, int argc, char **argv, void *dest, int *first,
	      struct err *err)
{
	int i, r = 0, nops = 0;
	bool options = true;
	uint64_t given = 0;
	char **op;

	*first = argc;
	op = calloc((size_t)argc + 1, sizeof(*op));
	if (!op)
		return err_sys(err, ENOMEM, "cannot keep the options");
	for (i = 1; i < argc && !r; i++) {
		char *word = argv[i];

		if (!options || word[0] != '-' || !word[1]) {
			if (cmd->operands == CLI_OPERANDS_NONE)
				r = err_set(err, EINVAL, "unexpected argument '%s'", word);
			op[nops++] = word;
			if (cmd->operands == CLI_OPERANDS_COMMAND)
				options = false;
		} else if (!strcmp(word, "--")) {
			options = false;
		} else if (word[1] == '-') {
			r = parse_long(cmd, argc, argv, &i, dest, &given, err);
		} else {
			r = parse_short(cmd, argc, argv, &i, dest, &given, err);
		}
	}
	if (!r) {
		*first = argc - nops;
		memcpy(argv + *first, op, (size_t)nops * sizeof(*op));
	}
	free(op);
	return r;
}
