/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: classes are written out as the crate defines them rather than as PCRE2's of the
 * same letter: \s is White_Space, \w is UTS#18's word, [[:alpha:]] is ASCII. ASCII members
 * are named first, as JIT code then needs no property of them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/codepoint.h"
#include "tape/rxparse.h"

#define NO_UTF8 "pattern can match invalid UTF-8"

static const struct { char letter; const char *unicode, *ascii; } perl_classes[] = {
	{ 'd', "0-9\\p{Nd}", "0-9" },
	{ 's', "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"
	       "\\x{202f}\\x{205f}\\x{3000}", "\\x{9}-\\x{d}\\x{20}" },
	{ 'w', "0-9A-Z_a-z\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}", "0-9A-Z_a-z" },
};

static const struct { char letter; const char *text; } asserts[] = {
	{ 'A', "\\A" }, { 'z', "\\z" }, { 'b', "\\b" }, { 'B', "\\B" },
	{ '<', "\\b(?=\\w)" }, { '>', "\\b(?<=\\w)" },
};

static const char controls[][2] = {
	{ 'a', '\a' }, { 'f', '\f' }, { 't', '\t' }, { 'n', '\n' }, { 'r', '\r' }, { 'v', '\v' },
};

int rx_refuse(struct rx_parse *r, const char *at, const char *why)
{
	const size_t room = sizeof(r->err->msg) - 200;
	const size_t len = (size_t)(r->end - r->start), where = (size_t)(at - r->start);
	size_t column = 0;

	for (size_t i = 0; i < where && i < len; i++)
		column += (r->start[i] & 0xc0) != 0x80;
	if (len > room || column + len > room)
		return err_set(r->err, EINVAL, "regex parse error:\n    at byte %zu\nerror: %s",
			       where, why);
	return err_set(r->err, EINVAL, "regex parse error:\n    %.*s\n    %*s^\nerror: %s",
		       (int)len, r->start, (int)column, "", why);
}

unsigned int rx_peek(const struct rx_parse *r, uint32_t *cp)
{
	return utf8_decode(r->p, (size_t)(r->end - r->p), cp);
}

void rx_add_char(struct buf *out, uint32_t cp)
{
	if ((cp >= '0' && cp <= '9') || (cp >= 'A' && cp <= 'Z') || (cp >= 'a' && cp <= 'z'))
		buf_addc(out, (char)cp);
	else
		buf_addf(out, "\\x{%x}", cp);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Behind \x, \u or \U: @digits of them, or any number in braces. */
static int read_hex(struct rx_parse *r, unsigned int digits, struct rx_escaped *e)
{
	const char *at = r->p;
	const bool braces = r->p < r->end && *r->p == '{';
	unsigned int n = 0;
	uint64_t v = 0;

	r->p += braces;
	for (; r->p < r->end && hex_digit(*r->p) >= 0 && (braces || n < digits); r->p++, n++) {
		if (v <= 0x10ffff)
			v = v << 4 | (unsigned int)hex_digit(*r->p);
	}
	if (braces && (r->p == r->end || *r->p != '}'))
		return rx_refuse(r, at, "invalid hexadecimal digit");
	if (braces && !n)
		return rx_refuse(r, at, "hexadecimal literal empty");
	if (!braces && n < digits)
		return rx_refuse(r, at, r->p == r->end ? "incomplete escape sequence, reached end "
				 "of pattern prematurely" : "invalid hexadecimal digit");
	r->p += braces;
	if (v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return rx_refuse(r, at, "hexadecimal literal is not a Unicode scalar value");
	e->kind = RX_ESC_CHAR;
	e->cp = (uint32_t)v;
	e->byte = !braces && digits == 2;
	if (!r->flags.unicode && e->cp >= 0x80)
		return rx_refuse(r, at, NO_UTF8);
	return 0;
}

/* Behind \p or \P: a letter, or a name in braces. */
static int read_property(struct rx_parse *r, struct rx_escaped *e)
{
	const char *at = r->p, *name = r->p, *sign = "";
	size_t n = 1;

	if (!r->flags.unicode)
		return rx_refuse(r, at, "Unicode not allowed here");
	if (r->p == r->end)
		return rx_refuse(r, at, "incomplete escape sequence, reached end of pattern "
				 "prematurely");
	if (*r->p == '{') {
		const char *close = memchr(r->p, '}', (size_t)(r->end - r->p));

		if (!close)
			return rx_refuse(r, at, "Unicode property not found");
		name++;
		if (*name == '^') {
			name++;
			sign = "^";
		}
		n = (size_t)(close - name);
		r->p = close;
	}
	r->p++;
	for (size_t i = 0; i < n; i++) {
		const char c = name[i] | 0x20;

		if (!((c >= 'a' && c <= 'z') || strchr(" -_:=0123456789", name[i])) || !name[i])
			return rx_refuse(r, at, "Unicode property not found");
	}
	if (!n || n > 100)
		return rx_refuse(r, at, "Unicode property not found");
	e->kind = RX_ESC_CLASS;
	snprintf(e->text, sizeof(e->text), "\\p{%s%.*s}", sign, (int)n, name);
	/* "Any" and "ASCII" are the crate's, "gc=L" is its way to say "L". */
	for (char *c = e->text; *c; c++) {
		if (*c == '=')
			*c = ':';
	}
	if (n > 3 && !strncmp(name, "gc", 2) && (name[2] == '=' || name[2] == ':'))
		snprintf(e->text, sizeof(e->text), "\\p{%s%.*s}", sign, (int)n - 3, name + 3);
	return 0;
}

static bool read_perl_class(struct rx_parse *r, char c, struct rx_escaped *e)
{
	const char small = c | 0x20;

	for (size_t i = 0; i < sizeof(perl_classes) / sizeof(perl_classes[0]); i++) {
		if (perl_classes[i].letter != small)
			continue;
		e->kind = RX_ESC_CLASS;
		e->negated = c != small;
		snprintf(e->text, sizeof(e->text), "%s", r->flags.unicode && !r->ascii ?
			 perl_classes[i].unicode : perl_classes[i].ascii);
		return true;
	}
	return false;
}

static bool read_assert(char c, struct rx_escaped *e)
{
	for (size_t i = 0; i < sizeof(asserts) / sizeof(asserts[0]); i++) {
		if (asserts[i].letter != c)
			continue;
		e->kind = RX_ESC_ASSERT;
		snprintf(e->text, sizeof(e->text), "%s", asserts[i].text);
		return true;
	}
	return false;
}

int rx_read_escape(struct rx_parse *r, struct rx_escaped *e)
{
	const char *at = r->p - 1;
	int rc;
	char c;

	*e = (struct rx_escaped){ .kind = RX_ESC_CHAR };
	if (r->p == r->end)
		return rx_refuse(r, at, "incomplete escape sequence, reached end of pattern "
				 "prematurely");
	c = *r->p++;
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		if (controls[i][0] == c) {
			e->cp = (unsigned char)controls[i][1];
			return 0;
		}
	}
	if (c >= '0' && c <= '9')
		return rx_refuse(r, at, "backreferences are not supported");
	if (c == 'x' || c == 'u' || c == 'U')
		return read_hex(r, c == 'x' ? 2 : c == 'u' ? 4 : 8, e);
	if (c == 'p' || c == 'P') {
		e->negated = c == 'P';
		return read_property(r, e);
	}
	if (read_assert(c, e))
		return 0;
	if (read_perl_class(r, c, e)) {
		rc = e->negated && !r->flags.unicode ? rx_refuse(r, at, NO_UTF8) : 0;
		return rc;
	}
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c & 0x80)
		return rx_refuse(r, at, "unrecognized escape sequence");
	e->cp = (unsigned char)c;
	return 0;
}
