/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/mapped.h"

#define INO 77
#define NOBODY 4194305u		/* above the largest id */
#define NAMES "libz.so\0" "lib\0" "usr"

struct told {
	struct rr_ev_mapped e;
	char names[64];
};

static struct told told_of(uint32_t tid, uint16_t flags, const char *names, size_t n)
{
	struct told t = { .e = {
		.head = { .bytes = (uint32_t)(sizeof(t.e) + n), .type = RR_EV_MAPPED,
			  .flags = flags, .tid = tid },
		.ino = INO, .dev = 8u << 20 | 3, .size = 123, .mtime_ns = 5000000001,
		.name_bytes = (uint32_t)n,
	} };

	memcpy(t.names, names, n);
	return t;
}

static struct rr_ev_call call_of(uint32_t tid, const void *at)
{
	return (struct rr_ev_call){
		.head = { .bytes = sizeof(struct rr_ev_call), .type = RR_EV_CALL,
			  .flags = RR_FLAG_FILE, .tid = tid },
		.nr = SYS_mmap, .ret = (int64_t)(intptr_t)at,
		.arg = { 0, 5000, PROT_READ, MAP_PRIVATE, 3, 8192 },
	};
}

static int find(uint32_t told_tid, uint16_t flags, const char *names, size_t n,
		const struct rr_ev_call *e, struct procmap *map, struct err *err)
{
	const struct told t = told_of(told_tid, flags, names, n);
	struct mapped m = { .told = BUF_INIT };
	int r = mapped_note(&m, &t.e.head, err);

	*map = (struct procmap){ 0 };
	r = r ? r : mapped_find(&m, e, map, err);
	mapped_release(&m);
	return r;
}

static void is_told(const struct procmap *m, const char *path)
{
	assert_string_equal(m->path, path);
	assert_int_equal(m->ino, INO);
	assert_int_equal(m->dev, makedev(8, 3));
	assert_int_equal(m->size, 123);
	assert_int_equal(m->mtime_ns, 5000000001);
	assert_int_equal(m->end - m->start, 8192);
	assert_int_equal(m->offset, 8192);
	assert_int_equal(m->prot, PROT_READ);
	assert_false(m->shared);
}

static void test_of_the_system(void **state)
{
	const struct rr_ev_call e = call_of(NOBODY, (void *)0x7000);
	struct err err = { 0 };
	struct procmap map;

	(void)state;
	assert_int_equal(find(NOBODY, RR_MAPPED_SYSTEM, NAMES, sizeof(NAMES), &e, &map, &err), 0);
	is_told(&map, "/usr/lib/libz.so");
	free(map.path);
}

static void test_process_gone(void **state)
{
	const struct rr_ev_call e = call_of(NOBODY, (void *)0x7000);
	struct err err = { 0 };
	struct procmap map;

	(void)state;
	assert_int_equal(find(NOBODY, 0, "a b\0home", 9, &e, &map, &err), 0);
	is_told(&map, "/home/a b");
	free(map.path);
	/* Told of another thread's call, or without a name. */
	assert_int_equal(find(1, 0, "x\0home", 7, &e, &map, &err), -ENOENT);
	assert_int_equal(find(NOBODY, 0, "", 0, &e, &map, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "the mapping at 0x7000 of process 4194305 was gone"));
}

static void test_mapping_gone_or_another(void **state)
{
	void *at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct rr_ev_call e = call_of((uint32_t)getpid(), at);
	struct err err = { 0 };
	struct procmap map;

	(void)state;
	assert_int_equal(find((uint32_t)getpid(), 0, "x\0home", 7, &e, &map, &err), 0);
	is_told(&map, "/home/x");
	free(map.path);
	munmap(at, 8192);
	assert_int_equal(find((uint32_t)getpid(), 0, "x\0home", 7, &e, &map, &err), 0);
	is_told(&map, "/home/x");
	free(map.path);
}

static void test_still_there(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY);
	struct err err = { 0 };
	struct procmap map;
	struct rr_ev_call e;
	struct stat st;
	void *at;

	(void)state;
	assert_int_equal(fstat(fd, &st), 0);
	at = mmap(NULL, 5000, PROT_READ, MAP_PRIVATE, fd, 8192);
	e = call_of((uint32_t)getpid(), at);
	/* Nothing was told. */
	assert_int_equal(find(1, 0, "", 0, &e, &map, &err), 0);
	assert_int_equal(map.ino, st.st_ino);
	assert_int_equal(map.dev, st.st_dev);
	assert_int_equal(map.end - map.start, 8192);
	assert_non_null(strstr(map.path, "test_mapped"));
	assert_true(map.vma_end >= map.end);
	free(map.path);
	munmap(at, 5000);
	close(fd);
}

static void test_damaged(void **state)
{
	struct told t = told_of(1, 0, "x", 2);
	struct mapped m = { .told = BUF_INIT };
	struct err err = { 0 };

	(void)state;
	t.e.name_bytes = 3;
	assert_int_equal(mapped_note(&m, &t.e.head, &err), -EPROTO);
	t.e.head.bytes = 8;
	assert_int_equal(mapped_note(&m, &t.e.head, &err), -EPROTO);
	mapped_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of_the_system),
		cmocka_unit_test(test_process_gone),
		cmocka_unit_test(test_mapping_gone_or_another),
		cmocka_unit_test(test_still_there),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
