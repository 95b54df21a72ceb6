/* SPDX-License-Identifier: MIT */
#ifndef JSON_CHECK_H
#define JSON_CHECK_H

/* A strict judge of RFC 8259 for the tests of what we write; it builds nothing. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "out/utf8.h"

struct json_check {
	const char *p, *end;
	unsigned int depth;
};

__attribute__((unused)) static bool json_check_value(struct json_check *j);

__attribute__((unused)) static void json_check_space(struct json_check *j)
{
	while (j->p < j->end && strchr(" \t\n\r", *j->p) && *j->p)
		j->p++;
}

__attribute__((unused)) static bool json_check_take(struct json_check *j, char c)
{
	json_check_space(j);
	if (j->p >= j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

__attribute__((unused)) static bool json_check_escape(struct json_check *j)
{
	int i;

	if (j->p >= j->end || !*j->p || !strchr("\"\\/bfnrtu", *j->p))
		return false;
	if (*j->p++ != 'u')
		return true;
	for (i = 0; i < 4; i++, j->p++)
		if (j->p >= j->end || !*j->p || !strchr("0123456789abcdefABCDEF", *j->p))
			return false;
	return true;
}

__attribute__((unused)) static bool json_check_string(struct json_check *j)
{
	if (!json_check_take(j, '"'))
		return false;
	while (j->p < j->end && *j->p != '"') {
		uint32_t cp;
		unsigned int len = utf8_decode(j->p, (size_t)(j->end - j->p), &cp);

		if (!len || cp < 0x20)
			return false;
		j->p += len;
		if (cp == '\\' && !json_check_escape(j))
			return false;
	}
	return j->p < j->end && *j->p++ == '"';
}

__attribute__((unused)) static bool json_check_digits(struct json_check *j)
{
	const char *from = j->p;

	while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
		j->p++;
	return j->p > from;
}

__attribute__((unused)) static bool json_check_number(struct json_check *j)
{
	const char *from;

	if (j->p < j->end && *j->p == '-')
		j->p++;
	from = j->p;
	if (!json_check_digits(j) || (*from == '0' && j->p > from + 1))
		return false;
	if (j->p < j->end && *j->p == '.') {
		j->p++;
		return json_check_digits(j);
	}
	return true;
}

__attribute__((unused)) static bool json_check_list(struct json_check *j, char close, bool keys)
{
	j->p++;
	if (json_check_take(j, close))
		return true;
	do {
		if (keys && (!json_check_string(j) || !json_check_take(j, ':')))
			return false;
		if (!json_check_value(j))
			return false;
	} while (json_check_take(j, ','));
	return json_check_take(j, close);
}

__attribute__((unused)) static bool json_check_word(struct json_check *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0)
		return false;
	j->p += n;
	return true;
}

__attribute__((unused)) static bool json_check_value(struct json_check *j)
{
	bool ok;

	json_check_space(j);
	if (j->p >= j->end || j->depth > 64)
		return false;
	j->depth++;
	switch (*j->p) {
	case '{':
		ok = json_check_list(j, '}', true);
		break;
	case '[':
		ok = json_check_list(j, ']', false);
		break;
	case '"':
		ok = json_check_string(j);
		break;
	case 't':
		ok = json_check_word(j, "true");
		break;
	case 'f':
		ok = json_check_word(j, "false");
		break;
	case 'n':
		ok = json_check_word(j, "null");
		break;
	default:
		ok = json_check_number(j);
	}
	j->depth--;
	return ok;
}

/* Whether the @n bytes at @s are one JSON text; *where: how far it got. */
__attribute__((unused)) static bool json_check(const char *s, size_t n, size_t *where)
{
	struct json_check j = { .p = s, .end = s + n };
	bool ok = json_check_value(&j);

	json_check_space(&j);
	*where = (size_t)(j.p - s);
	return ok && j.p == j.end;
}

#endif
