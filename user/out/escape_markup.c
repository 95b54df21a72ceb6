/* SPDX-License-Identifier: MIT */
#include "out/escape.h"

#include <string.h>

void escape_xml(struct buf *b, const char *s, size_t n)
{
	static const char *const refs[256] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;",
		['\''] = "&#39;",
	};
	struct buf text = BUF_INIT;
	size_t i;

	escape_term(&text, s, n, false);
	for (i = 0; i < text.len; i++) {
		const char *ref = refs[(unsigned char)text.data[i]];

		if (ref)
			buf_adds(b, ref);
		else
			buf_addc(b, text.data[i]);
	}
	b->failed |= text.failed;
	buf_release(&text);
}

/* What is markup anywhere in a line (GFM 0.29: emphasis, links, code, HTML, entities, cells). */
static bool is_markup(char c)
{
	return c && strchr("\\`*_[]<>&|~!$", c);
}

/* Whether text[i] would begin a link: "www.", "http://". */
static bool begins_link(const struct buf *text, size_t i)
{
	if (text->data[i] == '.')
		return i && (text->data[i - 1] == 'w' || text->data[i - 1] == 'W');
	return text->data[i] == ':' && i + 1 < text->len && text->data[i + 1] == '/';
}

void escape_markdown(struct buf *b, const char *s, size_t n)
{
	struct buf text = BUF_INIT;
	size_t i;

	escape_term(&text, s, n, false);
	for (i = 0; i < text.len; i++) {
		const char c = text.data[i];

		/* GitHub looks for @name and #12 in what is rendered, but not in code. */
		if (c == '@' || c == '#')
			buf_addf(b, "<code>%c</code>", c);
		else if (is_markup(c) || begins_link(&text, i))
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	b->failed |= text.failed;
	buf_release(&text);
}

/* Whether the text comes out as it is between two backticks. */
static bool fits_backticks(const struct buf *text)
{
	return !memchr(text->data, '`', text->len) && !memchr(text->data, '|', text->len) &&
	       text->data[0] != ' ' && text->data[text->len - 1] != ' ';
}

void escape_markdown_code(struct buf *b, const char *s, size_t n)
{
	struct buf text = BUF_INIT;
	size_t i;

	escape_term(&text, s, n, false);
	if (!text.len)
		goto out;
	if (fits_backticks(&text)) {
		buf_addf(b, "`%s`", text.data);
		goto out;
	}
	buf_adds(b, "<code>");
	for (i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (is_markup(c) || begins_link(&text, i) || c == '@')
			buf_addf(b, "&#%d;", c);
		else
			buf_addc(b, c);
	}
	buf_adds(b, "</code>");
out:
	b->failed |= text.failed;
	buf_release(&text);
}
