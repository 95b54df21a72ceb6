/* SPDX-License-Identifier: MIT */
#include "out/json.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "out/escape.h"

void json_init(struct json *j, struct out_stream *o)
{
	memset(j, 0, sizeof(*j));
	j->out = o;
}

void json_init_line(struct json *j, struct out_stream *o)
{
	json_init(j, o);
	j->one_line = true;
}

void json_init_html(struct json *j, struct out_stream *o)
{
	json_init(j, o);
	j->in_html = true;
}

static void newline(struct json *j, unsigned int depth)
{
	unsigned int i;

	buf_addc(&j->buf, '\n');
	for (i = 0; i < depth; i++)
		buf_adds(&j->buf, "  ");
}

/* Whether what is inside the level that is open starts lines. */
static bool has_lines(const struct json *j)
{
	return !j->one_line && j->depth <= (j->level[j->depth - 1].close == ']' ? JSON_ELEMENT_LINES
								 : JSON_MEMBER_LINES);
}

/* What stands before each value: comma, line, key. */
static void begin(struct json *j, const char *key)
{
	if (j->depth) {
		assert(!key == (j->level[j->depth - 1].close == ']'));
		if (j->level[j->depth - 1].any)
			buf_addc(&j->buf, ',');
		j->level[j->depth - 1].any = true;
		if (has_lines(j))
			newline(j, j->depth);
		else if (j->buf.len && j->buf.data[j->buf.len - 1] == ',')
			buf_addc(&j->buf, ' ');
	}
	if (key)
		buf_addf(&j->buf, "\"%s\": ", key);
	if (j->buf.len > 4096)
		out_buf(j->out, &j->buf);
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	begin(j, key);
	assert(j->depth < JSON_DEPTH);
	buf_addc(&j->buf, open);
	j->level[j->depth].close = close;
	j->level[j->depth++].any = false;
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_end(struct json *j)
{
	bool lines;

	assert(j->depth);
	lines = has_lines(j);
	j->depth--;
	if (j->level[j->depth].any && lines)
		newline(j, j->depth);
	buf_addc(&j->buf, j->level[j->depth].close);
}

int json_finish(struct json *j)
{
	int r;

	assert(!j->depth);
	buf_addc(&j->buf, '\n');
	r = j->buf.failed || j->out->error == ENOMEM ? -ENOMEM : 0;
	out_buf(j->out, &j->buf);
	buf_release(&j->buf);
	return r;
}

void json_u64(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	buf_addf(&j->buf, "%" PRIu64, v);
}

void json_i64(struct json *j, const char *key, int64_t v)
{
	begin(j, key);
	buf_addf(&j->buf, "%" PRId64, v);
}

void json_real(struct json *j, const char *key, double v)
{
	uint64_t millionths;
	char digits[8];
	int n;

	/* Beyond this a double has no decimals; it also sorts out NaN and infinities. */
	if (!(v > -9e15 && v < 9e15)) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	if (v < 0) {
		v = -v;
		buf_addc(&j->buf, '-');
	}
	/* In integers: printf's decimal point is the locale's. */
	millionths = (uint64_t)((v - (double)(uint64_t)v) * 1e6 + 0.5);
	buf_addf(&j->buf, "%" PRIu64, (uint64_t)v + millionths / 1000000);
	millionths %= 1000000;
	if (!millionths)
		return;
	n = snprintf(digits, sizeof(digits), "%06u", (unsigned int)millionths);
	while (digits[n - 1] == '0')
		n--;
	buf_addc(&j->buf, '.');
	buf_add(&j->buf, digits, (size_t)n);
}

void json_bool(struct json *j, const char *key, bool v)
{
	begin(j, key);
	buf_adds(&j->buf, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	begin(j, key);
	buf_adds(&j->buf, "null");
}

/* Neither "</script>" nor "<!--" is left: what HTML looks for in a script. */
static void hide_tags(struct buf *b, size_t start)
{
	struct buf text = BUF_INIT;
	size_t i;

	if (b->len == start || !memchr(b->data + start, '<', b->len - start))
		return;
	buf_add(&text, b->data + start, b->len - start);
	b->len = start;
	for (i = 0; i < text.len; i++) {
		if (text.data[i] == '<')
			buf_adds(b, "\\u003c");
		else
			buf_addc(b, text.data[i]);
	}
	b->failed |= text.failed;
	buf_release(&text);
}

void json_str(struct json *j, const char *key, const char *s)
{
	size_t start;

	if (!s) {
		json_null(j, key);
		return;
	}
	begin(j, key);
	buf_addc(&j->buf, '"');
	start = j->buf.len;
	escape_json(&j->buf, s, strlen(s));
	if (j->in_html)
		hide_tags(&j->buf, start);
	buf_addc(&j->buf, '"');
}

void json_hex(struct json *j, const char *key, uint64_t v)
{
	begin(j, key);
	buf_addf(&j->buf, "\"0x%" PRIx64 "\"", v);
}
