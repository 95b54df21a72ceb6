/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "rr/jump.h"

#define PAGE ((uint64_t)4096)
#define MAPS 40

/* As of a program: some in the middle, some near the top, a stack, and the kernel's above all. */
static size_t make_maps(struct procmap *at)
{
	uint64_t where = PAGE * (uint64_t)(16 + random() % 100);
	size_t n = 0;

	while (n < MAPS - 2) {
		if (n == MAPS / 3)
			where = 0x555555554000;
		if (n == MAPS / 2)
			where = 0x7ffff7000000;
		at[n] = (struct procmap){ .start = where + PAGE * (uint64_t)(random() % 4) };
		at[n].end = at[n].start + PAGE * (uint64_t)(1 + random() % 300);
		where = at[n++].end;
	}
	at[n++] = (struct procmap){ .start = 0x7fffff7ff000, .end = 0x7ffffffff000 };
	at[n++] = (struct procmap){ .start = 0xffffffffff600000, .end = 0xffffffffff601000 };
	return n;
}

static void check(const struct jump_want *w, const struct procmaps *maps, uint64_t target)
{
	const uint64_t page = (target - w->before) & ~(PAGE - 1);
	uint8_t jump[JUMP_BYTES];
	int32_t d;

	assert_true(page >= 65536 && page + w->bytes <= 0x7ffffffff000);
	for (size_t i = 0; i < maps->n; i++)
		assert_true(page + w->bytes <= maps->at[i].start || page >= maps->at[i].end);
	jump_make(jump, w->at, target);
	memcpy(&d, jump + 1, sizeof(d));
	assert_int_equal(jump[0], 0xe9);
	assert_int_equal(w->at + JUMP_BYTES + (uint64_t)(int64_t)d, target);
	for (unsigned int i = 1; i < JUMP_BYTES; i++)
		if (w->inner >> i & 1)
			assert_int_equal(jump[i], 0xcc);
}

static void what_is_found_fits(void **state)
{
	struct procmap at[MAPS];
	struct procmaps maps = { .at = at };
	size_t found = 0;
	uint64_t target;

	(void)state;
	srandom(7);
	for (int round = 0; round < 2000; round++) {
		struct jump_want w = { .inner = (uint32_t)random() & 0x1e,
				       .before = (size_t)(random() % 32), .bytes = 2 * PAGE };

		maps.n = make_maps(at);
		w.at = at[random() % (MAPS - 2)].start + (uint64_t)(random() % 4000);
		for (unsigned int nth = 0; nth < 30 && jump_find(&w, &maps, nth, &target); nth++) {
			check(&w, &maps, target);
			found++;
		}
	}
	assert_true(found > 2000);
}

/* Each place that was found is taken; the next has traps in the middle and at the end, too. */
static void where_one_is_taken_another_is_found(void **state)
{
	const struct jump_want w = { .at = 0x7ffff7e5b224, .inner = 1 << 2 | 1 << 4,
				     .bytes = 2 * PAGE };
	struct procmap at[MAPS] = { { .start = 0x7ffff7000000, .end = 0x7ffffffff000 } };
	struct procmaps maps = { .at = at, .n = 1 };
	uint64_t target;

	(void)state;
	while (maps.n < MAPS) {
		assert_true(jump_find(&w, &maps, 0, &target));
		check(&w, &maps, target);
		target &= ~(PAGE - 1);
		if (maps.n > 1)
			assert_true(target > at[maps.n - 2].start);
		at[maps.n] = at[maps.n - 1];
		at[maps.n++ - 1] = (struct procmap){ .start = target, .end = target + w.bytes };
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_found_fits),
		cmocka_unit_test(where_one_is_taken_another_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
