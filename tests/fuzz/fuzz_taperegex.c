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

static void walk(struct rx *rx, const char *s, size_t n)
{
	struct rx_walk w = { 0 };
	size_t start, end, last = 0;
	int r, i;

	for (i = 0; (r = rx_next(rx, s, n, &w, &start, &end)) == 1; i++) {
		if (start < last || end < start || end > n || (i && start == end && end == last))
			abort();
		if (rx->shape == RX_ONE && (unsigned char)s[start] < 0x80 &&
		    (!rx->ascii[(unsigned char)s[start]] || end != start + 1))
			abort();
		last = end;
	}
	if (r < 0 && !rx->err.msg[0])
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
