/* SPDX-License-Identifier: MIT */
#include "sym/symintern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct slot {
	uint64_t hash;
	char *text;	/* NULL: free */
};

struct symintern {
	uint64_t seed;	/* names are of a traced program's choice */
	struct slot *slot;
	size_t cap;	/* a power of two */
	size_t count, bytes;
};

static uint64_t hash_bytes(uint64_t h, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

struct symintern *symintern_new(void)
{
	struct symintern *t = calloc(1, sizeof(*t));
	const void *random;

	if (!t)
		return NULL;
	random = (const void *)getauxval(AT_RANDOM);
	if (random)
		memcpy(&t->seed, random, sizeof(t->seed));
	t->cap = 256;
	t->slot = calloc(t->cap, sizeof(*t->slot));
	if (!t->slot) {
		free(t);
		return NULL;
	}
	return t;
}

void symintern_free(struct symintern *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->cap; i++)
		free(t->slot[i].text);
	free(t->slot);
	free(t);
}

static int grow(struct symintern *t)
{
	size_t cap = t->cap * 2;
	struct slot *slot = calloc(cap, sizeof(*slot));

	if (!slot)
		return -1;
	for (size_t i = 0; i < t->cap; i++) {
		size_t at = t->slot[i].hash & (cap - 1);

		if (!t->slot[i].text)
			continue;
		while (slot[at].text)
			at = (at + 1) & (cap - 1);
		slot[at] = t->slot[i];
	}
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
	return 0;
}

const char *symintern_add(struct symintern *t, const char *s, size_t bytes)
{
	size_t n = strnlen(s, bytes), at;
	uint64_t h = hash_bytes(t->seed, s, n);
	char *text;

	if (t->count * 4 >= t->cap * 3 && grow(t))
		return NULL;
	for (at = h & (t->cap - 1); t->slot[at].text; at = (at + 1) & (t->cap - 1)) {
		if (t->slot[at].hash == h && !strncmp(t->slot[at].text, s, n) &&
		    !t->slot[at].text[n])
			return t->slot[at].text;
	}
	if (t->bytes + n + 1 > SYMINTERN_BYTES_MAX)
		return NULL;
	text = malloc(n + 1);
	if (!text)
		return NULL;
	memcpy(text, s, n);
	text[n] = 0;
	t->slot[at] = (struct slot){ .hash = h, .text = text };
	t->count++;
	t->bytes += n + 1;
	return text;
}

size_t symintern_bytes(const struct symintern *t)
{
	return t->bytes;
}
