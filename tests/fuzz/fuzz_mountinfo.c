/* SPDX-License-Identifier: MIT */
/* /proc/self/mountinfo: what is found is within the text and its own limits. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cgroup_mount *m = malloc(sizeof(*m));
	char *text = malloc(size + 1);
	const char *at = text;

	if (m && text) {
		if (size)
			memcpy(text, data, size);
		text[size] = '\0';
		while (cgroup_next_mount(&at, m)) {
			if (!m->point[0] || !m->root[0] || at > text + size)
				abort();
			if (strlen(m->point) >= PATH_MAX || strlen(m->root) >= PATH_MAX)
				abort();
			cgroup_depth(m->root);
		}
	}
	free(text);
	free(m);
	return 0;
}
