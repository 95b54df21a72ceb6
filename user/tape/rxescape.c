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

/*
 * PCRE2's \b knows less of words than its \w and the crate's \b do: marks and joiners are
 * in them. For ASCII the two agree.
 */
#define WORD_ASCII "0-9A-Z_a-z"
#define WORD WORD_ASCII "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"
#define BEHIND(word) "(?<=[" word "])"
#define NOT_BEHIND(word) "(?<![" word "])"
#define AHEAD(word) "(?=[" word "])"
#define NOT_AHEAD(word) "(?![" word "])"
#define BOUNDARY(word) "(?" BEHIND(word) NOT_AHEAD(word) "|" AHEAD(word) ")"
#define NO_BOUNDARY(word) "(?" BEHIND(word) AHEAD(word) "|" NOT_AHEAD(word) ")"
#define START(word) NOT_BEHIND(word) AHEAD(word)
#define END(word) BEHIND(word) NOT_AHEAD(word)

struct word_assert { const char *name, *unicode, *ascii, *for_ascii; };

#define ASSERT(name, of, for_ascii) { name, of(WORD), of(WORD_ASCII), for_ascii }

static const struct word_assert word_asserts[] = {
	ASSERT("b", BOUNDARY, "\\b"), ASSERT("B", NO_BOUNDARY, "\\B"),
	ASSERT("<", START, "\\b(?=\\w)"), ASSERT(">", END, "\\b(?<=\\w)"),
};

/* "\b{start}" and so on. */
static const struct word_assert braced_asserts[] = {
	ASSERT("start", START, "\\b(?=\\w)"), ASSERT("end", END, "\\b(?<=\\w)"),
	ASSERT("start-half", NOT_BEHIND, "(?<!\\w)"), ASSERT("end-half", NOT_AHEAD, "(?!\\w)"),
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

/* Unicode's White_Space. */
static bool is_blank(uint32_t cp)
{
	switch (cp) {
	case 0x85: case 0xa0: case 0x1680: case 0x2028: case 0x2029: case 0x202f: case 0x205f:
	case 0x3000:
		return true;
	}
	return cp == ' ' || (cp >= '\t' && cp <= '\r') || (cp >= 0x2000 && cp <= 0x200a);
}

bool rx_skip_blank(struct rx_parse *r)
{
	uint32_t cp = 0;
	const unsigned int n = rx_peek(r, &cp);

	if (is_blank(cp)) {
		r->p += n;
		return true;
	}
	if (cp != '#')
		return false;
	while (r->p < r->end && *r->p != '\n')
		r->p++;
	return true;
}

unsigned int rx_peek(const struct rx_parse *r, uint32_t *cp)
{
	return utf8_decode(r->p, (size_t)(r->end - r->p), cp);
}

bool rx_at_text(const struct rx_parse *r, const char *text)
{
	const size_t n = strlen(text);

	return (size_t)(r->end - r->p) >= n && !memcmp(r->p, text, n);
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
	const char *at = r->p, *name = r->p;
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
			e->negated = !e->negated;
		}
		n = (size_t)(close - name);
		r->p = close;
	}
	r->p++;
	e->kind = RX_ESC_CLASS;
	return rx_property(e, name, n, r->flags.ignore_case) ? 0 :
	       rx_refuse(r, at, "Unicode property not found");
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

static void assert_text(const struct rx_parse *r, const struct word_assert *a,
			struct rx_escaped *e)
{
	const char *text = r->ascii ? a->for_ascii : r->flags.unicode ? a->unicode : a->ascii;

	/* What a word is, is no matter of case. */
	snprintf(e->text, sizeof(e->text), r->flags.ignore_case ? "(?-i:%s)" : "%s", text);
}

/* Behind "\b" at a brace: 1 when a name is in it, 0 when it repeats. */
static int read_braced_assert(struct rx_parse *r, struct rx_escaped *e)
{
	const char *open = r->p, *name = open + 1, *p = name;

	while (p < r->end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '-'))
		p++;
	if (p == name)
		return 0;
	if (p == r->end || *p != '}')
		return rx_refuse(r, open, "special word boundary assertion is either unclosed or "
				 "contains an invalid character");
	for (size_t i = 0; i < sizeof(braced_asserts) / sizeof(braced_asserts[0]); i++) {
		const char *known = braced_asserts[i].name;

		if (strlen(known) == (size_t)(p - name) && !memcmp(known, name, strlen(known))) {
			r->p = p + 1;
			assert_text(r, &braced_asserts[i], e);
			return 1;
		}
	}
	return rx_refuse(r, open, "unrecognized special word boundary assertion, valid choices "
			 "are: start, end, start-half or end-half");
}

/* 1 when it was an assertion, 0, or -EINVAL. */
static int read_assert(struct rx_parse *r, char c, struct rx_escaped *e)
{
	int rc = 0;

	e->kind = RX_ESC_ASSERT;
	if (c == 'A' || c == 'z') {
		snprintf(e->text, sizeof(e->text), "\\%c", c);
		return 1;
	}
	if (c == 'b' && r->p < r->end && *r->p == '{')
		rc = read_braced_assert(r, e);
	for (size_t i = 0; !rc && i < sizeof(word_asserts) / sizeof(word_asserts[0]); i++) {
		if (*word_asserts[i].name == c) {
			assert_text(r, &word_asserts[i], e);
			return 1;
		}
	}
	e->kind = rc ? RX_ESC_ASSERT : RX_ESC_CHAR;
	return rc;
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
	rc = read_assert(r, c, e);
	if (rc)
		return rc < 0 ? rc : 0;
	if (read_perl_class(r, c, e)) {
		rc = e->negated && !r->flags.unicode ? rx_refuse(r, at, NO_UTF8) : 0;
		return rc;
	}
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c & 0x80)
		return rx_refuse(r, at, "unrecognized escape sequence");
	e->cp = (unsigned char)c;
	return 0;
}

int rx_skip_name(struct rx_parse *r, const char *open)
{
	const char *name = r->p;

	for (; r->p < r->end && *r->p != '>'; r->p++) {
		const char c = *r->p;
		const bool first = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
				   c & 0x80;

		if (!first && (r->p == name || !((c >= '0' && c <= '9') || strchr("._[]", c))))
			return rx_refuse(r, r->p, "invalid capture group character");
	}
	if (r->p == r->end)
		return rx_refuse(r, open, "unclosed capture group name");
	if (r->p++ == name)
		return rx_refuse(r, name, "empty capture group name");
	return 0;
}
