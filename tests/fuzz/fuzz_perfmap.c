/* SPDX-License-Identifier: MIT */
/* The perf map of a JIT: any bytes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addr[] = { 0, 1, 0x1000, 0x1fff, 0x7f0000001000, UINT64_MAX };
	char *text = malloc(size ? size : 1);
	struct symd_perf *p;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	p = symd_perf_parse(text, size);
	for (size_t i = 0; p && i < sizeof(addr) / sizeof(addr[0]); i++) {
		const struct symd_sym *s = symd_perf_lookup(p, addr[i]);

		if (s && (addr[i] < s->addr || addr[i] - s->addr >= s->size ||
			  s->name < text || s->name + strlen(s->name) >= text + size))
			abort();
	}
	symd_perf_free(p);
	free(text);
	return 0;
}
