/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <cmocka.h>

#include "collect/sysnames.h"

/* Memory is the test's own; what lies below a page is not there. */
static int peek(void *dst, size_t n, uint64_t addr)
{
	if (addr < 4096)
		return -1;
	memcpy(dst, (const void *)(uintptr_t)addr, n);
	return 0;
}
#define RR_PEEK(dst, n, addr) peek(dst, n, addr)
#include "shared/rr_outs.inc"
#include "shared/rr_sum.h"

#define AT(p) ((uint64_t)(uintptr_t)(p))

static struct rr_range got[64];

/* The ranges that are not empty, in got. */
static size_t walk(uint32_t nr, int64_t ret, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		   uint64_t e, uint64_t f)
{
	const uint64_t arg[6] = { a, b, c, d, e, f };
	struct rr_walk w;
	struct rr_range r;
	size_t n = 0;

	rr_begin(&w, nr, arg, ret);
	while (rr_next(&w, &r)) {
		if (!r.bytes)
			continue;
		assert_true(n < 64);
		got[n++] = r;
	}
	return n;
}

/* The same of what a call puts out. */
static size_t walk_put(uint32_t nr, int64_t ret, uint64_t b, uint64_t c)
{
	const uint64_t arg[6] = { 1, b, c, 0, 0, 0 };
	struct rr_walk w;
	struct rr_range r = rr_begin_put(&w, nr, arg, ret);
	size_t n = 0;

	do {
		assert_true(n < 64);
		if (r.bytes)
			got[n++] = r;
	} while (rr_next(&w, &r));
	return n;
}

static void expect(size_t i, uint64_t addr, uint64_t bytes)
{
	assert_int_equal(got[i].addr, addr);
	assert_int_equal(got[i].bytes, bytes);
}

static void rows_have_the_numbers_of_their_names(void **state)
{
	static const struct { uint32_t nr; const char *name; } rows[] = {
#define RR_CALL(number, call, ...) { number, #call },
#include "shared/rr_calls.def"
#undef RR_CALL
	};
	const size_t n = sizeof(rows) / sizeof(rows[0]);

	(void)state;
	assert_true(n > 370);
	for (size_t i = 0; i < n; i++) {
		const char *name = rows[i].nr == 156 ? "_sysctl" : sysname(rows[i].nr);

		assert_true(rows[i].nr < RR_NR_CALLS);
		assert_true(!i || rows[i].nr > rows[i - 1].nr);
		assert_string_equal(rows[i].name, name);
	}
}

static void every_command_is_of_a_call_that_has_some(void **state)
{
	(void)state;
	for (size_t i = 0; i < RR_NCOMMANDS; i++) {
		assert_true(rr_commands[i].nr < RR_NR_CALLS);
		assert_int_equal(rr_calls[rr_commands[i].nr].out[0].kind, RR_KIND_COMMAND);
		assert_int_equal(rr_find_command(rr_commands[i].nr, rr_commands[i].command), i);
	}
	for (uint32_t nr = 0; nr < RR_NR_CALLS; nr++) {
		uint64_t none[6] = { 0 };

		if (rr_calls[nr].out[0].kind != RR_KIND_COMMAND)
			continue;
		none[rr_calls[nr].out[0].by - 1] = 0x80ff547fu;
		assert_false(rr_understood(nr, none, 0));
		assert_true(rr_understood(nr, none, -22));
	}
}

static void sizes_come_of_results_and_arguments(void **state)
{
	(void)state;
	assert_int_equal(walk(0, 5, 3, 8192, 100, 0, 0, 0), 1);	/* read */
	expect(0, 8192, 5);
	assert_int_equal(walk(0, -5, 3, 8192, 100, 0, 0, 0), 0);
	assert_int_equal(walk(0, 0, 3, 8192, 100, 0, 0, 0), 0);
	assert_int_equal(walk(191, 70, 1, 2, 8192, 0, 0, 0), 0);	/* getxattr, size 0 */
	assert_int_equal(walk(5, 0, 3, 8192, 0, 0, 0, 0), 1);	/* fstat */
	expect(0, 8192, 144);
	assert_int_equal(walk(232, 3, 3, 8192, 100, 0, 0, 0), 1);	/* epoll_wait */
	expect(0, 8192, 36);
	assert_int_equal(walk(7, -4, 8192, 3, 0, 0, 0, 0), 1);	/* poll writes on EINTR too */
	expect(0, 8192, 24);
	assert_int_equal(walk(23, 1, 65, 8192, 0, 16384, 0, 0), 4);	/* select */
	expect(0, 8192, 16);
	assert_int_equal(walk(27, 0, 4096, 4097, 8192, 0, 0, 0), 1);	/* mincore */
	expect(0, 8192, 2);
	assert_int_equal(walk(70, 9, 1, 8192, 5, 0, 0, 0), 1);	/* msgrcv, MSG_NOERROR */
	expect(0, 8192, 13);
}

static void a_sleep_writes_when_it_was_interrupted(void **state)
{
	(void)state;
	assert_int_equal(walk(35, 0, 4096, 8192, 0, 0, 0, 0), 0);
	assert_int_equal(walk(35, -516, 4096, 8192, 0, 0, 0, 0), 1);
	assert_int_equal(walk(35, -22, 4096, 8192, 0, 0, 0, 0), 0);
}

static void lengths_are_read_where_they_lie(void **state)
{
	uint32_t length = 16;

	(void)state;
	assert_int_equal(walk(43, 4, 3, 8192, AT(&length), 0, 0, 0), 2);	/* accept */
	expect(0, 8192, 16);
	expect(1, AT(&length), 4);
	assert_int_equal(walk(43, 4, 3, 0, 0, 0, 0, 0), 1);
	expect(0, 0, 4);
}

static void a_result_is_spread_over_iovecs(void **state)
{
	struct iovec v[3] = { { (void *)8192, 10 }, { (void *)16384, 0 }, { (void *)32768, 10 } };

	(void)state;
	assert_int_equal(walk(19, 15, 3, AT(v), 3, 0, 0, 0), 2);	/* readv */
	expect(0, 8192, 10);
	expect(1, 32768, 5);
	assert_int_equal(walk(310, 1, 3, AT(v), 3, 0, 0, 0), 2);	/* process_vm_readv */
	expect(1, 32768, 10);
	assert_int_equal(walk(19, 15, 3, 16, 3, 0, 0, 0), 0);	/* not there */
}

static void messages_are_followed(void **state)
{
	struct iovec v[2] = { { (void *)8192, 10 }, { (void *)16384, 100 } };
	struct mmsghdr m[2] = {
		{ .msg_hdr = { .msg_name = (void *)32768, .msg_namelen = 16, .msg_iov = v,
			       .msg_iovlen = 2, .msg_control = (void *)65536,
			       .msg_controllen = 24 }, .msg_len = 12 },
		{ .msg_hdr = { .msg_iov = v, .msg_iovlen = 1 }, .msg_len = 4 },
	};

	(void)state;
	assert_int_equal(walk(47, 12, 3, AT(&m[0].msg_hdr), 0, 0, 0, 0), 5);	/* recvmsg */
	expect(0, AT(&m[0].msg_hdr), 56);
	expect(1, 32768, 16);
	expect(2, 65536, 24);
	expect(3, 8192, 10);
	expect(4, 16384, 2);
	assert_int_equal(walk(299, 2, 3, AT(m), 2, 0, 4096, 0), 8);	/* recvmmsg */
	expect(7, 4096, 16);
	expect(0, AT(&m[0]), 64);
	expect(5, AT(&m[1]), 64);
	expect(6, 8192, 4);
	assert_int_equal(walk(299, 1, 3, AT(m), 2, 0, 4096, 0), 6);
	expect(5, 4096, 16);
}

static void what_a_call_puts_out_is_found(void **state)
{
	char data[64];
	struct iovec v[3] = { { data, 10 }, { data, 0 }, { data + 10, 20 } };
	struct mmsghdr m[3] = { { .msg_hdr = { .msg_name = data, .msg_namelen = 16, .msg_iov = v,
					       .msg_iovlen = 3 }, .msg_len = 30 },
				{ .msg_hdr = { .msg_iov = v + 2, .msg_iovlen = 1 },
				  .msg_len = 7 } };

	(void)state;
	assert_int_equal(walk_put(1, 7, AT(data), 50), 1);	/* write */
	expect(0, AT(data), 7);
	assert_int_equal(walk_put(44, 7, AT(data), 50), 1);	/* sendto */
	assert_int_equal(walk_put(20, 25, AT(v), 3), 2);	/* writev */
	expect(0, AT(data), 10);
	expect(1, AT(data + 10), 15);
	assert_int_equal(walk_put(46, 25, AT(&m[0]), 0), 2);	/* sendmsg */
	expect(1, AT(data + 10), 15);
	assert_int_equal(walk_put(307, 2, AT(m), 3), 3);	/* sendmmsg */
	expect(0, AT(data), 10);
	expect(1, AT(data + 10), 20);
	expect(2, AT(data + 10), 7);
}

/* Each bit, and where it is; zeros at the end are not the same as none. */
static void a_sum_tells_outputs_apart(void **state)
{
	uint64_t part[RR_SUM_PART / 8] = { 0 };
	uint32_t seen[RR_SUM_PART / 8 + 32], n = 0;
	struct rr_sum s;

	(void)state;
	for (uint32_t i = 0; i < RR_SUM_PART / 8; i++) {
		part[i] = 1ull << i % 64;
		rr_sum_begin(&s);
		rr_sum_add(&s, part, RR_SUM_PART);
		seen[n++] = rr_sum_end(&s);
		part[i] = 0;
	}
	for (uint32_t bytes = 0; bytes < 32; bytes++) {
		rr_sum_begin(&s);
		rr_sum_add(&s, part, bytes);
		seen[n++] = rr_sum_end(&s);
	}
	for (uint32_t i = 0; i < n; i++) {
		assert_int_not_equal(seen[i], 0);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(seen[i], seen[k]);
	}
}

static void some_write_and_fail(void **state)
{
	(void)state;
	assert_int_equal(walk(53, -95, 2, 1, 0, 4096, 0, 0), 1);	/* socketpair: EOPNOTSUPP */
	expect(0, 4096, 8);
	assert_int_equal(walk(247, -10, 0, 0, 4096, 4, 8192, 0), 1);	/* waitid: ECHILD */
	expect(0, 4096, 28);
	assert_int_equal(walk(314, -7, 0, 4096, 0, 0, 0, 0), 1);	/* sched_setattr: E2BIG */
	expect(0, 4096, 4);
}

static void commands_have_rows_of_their_own(void **state)
{
	const uint64_t get[6] = { 3, 0x5401, 8192 }, odd[6] = { 3, 0x80045499, 8192 },
		       quiet[6] = { 3, 0x40049999, 8192 }, old[6] = { 3, 0x54ff, 8192 };

	(void)state;
	assert_int_equal(walk(16, 0, 3, 0x5401, 8192, 0, 0, 0), 1);	/* TCGETS */
	expect(0, 8192, 36);
	assert_int_equal(walk(16, 0, 3, 0x5402, 8192, 0, 0, 0), 0);
	assert_true(rr_understood(16, get, 0));
	assert_false(rr_understood(16, odd, 0));
	assert_true(rr_understood(16, odd, -25));
	assert_true(rr_understood(16, quiet, 0));
	assert_false(rr_understood(16, old, 0));
	assert_int_equal(walk(202, 1, 8192, 5 | 128, 1, 1, 16384, 0), 1);	/* WAKE_OP */
	expect(0, 16384, 4);
	assert_int_equal(walk(72, 0, 3, 5, 8192, 0, 0, 0), 1);		/* F_GETLK */
	expect(0, 8192, 32);
}

static void new_threads_ids_are_written_where_they_are_asked_for(void **state)
{
	uint64_t clone_args[11] = { 0, 8192, 0, 16384 };

	(void)state;
	assert_int_equal(walk(435, 7, AT(clone_args), 88, 0, 0, 0, 0), 2);	/* clone3 */
	expect(0, 8192, 4);
	expect(1, 16384, 4);
}

static void what_is_no_call_is_not_understood(void **state)
{
	const uint64_t none[6] = { 0 };

	(void)state;
	assert_false(rr_understood(RR_NR_CALLS, none, 0));
	assert_false(rr_understood(1u << 31, none, 0));
	assert_false(rr_understood(400, none, 0));
	assert_true(rr_understood(400, none, -38));
	assert_false(rr_understood(101, none, 0));	/* ptrace */
	assert_int_equal(walk(1u << 31, 9, 8192, 8192, 8192, 0, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_the_numbers_of_their_names),
		cmocka_unit_test(every_command_is_of_a_call_that_has_some),
		cmocka_unit_test(sizes_come_of_results_and_arguments),
		cmocka_unit_test(a_sleep_writes_when_it_was_interrupted),
		cmocka_unit_test(lengths_are_read_where_they_lie),
		cmocka_unit_test(a_result_is_spread_over_iovecs),
		cmocka_unit_test(messages_are_followed),
		cmocka_unit_test(what_a_call_puts_out_is_found),
		cmocka_unit_test(a_sum_tells_outputs_apart),
		cmocka_unit_test(some_write_and_fail),
		cmocka_unit_test(commands_have_rows_of_their_own),
		cmocka_unit_test(new_threads_ids_are_written_where_they_are_asked_for),
		cmocka_unit_test(what_is_no_call_is_not_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
