/* SPDX-License-Identifier: MIT */
/* The texts that sym reads: /proc/PID/maps and linker symbols; and its string set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sym/symintern.h"
#include "sym/symmaps.h"
#include "sym/symname.h"

static int one_line(const char *text, struct symmaps_line *l)
{
	return symmaps_next(&text, text + strlen(text), l);
}

static void test_maps_lines(void **state)
{
	struct symmaps_line l;
	char path[64];

	(void)state;
	assert_int_equal(one_line("7f1c5e000000-7f1c5e021000 r-xp 0001f000 fe:01 1049 "
				  "           /usr/lib/x86_64-linux-gnu/libc.so.6\n", &l), 1);
	assert_int_equal(l.start, 0x7f1c5e000000);
	assert_int_equal(l.end, 0x7f1c5e021000);
	assert_int_equal(l.prot, SYMMAPS_R | SYMMAPS_X);
	assert_int_equal(l.offset, 0x1f000);
	assert_int_equal(l.major, 0xfe);
	assert_int_equal(l.minor, 1);
	assert_int_equal(l.ino, 1049);
	assert_int_equal(symmaps_path(l.path, l.path_bytes, path), 35);
	assert_string_equal(path, "/usr/lib/x86_64-linux-gnu/libc.so.6");
	assert_false(l.deleted);

	assert_int_equal(one_line("00400000-00401000 rw-s 00000000 00:05 77 /a b\\012c (deleted)",
				  &l), 1);
	assert_true(l.deleted);
	symmaps_path(l.path, l.path_bytes, path);
	assert_string_equal(path, "/a b\nc");
	assert_int_equal(l.prot, SYMMAPS_R | SYMMAPS_W);

	assert_int_equal(one_line("7ffd0000-7ffd1000 ---p 00000000 00:00 0 \n", &l), 1);
	assert_null(l.path);
	assert_int_equal(one_line("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    "
				  "              [vsyscall]", &l), 1);
	assert_int_equal(l.start, 0xffffffffff600000);
	assert_memory_equal(l.path, "[vsyscall]", 10);
}

static void test_maps_nonsense(void **state)
{
	static const char *const bad[] = {
		"\n", "x", "1-2", "1-2 r", "1-2 r-xp", "1-2 r-xp 0", "1-2 r-xp 0 1",
		"1-2 r-xp 0 1:",
		"1-2 r-xp 0 1:2", "1-2 r-xp 0 1:2 ", "1-2 r-xp 0 1:2 x", "2-1 r-xp 0 1:2 3",
		"1-1 r-xp 0 1:2 3", "-2 r-xp 0 1:2 3", "11111111111111111-2 r-xp 0 1:2 3",
		"1-2 r-xp 0 111111111:2 3", "1-2 r-xp 0 1:2 99999999999999999999",
		"1-2 r-xp0 1:2 3", "1-G r-xp 0 1:2 3",
	};
	struct symmaps_line l;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *p = bad[i], *end = p + strlen(p);

		memset(&l, 0x5a, sizeof(l));
		if (symmaps_next(&p, end, &l) != 0)
			fail_msg("taken: %s", bad[i]);
		assert_int_equal(l.prot, 0x5a5a5a5a);
		assert_ptr_equal(p, end);
		assert_int_equal(symmaps_next(&p, end, &l), -1);
	}
}

static void test_base_length(void **state)
{
	static const char *const names[][2] = {
		{ "main", "main" },
		{ "pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock" },
		{ "pthread_cond_wait@GLIBC_2.3.2", "pthread_cond_wait" },
		{ "lock.lto_priv.0", "lock" },
		{ "lock.lto_priv.12.lto_priv.3", "lock" },
		{ "work.constprop.0", "work" },
		{ "work.isra.0", "work" },
		{ "work.part.1.cold", "work" },
		{ "work.constprop.0.isra.0.cold", "work" },
		{ "work.cold.7", "work" },
		{ "lock.0", "lock" },
		{ "lock.2841", "lock" },
		{ "_ZN4work3runEv.part.0", "_ZN4work3runEv" },
		{ "foo.llvm.1234567890", "foo" },
		{ "", "" },
		{ "@", "@" },
		{ ".cold", ".cold" },
		{ ".0", ".0" },
		{ "7", "7" },
		{ "main.main", "main.main" },
		{ "runtime.cold1", "runtime.cold1" },
		{ "x25519", "x25519" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char got[64];

		snprintf(got, sizeof(got), "%.*s", (int)symname_base_length(names[i][0]),
			 names[i][0]);
		assert_string_equal(got, names[i][1]);
	}
}

/* The names of RFC 2603's text and of its reference implementation's behaviour. */
static void test_rust_v0(void **state)
{
	static const char *const names[][2] = {
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
		{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_",
		  "cc::spawn::{closure#0}::{closure#0}" },
		{ "_RNvMCs4fqI2P2rA04_13const_genericINtB2_8UnsignedKhb_E1f",
		  "<const_generic::Unsigned<11>>::f" },
		{ "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>" },
		{ "_RINvC1a1fRShTlbEE", "a::f::<&[u8], (i32, bool)>" },
		{ "_RNvXs_C1aNtB4_1SNtB4_1T1m", "<a::S as a::T>::m" },
		{ "_RINvC1a1fFUKCjEuE", "a::f::<unsafe extern fn(usize)>" },
		{ "_RINvC1a1fPNtB2_1XQDNtB2_1TEL_E", "a::f::<*const a::X, &mut dyn a::T>" },
		{ "_RINvC1a1fAhj4_E", "a::f::<[u8; 4]>" },
	};
	static const char *const bad[] = {
		"_R", "_RN", "_RNv", "_RNvC", "_RNvC9x",
		"main", "_ZN3foo3barE", "_RB_", "_RNvB_3foo",
		"_RINvC1a1f", "_RINvC1a1fK_E", "_RNvC99999999999999999999999x", "_Rabc",
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (symname_rust_v0(names[i][0], out, sizeof(out)) < 0)
			fail_msg("not taken: %s", names[i][0]);
		assert_string_equal(out, names[i][1]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (symname_rust_v0(bad[i], out, sizeof(out)) >= 0)
			fail_msg("taken: %s as %s", bad[i], out);
	}
	assert_true(symname_rust_v0(names[0][0], out, 5) < 0);
}

static void test_rust_legacy(void **state)
{
	char out[128];

	(void)state;
	assert_true(symname_rust_legacy("std::io::Read::read::h0123456789abcdef", out,
					sizeof(out)) > 0);
	assert_string_equal(out, "std::io::Read::read");
	assert_true(symname_rust_legacy("_$LT$a..B$u20$as$u20$c..D$GT$::run::h0123456789abcdef",
					out, sizeof(out)) > 0);
	assert_string_equal(out, "<a::B as c::D>::run");
	assert_true(symname_rust_legacy("work::queue::push", out, sizeof(out)) < 0);
	assert_true(symname_rust_legacy("work::h0123456789abcdeF", out, sizeof(out)) < 0);
	assert_true(symname_rust_legacy("a::b::h0123456789abcdef", out, 4) < 0);
}

static void test_intern(void **state)
{
	struct symintern *t = symintern_new();
	const char *first[2000];
	char text[32];

	(void)state;
	assert_non_null(t);
	for (int i = 0; i < 2000; i++) {
		int n = snprintf(text, sizeof(text), "name %d", i);

		first[i] = symintern_add(t, text, (size_t)n);
		assert_string_equal(first[i], text);
	}
	for (int i = 0; i < 2000; i++) {
		int n = snprintf(text, sizeof(text), "name %d", i);

		assert_ptr_equal(symintern_add(t, text, (size_t)n), first[i]);
	}
	/* Length and NUL both end it; a prefix is another string. */
	assert_ptr_equal(symintern_add(t, "name 1", 32), first[1]);
	assert_ptr_equal(symintern_add(t, "name 17", 6), first[1]);
	assert_string_equal(symintern_add(t, "name", 4), "name");
	assert_string_equal(symintern_add(t, "", 0), "");
	symintern_free(t);
	symintern_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps_lines),
		cmocka_unit_test(test_maps_nonsense),
		cmocka_unit_test(test_base_length),
		cmocka_unit_test(test_rust_v0),
		cmocka_unit_test(test_rust_legacy),
		cmocka_unit_test(test_intern),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
