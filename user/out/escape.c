/* SPDX-License-Identifier: MIT */
#include "out/escape.h"

#include <stdint.h>
#include <string.h>

#include "out/utf8.h"

/* Appends the run of plain characters that starts at @s; returns its length. */
static size_t add_plain(struct buf *b, const char *s, size_t n, const char *special)
{
	size_t i = 0;

	while (i < n && s[i] >= 0x20 && s[i] < 0x7f && !strchr(special, s[i]))
		i++;
	buf_add(b, s, i);
	return i;
}

static void add_term(struct buf *b, const char *s, unsigned int len, uint32_t cp, bool ascii)
{
	static const char letters[256] = {
		['\\'] = '\\', [0x1b] = 'e', ['\n'] = 'n', ['\t'] = 't', ['\r'] = 'r',
	};

	if (!len)
		buf_addf(b, "\\x%02x", (unsigned char)*s);
	else if (cp < 0x80 && letters[cp])
		buf_addf(b, "\\%c", letters[cp]);
	else if (cp < 0x80)
		buf_addf(b, "\\x%02x", cp);
	else if (ascii || utf8_unsafe(cp))
		buf_addf(b, "\\u{%x}", cp);
	else
		buf_add(b, s, len);
}

void escape_term(struct buf *b, const char *s, size_t n, bool ascii)
{
	size_t i = 0;

	while (i < n) {
		uint32_t cp = 0;
		unsigned int len;

		i += add_plain(b, s + i, n - i, "\\");
		if (i >= n)
			break;
		len = utf8_decode(s + i, n - i, &cp);
		add_term(b, s + i, len, cp, ascii);
		i += len ? len : 1;
	}
}

static void add_json(struct buf *b, const char *s, unsigned int len, uint32_t cp)
{
	static const char letters[256] = {
		['"'] = '"', ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};

	if (!len)
		buf_adds(b, "\xef\xbf\xbd");
	else if (cp < 0x80 && letters[cp])
		buf_addf(b, "\\%c", letters[cp]);
	else if (!utf8_unsafe(cp))
		buf_add(b, s, len);
	else if (cp < 0x10000)
		buf_addf(b, "\\u%04x", cp);
	else	/* a surrogate pair, as RFC 8259 section 7 has it */
		buf_addf(b, "\\u%04x\\u%04x", 0xd800 + ((cp - 0x10000) >> 10),
			 0xdc00 + ((cp - 0x10000) & 0x3ff));
}

void escape_json(struct buf *b, const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint32_t cp = 0;
		unsigned int len;

		i += add_plain(b, s + i, n - i, "\"\\");
		if (i >= n)
			break;
		len = utf8_decode(s + i, n - i, &cp);
		add_json(b, s + i, len, cp);
		i += len ? len : 1;
	}
}

/* OWASP's list of leading characters that spreadsheets evaluate. */
static bool is_formula(const char *s, size_t n)
{
	uint32_t cp;

	if (!utf8_decode(s, n, &cp))
		return false;
	switch (cp) {
	case '=': case '+': case '-': case '@': case '\t': case '\r': case '\n':
	case 0xff1d: case 0xff0b: case 0xff0d: case 0xff20:
		return true;
	default:
		return false;
	}
}

void escape_csv(struct buf *b, const char *s, size_t n)
{
	size_t at, i;
	bool quote;

	if (is_formula(s, n))
		buf_addc(b, '\'');
	at = b->len;
	escape_term(b, s, n, false);
	quote = n && (s[0] == ' ' || s[n - 1] == ' ');
	for (i = at; i < b->len && !quote; i++)
		quote = strchr(",\"#;", b->data[i]) != NULL;
	if (quote) {
		struct buf field = BUF_INIT;

		/* The apostrophe belongs inside the quotes. */
		if (at && is_formula(s, n))
			at--;
		buf_add(&field, b->data + at, b->len - at);
		b->len = at;
		buf_addc(b, '"');
		for (i = 0; i < field.len; i++) {
			if (field.data[i] == '"')
				buf_addc(b, '"');
			buf_addc(b, field.data[i]);
		}
		buf_addc(b, '"');
		b->failed |= field.failed;
		buf_release(&field);
	}
}
