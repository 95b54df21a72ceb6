/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "collect/proc.h"

/* Unsigned decimal at *s, moving behind it; false when there is none or it is over @max. */
static bool number(const char **s, uint64_t max, uint64_t *value)
{
	const char *at = *s;
	uint64_t v = 0;

	if (*at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++) {
		unsigned int digit = (unsigned int)(*at - '0');

		if (v > (max - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*s = at;
	*value = v;
	return true;
}

/* Moves behind the field at *s and the blanks after it; false at the end. */
static bool skip(const char **s)
{
	*s += strcspn(*s, " \n");
	*s += strspn(*s, " ");
	return **s && **s != '\n';
}

/*
 * The name stands between the first ( and the last ): it may have both in it,
 * and what follows never has.
 */
static const char *parse_comm(const char *s, char comm[PROC_COMM])
{
	const char *close = strrchr(s, ')');
	size_t len;

	if (*s != '(' || !close || close < s)
		return NULL;
	len = (size_t)(close - s) - 1;
	if (len >= PROC_COMM)
		len = PROC_COMM - 1;
	memcpy(comm, s + 1, len);
	comm[len] = '\0';
	return close + 1;
}

int proc_parse_stat(const char *text, struct proc_stat *st)
{
	/* Fields as proc(5) counts them, those that are wanted. */
	enum { FLAGS = 9, THREADS = 20 };
	uint64_t v;
	int i;

	memset(st, 0, sizeof(*st));
	if (!number(&text, INT_MAX, &v) || *text++ != ' ')
		return -EINVAL;
	st->pid = (pid_t)v;
	text = parse_comm(text, st->comm);
	if (!text || *text++ != ' ' || !*text || *text == '\n')
		return -EINVAL;
	st->state = *text;
	for (i = 3; i < THREADS;) {
		if (!skip(&text))
			return -EINVAL;
		i++;
		if (i != FLAGS && i != THREADS)
			continue;
		if (!number(&text, UINT32_MAX, &v))
			return -EINVAL;
		*(i == FLAGS ? &st->flags : &st->threads) = (uint32_t)v;
	}
	return 0;
}

/* The values of line @key ("Tgid:"), which stands at a line's beginning; NULL. */
static const char *line_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	while (*text) {
		if (!strncmp(text, key, n))
			return text + n;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

static bool next_value(const char **s, uint64_t max, uint64_t *v)
{
	*s += strspn(*s, " \t");
	return number(s, max, v);
}

static bool one_value(const char *text, const char *key, pid_t *pid)
{
	const char *s = line_of(text, key);
	uint64_t v;

	if (!s || !next_value(&s, INT_MAX, &v))
		return false;
	*pid = (pid_t)v;
	return true;
}

/* The real, effective and saved id of line @key. */
static bool three_ids(const char *text, const char *key, uint32_t id[3])
{
	const char *s = line_of(text, key);
	uint64_t v;
	int i;

	for (i = 0; i < 3; i++) {
		if (!s || !next_value(&s, UINT32_MAX, &v))
			return false;
		id[i] = (uint32_t)v;
	}
	return true;
}

int proc_parse_status(const char *text, struct proc_status *st)
{
	uint32_t u[3], g[3];

	memset(st, 0, sizeof(*st));
	/* The kernel escapes newlines in Name:, so no name can forge a line. */
	if (!one_value(text, "Tgid:", &st->tgid) || !one_value(text, "Pid:", &st->pid) ||
	    !one_value(text, "PPid:", &st->ppid))
		return -EINVAL;
	if (!three_ids(text, "Uid:", u) || !three_ids(text, "Gid:", g))
		return -EINVAL;
	st->uid = u[0];
	st->euid = u[1];
	st->suid = u[2];
	st->gid = g[0];
	st->egid = g[1];
	st->sgid = g[2];
	return 0;
}
