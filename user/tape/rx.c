/* SPDX-License-Identifier: MIT */
#include "tape/rx.h"

#include <errno.h>
#include <stdlib.h>

#include "base/codepoint.h"

#define CODE_POINTS 0x110000u

/* Asks the pattern itself about each ASCII character, once. */
static void fill_table(struct rx *rx)
{
	for (unsigned int c = 0; c < sizeof(rx->ascii); c++) {
		const char s = (char)c;

		rx->ascii[c] = rx_test(rx, &s, 1) == 1;
	}
	rx->seen = calloc(2, CODE_POINTS / 8);
	rx->member = rx->seen ? rx->seen + CODE_POINTS / 8 : NULL;
	rx->classed = rx->seen != NULL;
}

int rx_new(struct rx **out, const struct rx_engine *engine, const char *pattern, size_t len,
	   struct err *err)
{
	struct rx *rx = calloc(1, sizeof(*rx));
	int r;

	if (!rx)
		return err_sys(err, ENOMEM, "cannot keep the pattern");
	rx->engine = engine;
	r = engine->compile(rx, pattern, len, err);
	if (r) {
		rx_free(rx);
		return r;
	}
	if (rx->shape != RX_GENERAL)
		fill_table(rx);
	*out = rx;
	return 0;
}

void rx_free(struct rx *rx)
{
	if (!rx)
		return;
	rx->engine->release(rx);
	free(rx->seen);
	free(rx);
}

int rx_test(struct rx *rx, const char *s, size_t n)
{
	size_t start, end;

	return rx->engine->find(rx, s, n, 0, &start, &end);
}

bool rx_member(struct rx *rx, uint32_t cp)
{
	const uint8_t bit = (uint8_t)(1u << (cp & 7));
	char s[4];

	if (!(rx->seen[cp >> 3] & bit)) {
		rx->seen[cp >> 3] |= bit;
		if (rx_test(rx, s, utf8_encode(cp, s)) == 1)
			rx->member[cp >> 3] |= bit;
	}
	return rx->member[cp >> 3] & bit;
}

static size_t char_bytes(const char *s, size_t n)
{
	uint32_t cp;
	const unsigned int len = utf8_decode(s, n, &cp);

	return len ? len : 1;
}

int rx_next(struct rx *rx, const char *s, size_t n, struct rx_walk *w, size_t *start, size_t *end)
{
	for (;;) {
		int r;

		if (w->from > n)
			return 0;
		r = rx->engine->find(rx, s, n, w->from, start, end);
		if (r <= 0)
			return r;
		if (*start == *end && w->any && *end == w->last_end) {
			w->from = *end < n ? *end + char_bytes(s + *end, n - *end) : n + 1;
			continue;
		}
		w->any = true;
		w->from = w->last_end = *end;
		return 1;
	}
}
