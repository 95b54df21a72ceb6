/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

static void put_get_del(void **state)
{
	struct map *m = map_new(sizeof(uint32_t), sizeof(uint64_t));
	uint32_t k = 7;
	uint64_t *v;

	(void)state;
	assert_null(map_get(m, &k));
	assert_int_equal(map_del(m, &k), -ENOENT);
	v = map_put(m, &k);
	assert_int_equal(*v, 0);
	*v = 70;
	assert_ptr_equal(map_put(m, &k), v);
	assert_int_equal(*(uint64_t *)map_get(m, &k), 70);
	assert_int_equal(map_count(m), 1);
	assert_int_equal(map_del(m, &k), 0);
	assert_null(map_get(m, &k));
	v = map_put(m, &k);
	assert_int_equal(*v, 0);
	map_free(m);
}

/* The map against an array, in a long run of random puts and deletes. */
static void agrees_with_an_array_under_churn(void **state)
{
	enum { KEYS = 3000, STEPS = 200000 };
	struct map *m = map_new(sizeof(uint64_t), sizeof(uint32_t));
	static uint32_t want[KEYS];
	size_t count = 0;
	uint32_t rng = 12345;

	(void)state;
	for (int i = 0; i < STEPS; i++) {
		uint64_t k;
		uint32_t *v;

		rng = rng * 1664525 + 1013904223;
		k = (rng >> 8) % KEYS;
		/* Keys that differ in high bits alone, as addresses of locks do. */
		k <<= 40;
		if (rng & 0x80) {
			assert_int_equal(map_del(m, &k), want[k >> 40] ? 0 : -ENOENT);
			count -= want[k >> 40] != 0;
			want[k >> 40] = 0;
		} else {
			v = map_put(m, &k);
			assert_int_equal(*v, want[k >> 40]);
			count += !*v;
			*v = want[k >> 40] = rng | 1;
		}
		assert_int_equal(map_count(m), count);
	}
	for (uint64_t i = 0; i < KEYS; i++) {
		uint64_t k = i << 40;
		uint32_t *v = map_get(m, &k);

		assert_int_equal(v ? *v : 0, want[i]);
	}
	map_free(m);
}

static void walk_meets_each_entry_once(void **state)
{
	struct map *m = map_new(sizeof(int), sizeof(int));
	const void *key;
	void *value;
	size_t it = 0, n = 0;

	(void)state;
	assert_int_equal(map_next(m, &it, &key, &value), 0);
	for (int i = 0; i < 1000; i++)
		*(int *)map_put(m, &i) = -i;
	it = 0;
	while (map_next(m, &it, &key, &value)) {
		int k;

		memcpy(&k, key, sizeof(k));
		assert_int_equal(*(int *)value, -k);
		*(int *)value = 1;
		n++;
	}
	assert_int_equal(n, 1000);
	map_clear(m);
	assert_int_equal(map_count(m), 0);
	it = 0;
	assert_int_equal(map_next(m, &it, NULL, NULL), 0);
	map_free(m);
}

static void odd_sizes_are_aligned(void **state)
{
	struct { char k[13]; } key;
	struct map *m = map_new(sizeof(key), 24);

	(void)state;
	for (int i = 0; i < 100; i++) {
		memset(&key, i, sizeof(key));
		assert_int_equal((uintptr_t)map_put(m, &key) % 16, 0);
	}
	key.k[12] = 0;
	assert_null(map_get(m, &key));
	assert_int_equal(map_count(m), 100);
	map_free(m);
	/* A set: keys without values. */
	m = map_new(3, 0);
	assert_non_null(map_put(m, "abc"));
	assert_non_null(map_get(m, "abc"));
	assert_null(map_get(m, "abd"));
	map_free(m);
	assert_null(map_new(0, 8));
	map_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_get_del),
		cmocka_unit_test(agrees_with_an_array_under_churn),
		cmocka_unit_test(walk_meets_each_entry_once),
		cmocka_unit_test(odd_sizes_are_aligned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
