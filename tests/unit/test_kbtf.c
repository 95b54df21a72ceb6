/* SPDX-License-Identifier: MIT */
/* The small BTF against libbpf's reading of the whole, and damaged input. */
#include <bpf/btf.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "collect/kbtf.h"
#include "unit.h"

#define VMLINUX "/sys/kernel/btf/vmlinux"

/* An object that names @n types: an ELF file with nothing but a .BTF section. */
static char *object(const char *const *names, size_t n, size_t *bytes)
{
	static const char section_names[] = "\0.BTF\0.shstrtab";
	struct btf *b = btf__new_empty();
	Elf64_Ehdr h = { .e_ident = ELFMAG, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3,
			 .e_shstrndx = 2 };
	Elf64_Shdr s[3] = {};
	const void *raw;
	__u32 len;
	size_t i;
	char *elf;

	for (i = 0; i < n; i++)
		assert_true(btf__add_struct(b, names[i], 4) > 0);
	raw = btf__raw_data(b, &len);
	h.e_ident[EI_CLASS] = ELFCLASS64;
	h.e_shoff = sizeof(h);
	s[1].sh_name = 1;
	s[1].sh_offset = sizeof(h) + sizeof(s);
	s[1].sh_size = len;
	s[2].sh_name = 6;
	s[2].sh_offset = s[1].sh_offset + len;
	s[2].sh_size = sizeof(section_names);
	*bytes = s[2].sh_offset + sizeof(section_names);
	elf = malloc(*bytes);
	assert_non_null(elf);
	memcpy(elf, &h, sizeof(h));
	memcpy(elf + sizeof(h), s, sizeof(s));
	memcpy(elf + s[1].sh_offset, raw, len);
	memcpy(elf + s[2].sh_offset, section_names, sizeof(section_names));
	btf__free(b);
	return elf;
}

static struct btf *parse_fd(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return btf__parse(path, NULL);
}

static void same_members(const struct btf *whole, const struct btf *small, const char *name)
{
	int w = btf__find_by_name_kind(whole, name, BTF_KIND_STRUCT);
	int s = btf__find_by_name_kind(small, name, BTF_KIND_STRUCT), i;
	const struct btf_type *wt, *st;

	assert_true(w > 0 && s > 0);
	wt = btf__type_by_id(whole, (__u32)w);
	st = btf__type_by_id(small, (__u32)s);
	assert_int_equal(wt->size, st->size);
	assert_int_equal(btf_vlen(wt), btf_vlen(st));
	for (i = 0; i < btf_vlen(wt); i++) {
		const struct btf_member *wm = btf_members(wt) + i, *sm = btf_members(st) + i;

		assert_string_equal(btf__name_by_offset(whole, wm->name_off),
				    btf__name_by_offset(small, sm->name_off));
		assert_int_equal(wm->offset, sm->offset);
		if (!btf_is_ptr(btf__type_by_id(small, sm->type)))
			assert_int_equal(btf__resolve_size(whole, wm->type),
					 btf__resolve_size(small, sm->type));
	}
}

static void agrees_with_the_whole(void **state)
{
	static const char *const names[] = { "task_struct", "pid", "upid___flavoured", "inode",
					     "no_such_type_there_is" };
	struct kbtf_id ids[] = {
		{ "btf_trace_sched_switch", BTF_KIND_TYPEDEF, 0 },
		{ "bpf_iter_task", BTF_KIND_FUNC, 0 },
		{ "btf_trace_no_such_event", BTF_KIND_TYPEDEF, 0 },
	};
	struct btf *whole, *small;
	struct kbtf *k;
	size_t bytes, i;
	char *elf;
	int fd;

	(void)state;
	k = kbtf_open(VMLINUX);
	if (!k)
		skip();
	elf = object(names, sizeof(names) / sizeof(names[0]), &bytes);
	fd = kbtf_reduce(k, elf, bytes, ids, 3);
	assert_true(fd >= 0);
	whole = btf__load_vmlinux_btf();
	small = parse_fd(fd);
	assert_non_null(whole);
	assert_non_null(small);
	for (i = 0; i < 2; i++)
		assert_int_equal(ids[i].id,
				 btf__find_by_name_kind(whole, ids[i].name, ids[i].kind));
	assert_int_equal(ids[2].id, 0);
	assert_true(kbtf_prototype_args(k, ids[0].id) >= 4);
	assert_int_equal(kbtf_prototype_args(k, 0), -EINVAL);
	same_members(whole, small, "task_struct");
	same_members(whole, small, "pid");
	same_members(whole, small, "upid");
	same_members(whole, small, "inode");
	assert_true(btf__find_by_name_kind(small, names[4], BTF_KIND_STRUCT) < 0);
	/* It is worth the trouble only when it is small. */
	assert_true(btf__type_cnt(small) < btf__type_cnt(whole) / 20);
	btf__free(small);
	btf__free(whole);
	close(fd);
	free(elf);
	kbtf_close(k);
}

/* A file with @bytes of @data, for kbtf_open. */
static struct kbtf *open_bytes(const void *data, size_t bytes)
{
	char path[] = "/tmp/test_kbtf.XXXXXX";
	int fd = mkstemp(path);
	struct kbtf *k;

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, bytes), 0);
	close(fd);
	k = kbtf_open(path);
	unlink(path);
	return k;
}

static void damage_is_refused(void **state)
{
	static const char *const names[] = { "outer" };
	struct btf *b = btf__new_empty();
	int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED), fd;
	const void *raw;
	size_t bytes, cut, i;
	struct kbtf *k;
	char *elf, *copy;
	__u32 len;

	(void)state;
	assert_true(btf__add_struct(b, "outer", 8) > 0);
	assert_int_equal(btf__add_field(b, "a", i32, 0, 0), 0);
	assert_int_equal(btf__add_field(b, "b", i32, 32, 0), 0);
	raw = btf__raw_data(b, &len);
	elf = object(names, 1, &bytes);

	k = open_bytes(raw, len);
	assert_non_null(k);
	fd = kbtf_reduce(k, elf, bytes, NULL, 0);
	assert_true(fd >= 0);
	close(fd);
	/* The last 17 bytes are section names, of which it needs the first few. */
	for (cut = 0; cut < bytes - 17; cut += 7) {
		copy = malloc(cut + 1);
		memcpy(copy, elf, cut);
		assert_true(kbtf_reduce(k, copy, cut, NULL, 0) < 0);
		free(copy);
	}
	kbtf_close(k);
	for (cut = 1; cut < len; cut++)
		assert_null(open_bytes(raw, cut));
	/* Any byte turned over: an answer, whichever, and no harm. */
	for (i = 0; i < len; i++) {
		copy = malloc(len);
		memcpy(copy, raw, len);
		copy[i] = (char)~copy[i];
		k = open_bytes(copy, len);
		fd = k ? kbtf_reduce(k, elf, bytes, NULL, 0) : -1;
		if (fd >= 0)
			close(fd);
		kbtf_close(k);
		free(copy);
	}
	assert_null(kbtf_open("/nonexistent/btf"));
	assert_int_equal(errno, ENOENT);
	free(elf);
	btf__free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_the_whole),
		cmocka_unit_test(damage_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
