/* SPDX-License-Identifier: MIT */
/* The text of /proc/PID/maps, whose paths any user may choose. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symmaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size, *last = p;
	struct symmaps_line l;
	int rc;

	while ((rc = symmaps_next(&p, end, &l)) >= 0) {
		char *path;

		if (p <= last || p > end)
			abort();
		if (rc && l.start >= l.end)
			abort();
		if (rc && l.path) {
			if (l.path < last || l.path + l.path_bytes > p)
				abort();
			path = malloc(l.path_bytes + 1);
			if (path && symmaps_path(l.path, l.path_bytes, path) > l.path_bytes)
				abort();
			free(path);
		}
		last = p;
	}
	return 0;
}
