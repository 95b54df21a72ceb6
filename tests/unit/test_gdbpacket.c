/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rr/gdbpacket.h"

static void items(void **state)
{
	static const struct {
		const char *in;
		enum gdb_item item;
		size_t used;
		const char *out;
	} cases[] = {
		{ "", GDB_NOTHING, 0, NULL },
		{ "+$g#67", GDB_OTHER, 1, NULL },
		{ "\3$g#67", GDB_INTERRUPT, 1, NULL },
		{ "$g#67", GDB_PACKET, 5, "g" },
		{ "$g#67$", GDB_PACKET, 5, "g" },
		{ "$#00", GDB_PACKET, 4, "" },
		{ "$g#68", GDB_BROKEN, 5, NULL },
		{ "$g#6x", GDB_BROKEN, 5, NULL },
		{ "$g#6", GDB_NOTHING, 0, NULL },
		{ "$g", GDB_NOTHING, 0, NULL },
		{ "$}\3}]#5a", GDB_PACKET, 8, "#}" },
		{ "$}#7d", GDB_PACKET, 5, "" },
	};
	struct buf out = BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t used = 99;

		assert_int_equal(gdbpacket_next(cases[i].in, strlen(cases[i].in), &used, &out),
				 cases[i].item);
		assert_int_equal(used, cases[i].used);
		if (cases[i].out) {
			assert_int_equal(out.len, strlen(cases[i].out));
			assert_string_equal(out.data, cases[i].out);
		}
	}
	buf_release(&out);
}

static void there_and_back(void **state)
{
	struct buf packet = BUF_INIT, out = BUF_INIT;
	char all[256];
	size_t used;

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	assert_int_equal(gdbpacket_add(&packet, all, sizeof(all)), 0);
	assert_int_equal(gdbpacket_next(packet.data, packet.len, &used, &out), GDB_PACKET);
	assert_int_equal(used, packet.len);
	assert_int_equal(out.len, sizeof(all));
	assert_memory_equal(out.data, all, sizeof(all));
	buf_release(&packet);
	buf_release(&out);
}

/* What never ends is given up, and not kept. */
static void too_long(void **state)
{
	const size_t n = 2 * GDB_PACKET_MAX + 1;
	struct buf in = BUF_INIT, out = BUF_INIT;
	size_t used;

	(void)state;
	assert_int_equal(buf_grow(&in, n), 0);
	memset(in.data, 'x', n);
	in.data[0] = '$';
	assert_int_equal(gdbpacket_next(in.data, n - 1, &used, &out), GDB_NOTHING);
	assert_int_equal(used, 0);
	assert_int_equal(gdbpacket_next(in.data, n, &used, &out), GDB_BROKEN);
	assert_int_equal(used, n);
	buf_release(&in);
	buf_release(&out);
}

static void numbers(void **state)
{
	const char *s = "1fG", *none = "g", *most = "ffffffffffffffff0";
	unsigned char to[4];
	struct buf out = BUF_INIT;
	uint64_t v;

	(void)state;
	assert_true(gdb_number(&s, &v));
	assert_int_equal(v, 0x1f);
	assert_int_equal(*s, 'G');
	assert_false(gdb_number(&none, &v));
	assert_true(gdb_number(&most, &v));
	assert_true(v == UINT64_MAX);
	assert_int_equal(gdb_from_hex(to, sizeof(to), "00fF10;"), 3);
	assert_memory_equal(to, "\0\xff\x10", 3);
	assert_int_equal(gdb_from_hex(to, sizeof(to), "0011223344"), -1);
	assert_int_equal(gdb_from_hex(to, sizeof(to), "001"), -1);
	assert_int_equal(gdb_from_hex(to, sizeof(to), ""), 0);
	gdb_add_hex(&out, "\0\xa5", 2);
	assert_string_equal(out.data, "00a5");
	buf_release(&out);
}

static void thread_ids(void **state)
{
	static const struct {
		const char *in;
		bool ok;
		int64_t pid, tid;
	} cases[] = {
		{ "-1", true, 0, -1 }, { "0", true, 0, 0 }, { "1f", true, 0, 0x1f },
		{ "p2.3", true, 2, 3 }, { "p2.-1", true, 2, -1 }, { "p2", true, 2, -1 },
		{ "p-1.-1", true, -1, -1 }, { "", false, 0, 0 }, { "p", false, 0, 0 },
		{ "p2.", false, 0, 0 }, { "x", false, 0, 0 }, { "-", false, 0, 0 },
		{ "ffffffffffffffff", false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *s = cases[i].in;
		struct gdb_thread t;

		assert_int_equal(gdb_thread_id(&s, &t), cases[i].ok);
		if (!cases[i].ok)
			continue;
		assert_int_equal(t.pid, cases[i].pid);
		assert_int_equal(t.tid, cases[i].tid);
		assert_int_equal(*s, '\0');
	}
}

static void actions(void **state)
{
	static const struct {
		const char *in;
		bool ok;
		char kind;
		int64_t tid;
	} cases[] = {
		{ ";c", true, 'c', -1 }, { ";s:p1.2;c:p1.-1", true, 's', 2 },
		{ ";c;s:5", true, 's', 5 }, { ";C05;c", true, 'c', -1 },
		{ ";S05:7", true, 's', 7 }, { ";r10,20:9;c", true, 'r', 9 },
		{ "", false, 0, 0 }, { ";", false, 0, 0 }, { ";x", false, 0, 0 },
		{ ";r10", false, 0, 0 }, { ";r10,", false, 0, 0 }, { ";S", false, 0, 0 },
		{ ";s:", false, 0, 0 }, { ";sx", false, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gdb_action a = { 0 };

		assert_int_equal(gdb_vcont(cases[i].in, &a), cases[i].ok);
		if (!cases[i].ok)
			continue;
		assert_int_equal(a.kind, cases[i].kind);
		assert_int_equal(a.thread.tid, cases[i].tid);
	}
}

static void points_and_parts(void **state)
{
	struct buf out = BUF_INIT;
	struct gdb_point_id id;
	uint64_t offset, bytes;

	(void)state;
	assert_true(gdb_point_id("2,7f00,8", &id));
	assert_int_equal(id.type, '2');
	assert_int_equal(id.addr, 0x7f00);
	assert_int_equal(id.bytes, 8);
	assert_false(gdb_point_id("5,7f00,8", &id));
	assert_false(gdb_point_id("2", &id));
	assert_false(gdb_point_id("2,", &id));
	assert_false(gdb_point_id("2,1", &id));
	assert_true(gdb_range("10,ff", &offset, &bytes));
	assert_int_equal(offset, 16);
	assert_int_equal(bytes, 255);
	assert_false(gdb_range("10,ff,", &offset, &bytes));
	assert_false(gdb_range("10", &offset, &bytes));
	gdb_add_part(&out, "abcdef", 6, 2, 3);
	assert_string_equal(out.data, "mcde");
	buf_reset(&out);
	gdb_add_part(&out, "abcdef", 6, 3, 3);
	assert_string_equal(out.data, "ldef");
	buf_reset(&out);
	gdb_add_part(&out, "abcdef", 6, UINT64_MAX, UINT64_MAX);
	assert_string_equal(out.data, "l");
	buf_release(&out);
}

static void signals(void **state)
{
	(void)state;
	assert_int_equal(gdb_signal(SIGSEGV), 11);
	assert_int_equal(gdb_signal(SIGUSR1), 30);
	assert_int_equal(gdb_signal(SIGCHLD), 20);
	assert_int_equal(gdb_signal(34), 46);
	assert_int_equal(gdb_signal(0), 0);
	assert_int_equal(gdb_signal(65), 0);
	for (int sig = 1; sig <= 64; sig++)
		assert_int_equal(gdb_signal_of(gdb_signal(sig)), sig);
	assert_int_equal(gdb_signal_of(9999), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items), cmocka_unit_test(there_and_back),
		cmocka_unit_test(too_long), cmocka_unit_test(numbers),
		cmocka_unit_test(thread_ids), cmocka_unit_test(actions),
		cmocka_unit_test(points_and_parts), cmocka_unit_test(signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
