/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: linear probing over a power of two of slots, at most 3/4 full, with
 * a byte of state a slot. Deletion moves the following run back instead of
 * leaving tombstones, so a table that lives long with much churn (threads come
 * and go) does not slow down. Keys may come from a traced program, so the hash
 * is seeded for each process: addresses cannot be chosen to collide.
 */
#include "base/map.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define MAP_FIRST_SLOTS 16

struct map {
	size_t key_bytes, value_at, slot_bytes;	/* value_at: offset in a slot, 16-aligned */
	size_t slots;				/* 0 or a power of two */
	size_t count;
	uint64_t seed;
	unsigned char *used;
	unsigned char *slot;
};

static uint64_t map_seed(void)
{
	/* 16 random bytes that the kernel gives each process at exec. */
	const void *at = (const void *)getauxval(AT_RANDOM);
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	if (at)
		memcpy(&seed, at, sizeof(seed));
	return seed;
}

static uint64_t map_mix(uint64_t x)
{
	unsigned __int128 p = (unsigned __int128)x * 0xd6e8feb86659fd93ull;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t seeded_hash(uint64_t seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t left = len;
	uint64_t h = seed ^ left, w;

	for (; left >= 8; left -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = map_mix(h ^ w) + 0x632be59bd9b4e019ull;
	}
	if (left) {
		w = 0;
		memcpy(&w, p, left);
		h = map_mix(h ^ w) + left;
	}
	return map_mix(h ^ (h >> 29));
}

uint64_t map_hash(const void *data, size_t len)
{
	return seeded_hash(map_seed(), data, len);
}

static uint64_t hash_of(const struct map *m, const void *key)
{
	return seeded_hash(m->seed, key, m->key_bytes);
}

static unsigned char *map_slot(const struct map *m, size_t i)
{
	return m->slot + i * m->slot_bytes;
}

struct map *map_new(size_t key_bytes, size_t value_bytes)
{
	struct map *m;

	if (!key_bytes || key_bytes > 1 << 20 || value_bytes > 1 << 28)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->key_bytes = key_bytes;
	m->value_at = (key_bytes + 15) & ~(size_t)15;
	m->slot_bytes = (m->value_at + value_bytes + 15) & ~(size_t)15;
	m->seed = map_seed();
	return m;
}

void map_free(struct map *m)
{
	if (!m)
		return;
	free(m->used);
	free(m->slot);
	free(m);
}

size_t map_count(const struct map *m)
{
	return m->count;
}

/* The slot that holds @key, or the free one where it belongs. */
static size_t map_find(const struct map *m, const void *key, bool *found)
{
	size_t i = (size_t)hash_of(m, key) & (m->slots - 1);

	while (m->used[i]) {
		if (!memcmp(map_slot(m, i), key, m->key_bytes)) {
			*found = true;
			return i;
		}
		i = (i + 1) & (m->slots - 1);
	}
	*found = false;
	return i;
}

static int map_resize(struct map *m, size_t slots)
{
	struct map old = *m;
	unsigned char *used, *slot;
	bool found;

	used = calloc(slots, 1);
	slot = calloc(slots, m->slot_bytes);
	if (!used || !slot) {
		free(used);
		free(slot);
		return -ENOMEM;
	}
	m->used = used;
	m->slot = slot;
	m->slots = slots;
	for (size_t i = 0; i < old.slots; i++) {
		size_t to;

		if (!old.used[i])
			continue;
		to = map_find(m, map_slot(&old, i), &found);
		m->used[to] = 1;
		memcpy(map_slot(m, to), map_slot(&old, i), m->slot_bytes);
	}
	free(old.used);
	free(old.slot);
	return 0;
}

void *map_get(const struct map *m, const void *key)
{
	bool found;
	size_t i;

	if (!m->count)
		return NULL;
	i = map_find(m, key, &found);
	return found ? map_slot(m, i) + m->value_at : NULL;
}

void *map_put(struct map *m, const void *key)
{
	bool found = false;
	size_t i = 0;

	if (m->slots)
		i = map_find(m, key, &found);
	if (!found) {
		if (m->count + 1 > m->slots / 4 * 3) {
			if (map_resize(m, m->slots ? m->slots * 2 : MAP_FIRST_SLOTS))
				return NULL;
			i = map_find(m, key, &found);
		}
		m->used[i] = 1;
		m->count++;
		memset(map_slot(m, i), 0, m->slot_bytes);
		memcpy(map_slot(m, i), key, m->key_bytes);
	}
	return map_slot(m, i) + m->value_at;
}

int map_del(struct map *m, const void *key)
{
	size_t mask = m->slots - 1, hole, i;
	bool found = false;

	if (m->count)
		hole = map_find(m, key, &found);
	if (!found)
		return -ENOENT;
	for (i = (hole + 1) & mask; m->used[i]; i = (i + 1) & mask) {
		size_t home = (size_t)hash_of(m, map_slot(m, i)) & mask;

		/* An entry may move back to the hole unless its home lies behind it. */
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		memcpy(map_slot(m, hole), map_slot(m, i), m->slot_bytes);
		hole = i;
	}
	m->used[hole] = 0;
	m->count--;
	return 0;
}

void map_clear(struct map *m)
{
	if (m->count)
		memset(m->used, 0, m->slots);
	m->count = 0;
}

int map_next(const struct map *m, size_t *it, const void **key, void **value)
{
	while (*it < m->slots) {
		size_t i = (*it)++;

		if (!m->used[i])
			continue;
		if (key)
			*key = map_slot(m, i);
		if (value)
			*value = map_slot(m, i) + m->value_at;
		return 1;
	}
	return 0;
}
