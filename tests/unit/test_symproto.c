/* SPDX-License-Identifier: MIT */
/* Both ends' decoders take exactly what the encoders make, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sym/symproto.h"

static struct symp_msg message(const struct buf *b)
{
	struct symp_msg m;

	assert_int_equal(symp_frame(b->data, b->len, &m), b->len);
	return m;
}

static void test_frame(void **state)
{
	struct buf b = BUF_INIT;
	struct symp_msg m;
	uint32_t id = 3, got;

	(void)state;
	assert_int_equal(symp_begin(&b, SYMP_FILE, 9), 0);
	assert_int_equal(buf_add(&b, &id, sizeof(id)), 0);
	assert_int_equal(symp_end(&b), 0);
	for (size_t n = 0; n < b.len; n++)
		assert_int_equal(symp_frame(b.data, n, &m), 0);
	m = message(&b);
	assert_int_equal(m.head.seq, 9);
	assert_int_equal(symp_file(&m, &got), 0);
	assert_int_equal(got, 3);
	/* A type that is none, a length past the limit, a field that must be zero. */
	b.data[offsetof(struct symp_head, type)] = 77;
	assert_int_equal(symp_frame(b.data, b.len, &m), -EBADMSG);
	b.data[offsetof(struct symp_head, type)] = SYMP_FILE;
	b.data[offsetof(struct symp_head, bytes) + 3] = 0x40;
	assert_int_equal(symp_frame(b.data, b.len, &m), -EBADMSG);
	b.data[offsetof(struct symp_head, bytes) + 3] = 0;
	b.data[offsetof(struct symp_head, zero2)] = 1;
	assert_int_equal(symp_frame(b.data, b.len, &m), -EBADMSG);
	buf_release(&b);
}

static int space_of(const struct symp_map *map, uint32_t n, uint32_t say)
{
	uint32_t head[2] = { 5, say };
	struct buf b = BUF_INIT;
	struct symp_list l;
	struct symp_msg m;
	int rc;

	symp_begin(&b, SYMP_SPACE, 0);
	buf_add(&b, head, sizeof(head));
	buf_add(&b, map, n * sizeof(*map));
	assert_int_equal(symp_end(&b), 0);
	m = message(&b);
	rc = symp_space(&m, &l);
	if (!rc) {
		assert_int_equal(l.space, 5);
		assert_int_equal(l.n, n);
		for (uint32_t i = 0; i < n; i++) {
			struct symp_map e = symp_map_at(&l, i);

			assert_memory_equal(&e, &map[i], sizeof(e));
		}
	}
	assert_int_equal(symp_name_request(&m, &l), -EBADMSG);
	buf_release(&b);
	return rc;
}

static void test_space(void **state)
{
	struct symp_map map[2] = {
		{ .start = 0x1000, .end = 0x2000, .file = 1, .prot = 5 },
		{ .start = 0x2000, .end = 0x3000, .offset = 0x1000, .file = 1, .prot = 3 },
	};

	(void)state;
	assert_int_equal(space_of(map, 0, 0), 0);
	assert_int_equal(space_of(map, 2, 2), 0);
	assert_int_equal(space_of(map, 2, 1), -EBADMSG);
	assert_int_equal(space_of(map, 2, 3), -EBADMSG);
	assert_int_equal(space_of(map, 2, 0xffffffff), -EBADMSG);
	map[1].start = 0x1fff;
	assert_int_equal(space_of(map, 2, 2), -EBADMSG);
	map[1].start = map[1].end;
	assert_int_equal(space_of(map, 2, 2), -EBADMSG);
}

static int unwind_of(uint32_t say, uint32_t max)
{
	struct symp_unwind u = { .space = 1, .max = max, .stack_bytes = say }, got;
	static const char stack[100] = "stack";
	struct buf b = BUF_INIT;
	const void *at;
	struct symp_msg m;
	int rc;

	u.regs.ip = 0x1234;
	symp_begin(&b, SYMP_UNWIND, 1);
	buf_add(&b, &u, sizeof(u));
	buf_add(&b, stack, sizeof(stack));
	symp_end(&b);
	m = message(&b);
	rc = symp_unwind_request(&m, &got, &at);
	if (!rc) {
		assert_memory_equal(&got, &u, sizeof(u));
		assert_memory_equal(at, stack, sizeof(stack));
	}
	buf_release(&b);
	return rc;
}

static void test_unwind(void **state)
{
	(void)state;
	assert_int_equal(unwind_of(100, 64), 0);
	assert_int_equal(unwind_of(100, SYM_FRAMES), 0);
	assert_int_equal(unwind_of(100, SYM_FRAMES + 1), -EBADMSG);
	assert_int_equal(unwind_of(100, 0), -EBADMSG);
	assert_int_equal(unwind_of(99, 64), -EBADMSG);
	assert_int_equal(unwind_of(101, 64), -EBADMSG);
	assert_int_equal(unwind_of(0xffffffff, 64), -EBADMSG);
}

static void test_names(void **state)
{
	struct symp_name n = { .offset = 7, .file = 2, .line = 30 }, got;
	char big[3000], cut[3000];
	const char *symbol, *source, *link;
	const unsigned char *id;
	uint32_t head[2] = { 3, 1 };
	struct symp_lack lack = { .file = 4, .crc = 5, .id_bytes = 3 };
	struct buf b = BUF_INIT;
	struct symp_names w;
	struct symp_msg m;

	(void)state;
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = 0;
	/* Two-byte characters from an odd place on: the limit falls into one. */
	for (size_t i = 1; i + 2 < sizeof(cut); i += 2)
		memcpy(cut + i, "\xc3\xa4", 2);
	cut[0] = 'a';
	cut[sizeof(cut) - 1] = cut[sizeof(cut) - 2] = 0;
	symp_begin(&b, SYMP_NAMES, 1);
	buf_add(&b, head, sizeof(head));
	assert_int_equal(symp_names_add(&b, n, "name", "file.c"), 0);
	n.inlined = 1;
	assert_int_equal(symp_names_add(&b, n, NULL, NULL), 0);
	n.inlined = 0;
	assert_int_equal(symp_names_add(&b, n, NULL, NULL), 0);
	assert_int_equal(symp_names_add(&b, n, big, cut), 0);
	assert_int_equal(symp_lacks_add(&b, lack, (const unsigned char *)"abc", "x.debug"), 0);
	symp_end(&b);
	m = message(&b);
	assert_int_equal(symp_names_begin(&m, &w), 0);
	assert_int_equal(w.n, 3);
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), 0);
	assert_int_equal(got.symbol_bytes, 4);
	assert_memory_equal(symbol, "name", 4);
	assert_memory_equal(source, "file.c", 6);
	assert_int_equal(got.line, 30);
	assert_int_equal(w.n, 2);
	assert_int_equal(symp_lacks_next(&w, &lack, &id, &link), -EBADMSG);
	/* Inlined, and what that is inlined into: one address. */
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), 0);
	assert_int_equal(got.inlined, 1);
	assert_int_equal(w.n, 2);
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), 0);
	assert_int_equal(w.n, 1);
	assert_int_equal(got.symbol_bytes, 0);
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), 0);
	assert_int_equal(got.symbol_bytes, SYMP_SYMBOL_MAX);
	assert_int_equal(got.source_bytes, SYMP_SYMBOL_MAX - 1);
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), -EBADMSG);
	assert_int_equal(symp_lacks_next(&w, &lack, &id, &link), 0);
	assert_int_equal(lack.file, 4);
	assert_int_equal(lack.crc, 5);
	assert_memory_equal(id, "abc", 3);
	assert_int_equal(lack.link_bytes, 7);
	assert_memory_equal(link, "x.debug", 7);
	assert_int_equal(symp_lacks_next(&w, &lack, &id, &link), -EBADMSG);
	/* A name that claims more than there is. */
	symp_names_begin(&m, &w);
	w.end -= 2000;
	for (int i = 0; i < 3; i++)
		assert_int_equal(symp_names_next(&w, &got, &symbol, &source), 0);
	assert_int_equal(symp_names_next(&w, &got, &symbol, &source), -EBADMSG);
	buf_release(&b);
}

/* An address has only so many inlined functions. */
static void test_inlined(void **state)
{
	uint32_t head[2] = { 1, 0 };
	const char *symbol, *source;
	struct buf b = BUF_INIT;
	struct symp_names w;
	struct symp_name n;
	struct symp_msg m;

	(void)state;
	symp_begin(&b, SYMP_NAMES, 1);
	buf_add(&b, head, sizeof(head));
	for (uint32_t i = 0; i <= SYMP_INLINED_MAX; i++)
		symp_names_add(&b, (struct symp_name){ .inlined = 1 }, "f", NULL);
	symp_end(&b);
	m = message(&b);
	assert_int_equal(symp_names_begin(&m, &w), 0);
	for (uint32_t i = 0; i < SYMP_INLINED_MAX; i++)
		assert_int_equal(symp_names_next(&w, &n, &symbol, &source), 0);
	assert_int_equal(symp_names_next(&w, &n, &symbol, &source), -EBADMSG);
	buf_release(&b);
}

static void test_forget(void **state)
{
	uint32_t words[2] = { SYMP_THE_FILE, 77 }, id;
	struct buf b = BUF_INIT;
	enum symp_thing what;
	struct symp_msg m;

	(void)state;
	symp_begin(&b, SYMP_FORGET, 0);
	buf_add(&b, words, sizeof(words));
	symp_end(&b);
	m = message(&b);
	assert_int_equal(symp_forget(&m, &what, &id), 0);
	assert_int_equal(what, SYMP_THE_FILE);
	assert_int_equal(id, 77);
	assert_int_equal(symp_file(&m, &id), -EBADMSG);
	words[0] = 2;
	symp_begin(&b, SYMP_FORGET, 0);
	buf_add(&b, words, sizeof(words));
	symp_end(&b);
	m = message(&b);
	assert_int_equal(symp_forget(&m, &what, &id), -EBADMSG);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame),
		cmocka_unit_test(test_space),
		cmocka_unit_test(test_unwind),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_forget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
