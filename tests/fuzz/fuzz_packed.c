/* SPDX-License-Identifier: MIT */
/* The index of what is packed into a recording, whatever it is. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "rr/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *text, size_t n, bool numbered)
{
	struct err err = { 0 };
	struct packed p;

	if (packed_parse(&p, text, n, numbered, &err)) {
		if (!err.msg[0])
			abort();
	} else {
		for (size_t i = 0; i < p.n; i++)
			if (!p.at[i].path || !p.at[i].number != !numbered)
				abort();
	}
	packed_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse((const char *)data, size, true);
	parse((const char *)data, size, false);
	return 0;
}
