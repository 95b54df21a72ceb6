/* SPDX-License-Identifier: MIT */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Open-addressing hash map from fixed-size keys to fixed-size values, both
 * copied in. Value pointers stay valid until the next map_put of a new key.
 */
struct map;

struct map *map_new(size_t key_bytes, size_t value_bytes);	/* NULL: no memory */
void map_free(struct map *m);
size_t map_count(const struct map *m);
void *map_get(const struct map *m, const void *key);		/* NULL: absent */
/* The value of @key, zeroed when it is new; NULL: no memory. */
void *map_put(struct map *m, const void *key);
/* Removes @key; 0, or -ENOENT. */
int map_del(struct map *m, const void *key);
void map_clear(struct map *m);
/* Walks all entries: *it starts at 0; returns 0 at the end, 1 for an entry. */
int map_next(const struct map *m, size_t *it, const void **key, void **value);

/* The hash that the maps use: of any bytes, and another one in each process. */
uint64_t map_hash(const void *data, size_t len);

#endif
