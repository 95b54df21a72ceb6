/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/io.h"
#include "rr/insn.h"
#include "rr/insnscan.h"
#include "rr/procmaps.h"
#include "shared/rr_insn.h"

#define BYTES_MOST ((size_t)64 << 20)

static uint64_t word_of(const uint8_t *code, size_t n)
{
	uint64_t word = 0;

	memcpy(&word, code, n);
	return word;
}

/* What is replaced is known again, by both, and by nobody for what it was. */
static void replaced_and_known(void **state)
{
	static const struct { uint8_t code[5], bytes, kind, reg, width; } rows[] = {
		{ { 0x0f, 0x31 }, 2, INSN_TSC, 0, 0 },
		{ { 0x0f, 0x01, 0xf9 }, 3, INSN_TSCP, 0, 0 },
		{ { 0x0f, 0xc7, 0xf0 }, 3, INSN_RANDOM, RR_PLACE_AX, 4 },
		{ { 0x0f, 0xc7, 0xfa }, 3, INSN_RANDOM, RR_PLACE_DX, 4 },
		{ { 0x66, 0x0f, 0xc7, 0xf3 }, 4, INSN_RANDOM, RR_PLACE_BX, 2 },
		{ { 0x48, 0x0f, 0xc7, 0xf6 }, 4, INSN_RANDOM, RR_PLACE_SI, 8 },
		{ { 0x49, 0x0f, 0xc7, 0xf7 }, 4, INSN_RANDOM, RR_PLACE_R15, 8 },
		{ { 0x66, 0x41, 0x0f, 0xc7, 0xf9 }, 5, INSN_RANDOM, RR_PLACE_R9, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t code[5];
		struct insn in = insn_at(rows[i].code, rows[i].bytes, false);

		assert_int_equal(in.kind, rows[i].kind);
		assert_int_equal(in.bytes, rows[i].bytes);
		memcpy(code, rows[i].code, sizeof(code));
		assert_false(rr_insn_is_replaced(word_of(code, rows[i].bytes)));
		insn_replace(&in, code);
		assert_int_equal(insn_at(code, rows[i].bytes, false).kind, INSN_NONE);
		assert_true(rr_insn_is_replaced(word_of(code, rows[i].bytes)));
		in = insn_at(code, rows[i].bytes, true);
		assert_int_equal(in.kind, rows[i].kind);
		assert_int_equal(in.bytes, rows[i].bytes);
		assert_int_equal(in.reg, rows[i].reg);
		assert_int_equal(in.width, rows[i].width);
		assert_int_equal(insn_at(rows[i].code, rows[i].bytes - 1u, false).kind, INSN_NONE);
	}
}

/* ud2, endbr64 behind it, rdpid, cmpxchg8b of memory, vmptrld. */
static void others_are_left(void **state)
{
	static const uint8_t other[][5] = {
		{ 0x0f, 0x0b, 0xf3, 0x0f, 0x1e }, { 0xf3, 0x0f, 0xc7, 0xf8 },
		{ 0x0f, 0xc7, 0x0f }, { 0x0f, 0xc7, 0x37 }, { 0x0f, 0x01, 0xd0 },
		{ 0x67, 0x0f, 0xb9, 0x40, 0x02 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		assert_int_equal(insn_at(other[i], 5, false).kind, INSN_NONE);
		assert_int_equal(insn_at(other[i], 5, true).kind, INSN_NONE);
		assert_false(rr_insn_is_replaced(word_of(other[i], 5)));
	}
}

static void what_is_done(void **state)
{
	const struct insn tsc = { .kind = INSN_TSC, .bytes = 2 };
	struct insn random = { .kind = INSN_RANDOM, .bytes = 4, .reg = RR_PLACE_DX, .width = 2 };
	uint64_t reg[RR_PLACE_REGS];

	(void)state;
	memset(reg, 0xff, sizeof(reg));
	reg[RR_PLACE_IP] = 100;
	assert_int_equal(insn_do(&tsc, reg), 1u << RR_PLACE_AX | 1u << RR_PLACE_DX |
			 1u << RR_PLACE_IP);
	assert_true(reg[RR_PLACE_AX] <= UINT32_MAX && reg[RR_PLACE_DX] <= UINT32_MAX);
	assert_int_equal(reg[RR_PLACE_IP], 102);
	assert_int_equal(reg[RR_PLACE_CX], UINT64_MAX);
	reg[RR_PLACE_DX] = UINT64_MAX;
	reg[RR_PLACE_FLAGS] = 0x8d5 | 0x200;
	assert_int_equal(insn_do(&random, reg), 1u << RR_PLACE_DX | 1u << RR_PLACE_FLAGS |
			 1u << RR_PLACE_IP);
	assert_int_equal(reg[RR_PLACE_DX] >> 16, UINT64_MAX >> 16);
	assert_int_equal(reg[RR_PLACE_FLAGS], 0x201);
	random.width = 4;
	insn_do(&random, reg);
	assert_int_equal(reg[RR_PLACE_DX] >> 32, 0);
}

/* ---- in files ------------------------------------------------------------------- */

#define SITES 4		/* at the bytes that begin at scanned_<n> */
extern const uint8_t scanned_1[], scanned_2[], scanned_3[], scanned_4[], unscanned_1[],
	unscanned_2[];

/* Between them are their bytes in others, and some that are no code. */
__attribute__((noinline, used)) static unsigned int scanned(unsigned int n)
{
	__asm__ volatile("mov $0xf9010f31, %%eax\n"
			 "scanned_1: rdtsc\n"
			 "	add $0x310f310f, %%eax\n"
			 "unscanned_1 = . - 4\n"
			 "scanned_2: rdtscp\n"
			 "	mov 0x310f(%%rsp), %%eax\n"
			 "unscanned_2 = . - 4\n"
			 "scanned_3: .byte 0x48, 0x0f, 0xc7, 0xf2\n"
			 "	lea 0x310f(%%rdx), %%rdx\n"
			 "scanned_4: .byte 0x66, 0x0f, 0xc7, 0xf2\n"
			 "	add %%eax, %0\n"
			 : "+r"(n) : : "rax", "rcx", "rdx", "cc");
	return n;
}

struct where { uint64_t offset, start, end; };

static struct where own_code(void)
{
	struct err err = { 0 };
	struct procmap m;
	struct where w;

	assert_int_equal(procmaps_at(&m, getpid(), (uint64_t)(uintptr_t)scanned_1, &err), 0);
	w = (struct where){ m.offset, m.start, m.end };
	free(m.path);
	return w;
}

static bool has(const struct insn_places *p, const struct where *w, const uint8_t *at)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i] == (uint64_t)(uintptr_t)at - w->start + w->offset)
			return true;
	return false;
}

/* Of the test's own file, in which @change has changed something: how many places there are. */
static size_t scan_changed(void (*change)(char *data))
{
	const uint8_t *const at[SITES] = { scanned_1, scanned_2, scanned_3, scanned_4 };
	const struct where w = own_code();
	const int fd = memfd_create("scanned", MFD_CLOEXEC);
	struct insn_places p;
	struct buf b = BUF_INIT;
	size_t found = 0;

	assert_int_equal(io_read_file("/proc/self/exe", &b, BYTES_MOST), 0);
	change(b.data);
	assert_int_equal(io_write_all(fd, b.data, b.len), 0);
	buf_release(&b);
	assert_int_equal(insnscan(&p, fd, w.offset, w.end - w.start), 0);
	for (size_t i = 0; i < SITES; i++)
		found += has(&p, &w, at[i]);
	assert_false(has(&p, &w, unscanned_1));
	assert_false(has(&p, &w, unscanned_2));
	insn_places_release(&p);
	close(fd);
	return found;
}

static void as_it_is(char *data)
{
	(void)data;
}

static void without_table(char *data)
{
	const Elf64_Ehdr *eh = (const void *)data;
	Elf64_Phdr *ph = (void *)(data + eh->e_phoff);

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			ph[i].p_type = PT_NULL;
}

static void without_unwinding(char *data)
{
	const Elf64_Ehdr *eh = (const void *)data;
	Elf64_Shdr *sh = (void *)(data + eh->e_shoff);

	without_table(data);
	for (int i = 0; i < eh->e_shnum; i++)
		if (!strcmp(data + sh[eh->e_shstrndx].sh_offset + sh[i].sh_name, ".eh_frame"))
			sh[i].sh_type = SHT_NOBITS;
}

static void without_sections(char *data)
{
	without_table(data);
	((Elf64_Ehdr *)(void *)data)->e_shnum = 0;
}

static void damaged(char *data)
{
	const Elf64_Ehdr *eh = (const void *)data;
	const Elf64_Phdr *ph = (const void *)(data + eh->e_phoff);

	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_GNU_EH_FRAME)
			memset(data + ph[i].p_offset + 12, 0xa5, ph[i].p_filesz - 12);
}

static void found_in_a_file(void **state)
{
	(void)state;
	assert_int_equal(scan_changed(as_it_is), SITES);
	assert_int_equal(scan_changed(without_table), SITES);
	assert_int_equal(scan_changed(without_unwinding), SITES);
	/* Nobody says what is code. */
	assert_int_equal(scan_changed(without_sections), 0);
	scan_changed(damaged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_and_known),
		cmocka_unit_test(others_are_left),
		cmocka_unit_test(what_is_done),
		cmocka_unit_test(found_in_a_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
