/* SPDX-License-Identifier: MIT */
/*
 * Where a C library calls the start routine: in files made here, with the code
 * that compilers make of it, and with what is only like it.
 */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/startcall.h"

#define SYMBOL "_thread_db_pthread_start_routine"
#define FIELD 0x638
#define ADDR 0x400000ull	/* of the file's first byte */
#define CODE_AT 0x400		/* offset of the code in the file */
#define CODE_MAX 0x200

/* A library: headers, one symbol, its descriptor, code. */
struct lib {
	Elf64_Ehdr head;
	Elf64_Phdr seg[2];
	Elf64_Shdr sect[3];
	Elf64_Sym sym[2];
	char names[64];
	uint32_t desc[3];
	char interp[16];
	char pad[CODE_AT - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr) - 3 * sizeof(Elf64_Shdr) -
		 2 * sizeof(Elf64_Sym) - 64 - 12 - 16];
	uint8_t code[CODE_MAX];
} __attribute__((packed));
_Static_assert(offsetof(struct lib, code) == CODE_AT, "the code is where it should be");

static void lib_init(struct lib *l)
{
	memset(l, 0, sizeof(*l));
	memcpy(l->head.e_ident, ELFMAG, SELFMAG);
	l->head.e_ident[EI_CLASS] = ELFCLASS64;
	l->head.e_ident[EI_DATA] = ELFDATA2LSB;
	l->head.e_machine = EM_X86_64;
	l->head.e_phoff = offsetof(struct lib, seg);
	l->head.e_phentsize = sizeof(Elf64_Phdr);
	l->head.e_phnum = 1;
	l->head.e_shoff = offsetof(struct lib, sect);
	l->head.e_shentsize = sizeof(Elf64_Shdr);
	l->head.e_shnum = 3;
	l->seg[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = ADDR,
				  .p_filesz = sizeof(*l), .p_memsz = sizeof(*l) };
	l->seg[1] = (Elf64_Phdr){ .p_type = PT_INTERP, .p_filesz = sizeof(l->interp),
				  .p_offset = offsetof(struct lib, interp) };
	strcpy(l->interp, "/lib64/ld.so");
	l->sect[1] = (Elf64_Shdr){ .sh_type = SHT_DYNSYM, .sh_link = 2,
				   .sh_offset = offsetof(struct lib, sym),
				   .sh_size = sizeof(l->sym) };
	l->sect[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct lib, names),
				   .sh_size = sizeof(l->names) };
	l->sym[1] = (Elf64_Sym){ .st_name = 1, .st_value = ADDR + offsetof(struct lib, desc) };
	strcpy(l->names + 1, SYMBOL);
	l->desc[0] = 64;
	l->desc[1] = 1;
	l->desc[2] = FIELD;
	memset(l->code, 0x90, sizeof(l->code));
}

static void put(struct lib *l, size_t at, const char *code, size_t bytes)
{
	assert_true(at + bytes <= sizeof(l->code));
	memcpy(l->code + at, code, bytes);
}
#define PUT(l, at, code) put(l, at, code, sizeof(code) - 1)

/* mov 0x640(base), %rdi and call *0x638(base). */
#define LOAD_RBX "\x48\x8b\xbb\x40\x06\x00\x00"
#define CALL_RBX "\xff\x93\x38\x06\x00\x00"
#define LOAD_RAX "\x48\x8b\xb8\x40\x06\x00\x00"
#define CALL_RAX "\xff\x90\x38\x06\x00\x00"
#define LOAD_R12 "\x49\x8b\xbc\x24\x40\x06\x00\x00"
#define CALL_R12 "\x41\xff\x94\x24\x38\x06\x00\x00"
#define LOAD_R13 "\x49\x8b\xbd\x40\x06\x00\x00"
#define CALL_R13 "\x41\xff\x95\x38\x06\x00\x00"
/* cmpb $0, 0x8f8(base) */
#define COMPARE "\x80\xbb\xf8\x08\x00\x00\x00"
#define COMPARE_FS "\x80\x3c\x25\xf8\x08\x00\x00\x00"
#define LOAD_FS "\x64\x48\x8b\x3c\x25\x40\x06\x00\x00"
#define CALL_FS "\x64\xff\x14\x25\x38\x06\x00\x00"

static int find_bytes(const void *data, size_t bytes, struct startcall out[STARTCALL_MAX])
{
	int fd = memfd_create("lib", MFD_CLOEXEC), n;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	n = startcall_find(fd, out);
	close(fd);
	return n;
}

static int find(const struct lib *l, struct startcall out[STARTCALL_MAX])
{
	return find_bytes(l, sizeof(*l), out);
}

static void two_calls_behind_a_branch(void **state)
{
	/* cmpb $0, …; je behind; load; call; … behind: mov 8(%rsp), %rax; load; call */
	struct startcall at[STARTCALL_MAX];
	struct lib l;

	(void)state;
	lib_init(&l);
	PUT(&l, 0x10, "\x0f\x84\x3c\x00\x00\x00" LOAD_RBX CALL_RBX);	/* je 0x52 */
	PUT(&l, 0x52, "\x48\x8b\x44\x24\x08" LOAD_RAX CALL_RAX);
	assert_int_equal(find(&l, at), 1);
	assert_true(at[0].branch);
	assert_int_equal(at[0].offset, CODE_AT + 0x10);
	assert_int_equal(at[0].field, FIELD);
	/* The short form, and the calls in the other order: the jump leads back. */
	lib_init(&l);
	PUT(&l, 0xd, COMPARE "\x74\x3e" LOAD_RBX CALL_RBX);
	PUT(&l, 0x54, LOAD_RAX CALL_RAX);
	assert_int_equal(find(&l, at), 1);
	assert_int_equal(at[0].offset, CODE_AT + 0x14);
	lib_init(&l);
	PUT(&l, 0x10, LOAD_RAX CALL_RAX);
	PUT(&l, 0x38, COMPARE_FS "\x75\xce" LOAD_RBX CALL_RBX);	/* jne 0x10 */
	assert_int_equal(find(&l, at), 1);
	assert_true(at[0].branch);
	assert_int_equal(at[0].offset, CODE_AT + 0x40);
}

static void calls_without_a_branch_between(void **state)
{
	struct startcall at[STARTCALL_MAX];
	struct lib l;

	(void)state;
	lib_init(&l);
	PUT(&l, 0x20, LOAD_RBX CALL_RBX);
	assert_int_equal(find(&l, at), 1);
	assert_false(at[0].branch);
	assert_int_equal(at[0].offset, CODE_AT + 0x20 + 7);
	/* A jump to elsewhere: each call is probed. */
	PUT(&l, 0x17, COMPARE "\x74\x10");
	PUT(&l, 0x80, LOAD_RAX CALL_RAX);
	assert_int_equal(find(&l, at), 2);
	assert_int_equal(at[0].offset, CODE_AT + 0x20 + 7);
	assert_int_equal(at[1].offset, CODE_AT + 0x80 + 7);
	/* Behind the second load: its argument would be missing. */
	l.code[0x1f] = 0x80 + 7 - 0x20;
	assert_int_equal(find(&l, at), 2);
	l.code[0x1f] = 0x80 - 0x20;
	assert_int_equal(find(&l, at), 1);
	assert_true(at[0].branch);
	/* Without the comparison these two bytes may be anything's. */
	l.code[0x17] = 0x81;
	assert_int_equal(find(&l, at), 2);
}

static void every_way_to_write_the_call(void **state)
{
	static const struct { const char *code; size_t bytes, call; } way[] = {
#define WAY(load, call) { load call, sizeof(load call) - 1, sizeof(load) - 1 }
		WAY(LOAD_RBX, CALL_RBX), WAY(LOAD_RAX, CALL_RAX), WAY(LOAD_R12, CALL_R12),
		WAY(LOAD_R13, CALL_R13), WAY(LOAD_FS, CALL_FS), WAY(LOAD_FS, CALL_RBX),
	};
	struct startcall at[STARTCALL_MAX];
	struct lib l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		lib_init(&l);
		put(&l, 0x33, way[i].code, way[i].bytes);
		assert_int_equal(find(&l, at), 1);
		assert_int_equal(at[0].offset, CODE_AT + 0x33 + way[i].call);
	}
}

static void what_is_only_like_it(void **state)
{
	struct startcall at[STARTCALL_MAX];
	struct lib l;
	int i;

	(void)state;
	lib_init(&l);
	assert_int_equal(find(&l, at), 0);
	PUT(&l, 0x20, CALL_RBX);	/* no argument */
	assert_int_equal(find(&l, at), 0);
	PUT(&l, 0x19, "\x48\x8b\xb3\x40\x06\x00\x00");	/* into %rsi */
	assert_int_equal(find(&l, at), 0);
	lib_init(&l);
	PUT(&l, 0x20, CALL_RBX);
	PUT(&l, 0x80, LOAD_RBX);	/* after it, and too far before */
	assert_int_equal(find(&l, at), 0);
	PUT(&l, 0xb0, CALL_RBX);
	assert_int_equal(find(&l, at), 0);
	lib_init(&l);
	PUT(&l, 0x20, LOAD_RBX "\xff\xb3\x38\x06\x00\x00");	/* push, no call */
	assert_int_equal(find(&l, at), 0);
	lib_init(&l);
	for (i = 0; i <= STARTCALL_MAX; i++)
		PUT(&l, (size_t)i * 0x40, LOAD_RBX CALL_RBX);
	assert_int_equal(find(&l, at), 0);	/* so many are something else */
	lib_init(&l);
	memcpy(l.code, &CALL_RBX[2], 4);	/* the offset at the code's first byte */
	assert_int_equal(find(&l, at), 0);
}

static void only_with_the_descriptor(void **state)
{
	struct startcall at[STARTCALL_MAX];
	struct lib l;

	(void)state;
	lib_init(&l);
	PUT(&l, 0x20, LOAD_RBX CALL_RBX);
	l.names[1] = 'x';
	assert_int_equal(find(&l, at), 0);
	l.names[1] = '_';
	l.names[sizeof(SYMBOL)] = 's';	/* a longer name */
	assert_int_equal(find(&l, at), 0);
	l.names[sizeof(SYMBOL)] = '\0';
	assert_int_equal(find(&l, at), 1);
	l.desc[0] = 32;
	assert_int_equal(find(&l, at), 0);
	l.desc[0] = 64;
	l.desc[1] = 2;
	assert_int_equal(find(&l, at), 0);
	l.desc[1] = 1;
	l.desc[2] = 0;
	assert_int_equal(find(&l, at), 0);
	l.desc[2] = FIELD;
	l.sym[1].st_value = ADDR + sizeof(l) - 11;	/* its end is outside */
	assert_true(find(&l, at) <= 0);
}

static void the_large_table_of_a_static_program_alone(void **state)
{
	struct startcall at[STARTCALL_MAX];
	struct lib l;

	(void)state;
	lib_init(&l);
	PUT(&l, 0x20, LOAD_RBX CALL_RBX);
	l.sect[1].sh_type = SHT_SYMTAB;
	assert_int_equal(find(&l, at), 1);
	l.head.e_phnum = 2;	/* with an interpreter */
	assert_int_equal(find(&l, at), 0);
	l.sect[1].sh_type = SHT_DYNSYM;
	assert_int_equal(find(&l, at), 1);
}

static void what_is_no_library(void **state)
{
	struct startcall at[STARTCALL_MAX];
	struct lib l;
	size_t cut;

	(void)state;
	assert_int_equal(find_bytes("", 0, at), -ENOEXEC);
	assert_int_equal(find_bytes("#!/bin/sh\n", 10, at), -ENOEXEC);
	lib_init(&l);
	PUT(&l, 0x20, LOAD_RBX CALL_RBX);
	l.head.e_machine = EM_AARCH64;
	assert_int_equal(find(&l, at), -ENOEXEC);
	l.head.e_machine = EM_X86_64;
	/* Of a file that ends early nothing is read past its end. */
	for (cut = 0; cut < sizeof(l); cut += 7)
		assert_true(find_bytes(&l, cut, at) <= 0);
	l.sect[1].sh_size = UINT64_MAX;
	assert_true(find(&l, at) <= 0);
	l.sect[1].sh_size = sizeof(l.sym);
	l.sect[1].sh_link = 77;
	assert_true(find(&l, at) <= 0);
	l.sect[1].sh_link = 2;
	l.seg[0].p_filesz = UINT64_MAX;
	assert_true(find(&l, at) <= 0);
}

static void the_dynamic_linker(void **state)
{
	char path[32];
	struct lib l;
	int fd;

	(void)state;
	lib_init(&l);
	fd = memfd_create("lib", MFD_CLOEXEC);
	assert_int_equal(write(fd, &l, sizeof(l)), (ssize_t)sizeof(l));
	assert_int_equal(startcall_interp(fd, path, sizeof(path)), -ENOENT);
	l.head.e_phnum = 2;
	assert_int_equal(pwrite(fd, &l, sizeof(l), 0), (ssize_t)sizeof(l));
	assert_int_equal(startcall_interp(fd, path, sizeof(path)), 12);
	assert_string_equal(path, "/lib64/ld.so");
	assert_int_equal(startcall_interp(fd, path, 15), -ENAMETOOLONG);
	/* One without its NUL is cut. */
	memset(l.interp, 'x', sizeof(l.interp));
	assert_int_equal(pwrite(fd, &l, sizeof(l), 0), (ssize_t)sizeof(l));
	assert_int_equal(startcall_interp(fd, path, sizeof(path)), sizeof(l.interp) - 1);
	l.seg[1].p_filesz = 0;
	assert_int_equal(pwrite(fd, &l, sizeof(l), 0), (ssize_t)sizeof(l));
	assert_int_equal(startcall_interp(fd, path, sizeof(path)), -ENOEXEC);
	close(fd);
}

/* The library that this test runs with, when it is glibc. */
static void the_one_of_this_machine(void **state)
{
	struct startcall at[STARTCALL_MAX];
	int fd = open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC), n;

	(void)state;
	if (fd < 0)
		skip();
	n = startcall_find(fd, at);
	close(fd);
	assert_in_range(n, 1, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_calls_behind_a_branch),
		cmocka_unit_test(calls_without_a_branch_between),
		cmocka_unit_test(every_way_to_write_the_call),
		cmocka_unit_test(what_is_only_like_it),
		cmocka_unit_test(only_with_the_descriptor),
		cmocka_unit_test(the_large_table_of_a_static_program_alone),
		cmocka_unit_test(what_is_no_library),
		cmocka_unit_test(the_dynamic_linker),
		cmocka_unit_test(the_one_of_this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
