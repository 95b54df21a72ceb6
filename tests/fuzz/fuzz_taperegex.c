/* SPDX-License-Identifier: MIT */
/*
 * A pattern, a newline, a subject: what is refused has words and a place, what is taken
 * matches in order, without overlap, inside of the subject; a class answers as its pattern.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tape/rx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct rx *rx, const char *s, size_t n, const struct tape_span *m,
		  size_t last, bool first)
{
	if (m->start < last || m->end < m->start || m->end > n ||
	    (!first && m->start == m->end && m->end == last))
		abort();
	if (rx->shape == RX_ONE && (unsigned char)s[m->start] < 0x80 &&
	    (!rx->ascii[(unsigned char)s[m->start]] || m->end != m->start + 1))
		abort();
}

/* Matches one by one, and the same by the handful. */
static void walk(struct rx *rx, const char *s, size_t n)
{
	struct rx_walk many = { 0 }, one = { 0 };
	struct tape_span hand[3], m;
	size_t last = 0, i = 0;
	ptrdiff_t got, r;

	do {
		got = rx_matches(rx, s, n, &many, hand, 3);
		for (ptrdiff_t k = 0; k < got; k++, i++) {
			check(rx, s, n, &hand[k], last, !i);
			last = hand[k].end;
		}
	} while (got == 3);
	if (got < 0 && !rx->err.msg[0])
		abort();
	for (last = 0; (r = rx_matches(rx, s, n, &one, &m, 1)) == 1; i--)
		last = m.end;
	if (got >= 0 && r >= 0 && (i || last != many.last_end))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *newline = memchr(data, '\n', size);
	const size_t n = newline ? (size_t)(newline - text) : size;
	struct err err = { 0 };
	struct rx *rx;

	if (size > 1024)
		return 0;
	if (rx_new(&rx, &rx_pcre, text, n, &err)) {
		if (!err.code || !err.msg[0])
			abort();
		return 0;
	}
	if (newline)
		walk(rx, newline + 1, size - n - 1);
	rx_free(rx);
	return 0;
}
