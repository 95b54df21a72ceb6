/* SPDX-License-Identifier: MIT */
/* The kernel's list of its symbols: any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symkernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t ip[] = { 0, 1, 0x1000, 0xffffffff81000123, 0xffffffffc0000001,
				       UINT64_MAX };
	/* Of its own length, so that a read past the end is seen. */
	char *text = malloc(size ? size : 1);
	struct symkernel *k;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	k = symkernel_parse(text, size);
	free(text);
	for (size_t i = 0; k && i < sizeof(ip) / sizeof(ip[0]); i++) {
		struct symkernel_name n;

		if (symkernel_find(k, ip[i], &n) &&
		    (n.module[0] != '[' || !n.offset || n.offset > ip[i]))
			abort();
	}
	symkernel_free(k);
	return 0;
}
