/* SPDX-License-Identifier: MIT */
/* Any bytes as a name: what each format makes of them is harmless and parses. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "out/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int ok)
{
	if (!ok)
		abort();
}

/* Valid UTF-8 of characters that a terminal shows. */
static void check_harmless(const struct buf *b, uint32_t most)
{
	size_t i = 0;

	must(!b->failed);
	while (i < b->len) {
		uint32_t cp = 0;
		unsigned int len = utf8_decode(b->data + i, b->len - i, &cp);

		must(len && !utf8_unsafe(cp) && cp <= most);
		i += len;
	}
}

/* No quote and no backslash but in an escape. */
static void check_json(const struct buf *b)
{
	size_t i;

	for (i = 0; i < b->len; i++) {
		must(b->data[i] != '"');
		if (b->data[i] == '\\')
			must(i + 1 < b->len && strchr("\"\\bfnrtu", b->data[++i]));
	}
}

static void check_csv(const struct buf *b)
{
	size_t i, quotes = 0;

	must(!b->len || !strchr("=+-@", b->data[0]));
	for (i = 0; i < b->len; i++) {
		quotes += b->data[i] == '"';
		/* A comma outside of quotes would be another field. */
		must(b->data[i] != ',' || quotes % 2);
	}
	must(quotes % 2 == 0);
	must(!quotes || (b->data[0] == '"' && b->data[b->len - 1] == '"'));
	must(!quotes || !strchr("=+-@", b->data[1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *s = (const char *)data;
	struct buf b = BUF_INIT;
	size_t columns, used;

	escape_term(&b, s, size, false);
	check_harmless(&b, 0x10ffff);
	for (columns = 0; columns < 20; columns++) {
		size_t n = utf8_fit(b.data ? b.data : "", b.len, columns, &used);

		must(n <= b.len && used <= columns && utf8_width(b.data ? b.data : "", n) == used);
	}
	buf_reset(&b);
	escape_term(&b, s, size, true);
	check_harmless(&b, 0x7e);
	buf_reset(&b);
	escape_json(&b, s, size);
	check_harmless(&b, 0x10ffff);
	check_json(&b);
	buf_reset(&b);
	escape_csv(&b, s, size);
	check_harmless(&b, 0x10ffff);
	check_csv(&b);
	buf_release(&b);
	return 0;
}
