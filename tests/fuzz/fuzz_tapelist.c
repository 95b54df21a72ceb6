/* SPDX-License-Identifier: MIT */
/* LIST of -l, -c and -f: ascending, apart, and inverted what is between. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tape/ranges.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ranges *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!r->at[i].low || r->at[i].high < r->at[i].low ||
		    (i && r->at[i].low <= r->at[i - 1].high))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	size_t a = 0, b = 0;
	struct ranges r, rest;
	char *list;

	if (size > 4096)
		return 0;
	list = malloc(size + 1);
	memcpy(list, data, size);
	list[size] = '\0';
	if (ranges_parse(&r, list, &err)) {
		if (!err.msg[0])
			abort();
		free(list);
		return 0;
	}
	check(&r);
	if (ranges_parse(&rest, list, &err) || ranges_invert(&rest))
		abort();
	check(&rest);
	for (uint64_t n = 1; n < 300; n++)
		if (!ranges_find(&r, &a, n) == !ranges_find(&rest, &b, n))
			abort();
	ranges_release(&r);
	ranges_release(&rest);
	free(list);
	return 0;
}
