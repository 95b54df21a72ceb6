/* SPDX-License-Identifier: MIT */
/* The index of what is packed into a recording, whatever it is. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "rr/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	struct packed p;

	if (packed_parse(&p, (const char *)data, size, &err)) {
		if (!err.msg[0])
			abort();
	} else {
		for (size_t i = 0; i < p.n; i++)
			if (!p.at[i].path || !p.at[i].number)
				abort();
	}
	packed_release(&p);
	return 0;
}
