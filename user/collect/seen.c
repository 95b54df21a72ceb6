/* SPDX-License-Identifier: MIT */
#include "collect/seen.h"

#include <stdlib.h>

#include "base/map.h"

struct seen {
	struct map *keys;
	size_t max;
};

struct seen *seen_new(size_t key_bytes, size_t max)
{
	struct seen *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->max = max;
	s->keys = map_new(key_bytes, 1);
	if (!s->keys) {
		free(s);
		return NULL;
	}
	return s;
}

void seen_free(struct seen *s)
{
	if (s)
		map_free(s->keys);
	free(s);
}

bool seen_first(struct seen *s, const void *key)
{
	if (map_get(s->keys, key))
		return false;
	if (map_count(s->keys) >= s->max)
		map_clear(s->keys);
	(void)map_put(s->keys, key);
	return true;
}

size_t seen_count(const struct seen *s)
{
	return map_count(s->keys);
}
