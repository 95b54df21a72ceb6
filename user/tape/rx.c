/* SPDX-License-Identifier: MIT */
#include "tape/rx.h"

#include <errno.h>
#include <stdlib.h>

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
	struct rx_walk walk = { 0 };
	struct tape_span span;

	return (int)rx_matches(rx, s, n, &walk, &span, 1);
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
