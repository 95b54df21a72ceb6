/* SPDX-License-Identifier: MIT */
#include "out/jread.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/utf8.h"

static const char *const type_words[] = {
	[JREAD_OBJECT] = "an object",
	[JREAD_ARRAY] = "an array",
	[JREAD_STRING] = "a string",
	[JREAD_NUMBER] = "a number",
	[JREAD_BOOL] = "true or false",
	[JREAD_NULL] = "null",
	[JREAD_BAD] = "",
};

void jread_init(struct jread *j, const char *text, size_t len, struct err *err)
{
	memset(j, 0, sizeof(*j));
	j->text = text;
	j->len = len;
	j->err = err;
}

void jread_release(struct jread *j)
{
	buf_release(&j->unescaped);
}

static int fail_at(struct jread *j, size_t at, const char *what)
{
	j->bad_at = at;
	return err_set(j->err, EINVAL, "%s", what);
}

/* A wish that was not met: for something else, or for the end of the text. */
static int fail_here(struct jread *j, const char *what)
{
	if (j->at < j->len)
		return fail_at(j, j->at, what);
	j->cut = true;
	return fail_at(j, j->len, "it ends too soon");
}

/* What is wrong at .at may be that less than the @need bytes of it are there. */
static int fail_or_cut(struct jread *j, size_t need, const char *what)
{
	if (j->len - j->at < need)
		j->at = j->len;
	return fail_here(j, what);
}

int jread_fail(struct jread *j, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return fail_at(j, j->at ? j->at - 1 : 0, text);
}

void jread_where(const struct jread *j, size_t *line, size_t *column)
{
	size_t i;

	*line = *column = 1;
	for (i = 0; i < j->bad_at && i < j->len; i++) {
		++*column;
		if (j->text[i] == '\n') {
			++*line;
			*column = 1;
		}
	}
}

static int peek_char(struct jread *j)
{
	while (j->at < j->len) {
		char c = j->text[j->at];

		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			return (unsigned char)c;
		j->at++;
	}
	return -1;
}

enum jread_type jread_peek(struct jread *j)
{
	switch (peek_char(j)) {
	case '{':
		return JREAD_OBJECT;
	case '[':
		return JREAD_ARRAY;
	case '"':
		return JREAD_STRING;
	case 't':
	case 'f':
		return JREAD_BOOL;
	case 'n':
		return JREAD_NULL;
	case '-':
	case '0' ... '9':
		return JREAD_NUMBER;
	default:
		return JREAD_BAD;
	}
}

/* Makes sure that the value which comes next is of @type. */
static int want(struct jread *j, enum jread_type type)
{
	enum jread_type got = jread_peek(j);
	char text[80];

	if (got == type)
		return 0;
	snprintf(text, sizeof(text), got == JREAD_BAD ? "expected %s" : "expected %s, not %s",
		 type_words[type], type_words[got]);
	return fail_here(j, text);
}

static int open_level(struct jread *j, enum jread_type type)
{
	int r = want(j, type);

	if (r)
		return r;
	if (j->depth == JREAD_DEPTH)
		return fail_here(j, "it is nested too deep");
	j->is_array &= ~(1ull << j->depth);
	j->has_any &= ~(1ull << j->depth);
	if (type == JREAD_ARRAY)
		j->is_array |= 1ull << j->depth;
	j->depth++;
	j->at++;
	return 0;
}

int jread_object(struct jread *j)
{
	return open_level(j, JREAD_OBJECT);
}

int jread_array(struct jread *j)
{
	return open_level(j, JREAD_ARRAY);
}

/* Over the comma before the next item, or the bracket that ends them: 1 or 0. */
static int next_item(struct jread *j)
{
	const uint64_t bit = 1ull << (j->depth - 1);
	const bool array = j->is_array & bit;
	int c = peek_char(j);

	if (c == (array ? ']' : '}')) {
		j->at++;
		j->depth--;
		return 0;
	}
	if (j->has_any & bit) {
		if (c != ',')
			return fail_here(j, array ? "expected a comma or ]" :
					 "expected a comma or }");
		j->at++;
		c = peek_char(j);
		if (c == ']' || c == '}')
			return fail_here(j, "nothing follows the comma");
	}
	j->has_any |= bit;
	return 1;
}

int jread_element(struct jread *j)
{
	return next_item(j);
}

int jread_member(struct jread *j)
{
	int r = next_item(j);

	if (r <= 0)
		return r;
	if (peek_char(j) != '"')
		return fail_here(j, "expected a name in quotes");
	r = jread_string(j);
	if (r)
		return r;
	if (peek_char(j) != ':')
		return fail_here(j, "expected a colon");
	j->at++;
	return 1;
}

/* Four hexadecimal digits at @at; -1: they are not. */
static int hex4(const struct jread *j, size_t at)
{
	int v = 0, i;

	if (j->len - at < 4)
		return -1;
	for (i = 0; i < 4; i++) {
		char c = j->text[at + (size_t)i];

		if (c >= '0' && c <= '9')
			v = v * 16 + c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			v = v * 16 + (c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return v;
}

/* The character that the digits behind "\u" stand for, with its second half where it has one. */
static int unescape_u(struct jread *j, char out[4], unsigned int *n)
{
	int high = hex4(j, j->at), low = -1;
	uint32_t cp = (uint32_t)high;

	if (high < 0)
		return fail_or_cut(j, 4, "expected four hexadecimal digits behind \\u");
	if (!high)
		return fail_at(j, j->at, "\\u0000 stands in a string");
	j->at += 4;
	if (high >= 0xd800 && high < 0xe000) {
		if (high < 0xdc00 && j->len - j->at >= 6 && j->text[j->at] == '\\' &&
		    j->text[j->at + 1] == 'u')
			low = hex4(j, j->at + 2);
		if (low < 0xdc00 || low >= 0xe000)
			return fail_or_cut(j, 6, "half a surrogate pair stands in a string");
		j->at += 6;
		cp = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
	}
	*n = utf8_encode(cp, out);
	return 0;
}

static int unescape(struct jread *j)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	unsigned int n = 1;
	const char *which;
	char out[4];
	int r;

	j->at++;
	if (j->at >= j->len)
		return fail_here(j, "");
	if (j->text[j->at] == 'u') {
		j->at++;
		r = unescape_u(j, out, &n);
		if (r)
			return r;
	} else {
		which = strchr(from, j->text[j->at]);
		if (!which || !*which)
			return fail_at(j, j->at, "an unknown escape stands in a string");
		out[0] = to[which - from];
		j->at++;
	}
	return buf_add(&j->unescaped, out, n) ? err_sys(j->err, ENOMEM, "cannot read a string") : 0;
}

/* Moves over characters that stand for themselves. */
static int plain_run(struct jread *j)
{
	while (j->at < j->len) {
		unsigned char c = (unsigned char)j->text[j->at];
		unsigned int n = 1;
		uint32_t cp;

		if (c == '"' || c == '\\')
			return 0;
		if (c < 0x20)
			return fail_at(j, j->at, "a control character stands in a string");
		if (c >= 0x80)
			n = utf8_decode(j->text + j->at, j->len - j->at, &cp);
		if (!n)
			return fail_or_cut(j, 4, "a string is not UTF-8");
		j->at += n;
	}
	return 0;
}

int jread_string(struct jread *j)
{
	bool copied = false;
	size_t from;
	int r = want(j, JREAD_STRING);

	if (r)
		return r;
	j->at++;
	buf_reset(&j->unescaped);
	for (;;) {
		from = j->at;
		r = plain_run(j);
		if (r)
			return r;
		if (j->at >= j->len)
			return fail_here(j, "");
		j->s = j->text + from;
		j->n = j->at - from;
		if (j->text[j->at] == '"' && !copied)
			break;
		copied = true;
		if (buf_add(&j->unescaped, j->s, j->n))
			return err_sys(j->err, ENOMEM, "cannot read a string");
		if (j->text[j->at] == '"')
			break;
		r = unescape(j);
		if (r)
			return r;
	}
	j->at++;
	if (copied) {
		j->s = j->unescaped.data;
		j->n = j->unescaped.len;
	}
	return 0;
}

static bool digits(struct jread *j)
{
	size_t from = j->at;

	while (j->at < j->len && j->text[j->at] >= '0' && j->text[j->at] <= '9')
		j->at++;
	return j->at > from;
}

/* Moves over a number; *whole: it has neither fraction nor exponent. */
static int number(struct jread *j, size_t *from, bool *whole)
{
	int r = want(j, JREAD_NUMBER);
	size_t first;

	if (r)
		return r;
	*from = j->at;
	*whole = true;
	j->at += j->text[j->at] == '-';
	first = j->at;
	if (!digits(j) || (j->text[first] == '0' && j->at > first + 1))
		return fail_at(j, *from, "a number is not written as JSON wants it");
	if (j->at < j->len && j->text[j->at] == '.') {
		*whole = false;
		j->at++;
		if (!digits(j))
			return fail_here(j, "expected digits behind the point");
	}
	if (j->at < j->len && (j->text[j->at] | 0x20) == 'e') {
		*whole = false;
		j->at++;
		if (j->at < j->len && (j->text[j->at] == '+' || j->text[j->at] == '-'))
			j->at++;
		if (!digits(j))
			return fail_here(j, "expected digits of the exponent");
	}
	/* At the very end of a text that is cut, more digits may have followed. */
	return j->at == j->len && j->depth ? fail_here(j, "") : 0;
}

static int to_real(struct jread *j, size_t from, double *v)
{
	char copy[512];

	if (j->at - from >= sizeof(copy))
		return fail_at(j, from, "a number has more than 500 digits");
	memcpy(copy, j->text + from, j->at - from);
	copy[j->at - from] = '\0';
	*v = strtod(copy, NULL);
	return 0;
}

int jread_real(struct jread *j, double *v)
{
	size_t from;
	bool whole;
	int r = number(j, &from, &whole);

	return r ? r : to_real(j, from, v);
}

/* Digits from @from to where the reader is; false: more than 64 bits. */
static bool to_u64(const struct jread *j, size_t from, uint64_t *v)
{
	*v = 0;
	for (; from < j->at; from++) {
		if (__builtin_mul_overflow(*v, 10u, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(j->text[from] - '0'), v))
			return false;
	}
	return true;
}

int jread_u64(struct jread *j, uint64_t *v)
{
	size_t from;
	bool whole;
	double real;
	int r = number(j, &from, &whole);

	if (r)
		return r;
	if (whole && j->text[from] != '-')
		return to_u64(j, from, v) ? 0 : fail_at(j, from, "a number is too large");
	r = to_real(j, from, &real);
	if (r)
		return r;
	if (!(real >= 0 && real < 18446744073709551616.0))
		return fail_at(j, from, real < 0 ? "a number is below 0" : "a number is too large");
	*v = (uint64_t)real;
	return (double)*v == real ? 0 : fail_at(j, from, "expected a whole number");
}

int jread_i64(struct jread *j, int64_t *v)
{
	uint64_t u;
	size_t from;
	bool whole, minus;
	int r = number(j, &from, &whole);

	if (r)
		return r;
	if (!whole)
		return fail_at(j, from, "expected a whole number");
	minus = j->text[from] == '-';
	if (!to_u64(j, from + minus, &u) || u > (uint64_t)INT64_MAX + minus)
		return fail_at(j, from, "a number is too large");
	*v = (int64_t)(minus ? 0 - u : u);
	return 0;
}

static int word(struct jread *j, const char *text)
{
	size_t n = strlen(text), left = j->len - j->at;

	if (left < n && !memcmp(j->text + j->at, text, left)) {
		j->at = j->len;
		return fail_here(j, "");
	}
	if (left < n || memcmp(j->text + j->at, text, n))
		return fail_here(j, "expected true, false or null");
	j->at += n;
	return 0;
}

int jread_bool(struct jread *j, bool *v)
{
	int r = want(j, JREAD_BOOL);

	if (r)
		return r;
	*v = j->text[j->at] == 't';
	return word(j, *v ? "true" : "false");
}

int jread_null(struct jread *j)
{
	int r = want(j, JREAD_NULL);

	return r ? r : word(j, "null");
}

static int skip_scalar(struct jread *j, enum jread_type type)
{
	size_t from;
	bool flag;

	switch (type) {
	case JREAD_STRING:
		return jread_string(j);
	case JREAD_NUMBER:
		return number(j, &from, &flag);
	case JREAD_BOOL:
		return jread_bool(j, &flag);
	case JREAD_NULL:
		return jread_null(j);
	default:
		return fail_here(j, "expected a value");
	}
}

int jread_skip(struct jread *j)
{
	const unsigned int outside = j->depth;
	int r;

	do {
		enum jread_type type = jread_peek(j);

		if (type == JREAD_OBJECT || type == JREAD_ARRAY)
			r = open_level(j, type);
		else
			r = skip_scalar(j, type);
		/* To the next value inside, out of what ends. */
		while (!r && j->depth > outside) {
			r = j->is_array & 1ull << (j->depth - 1) ? jread_element(j) :
								   jread_member(j);
			if (r)
				break;
		}
		if (r < 0)
			return r;
	} while (j->depth > outside);
	return 0;
}

int jread_end(struct jread *j)
{
	return peek_char(j) < 0 ? 0 : fail_at(j, j->at, "something follows its end");
}
