/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/recfile.h"

#define EVENTS 5003

static char path[64];

static int setup(void **state)
{
	(void)state;
	strcpy(path, "/tmp/test_recfile.XXXXXX");
	if (!mkdtemp(path))
		return -1;
	strcat(path, "/events");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	return rmdir(path);
}

/* Event @i: of i % 97 words, each of which is i. */
static size_t make_event(uint64_t *ev, uint64_t i)
{
	const size_t words = i % 97;
	struct rr_head h = { .bytes = (uint32_t)(sizeof(h) + 8 * words), .type = RR_EV_CALL,
			     .tid = (uint32_t)i };

	memcpy(ev, &h, sizeof(h));
	for (size_t k = 0; k < words; k++)
		ev[2 + k] = i;
	return h.bytes;
}

static void write_events(uint64_t n)
{
	struct err err = { 0 };
	struct recfile *f;
	uint64_t ev[128];

	assert_int_equal(recfile_create(&f, path, NULL, &err), 0);
	for (uint64_t i = 1; i <= n; i++) {
		make_event(ev, i);
		assert_int_equal(recfile_add(f, (const struct rr_head *)(const void *)ev, &err), 0);
	}
	assert_int_equal(recfile_flush(f, &err), 0);
	assert_int_equal(recfile_events(f), n);
	recfile_close(f);
}

/* How many events come, all of them right; *code is what ended them. */
static uint64_t read_events(int *code, bool *cut)
{
	const struct rr_head *h;
	struct err err = { 0 };
	struct recread *r;
	uint64_t ev[128], n = 0;

	*cut = false;
	*code = recread_open(&r, path, &err);
	if (*code) {
		assert_true(err.msg[0]);
		return 0;
	}
	while ((*code = recread_next(r, &h, &err)) > 0) {
		n++;
		assert_int_equal(recread_number(r), n);
		assert_int_equal(h->bytes, make_event(ev, n));
		assert_memory_equal(h, ev, h->bytes);
	}
	assert_true(!*code || err.msg[0]);
	*cut = recread_cut(r);
	recread_close(r);
	return n;
}

static size_t file_bytes(void)
{
	int fd = open(path, O_RDONLY);
	off_t n = lseek(fd, 0, SEEK_END);

	close(fd);
	return (size_t)n;
}

static void what_is_written_is_read(void **state)
{
	bool cut;
	int code;

	(void)state;
	write_events(EVENTS);
	assert_int_equal(read_events(&code, &cut), EVENTS);
	assert_int_equal(code, 0);
	assert_false(cut);
}

static void an_empty_one_has_no_events(void **state)
{
	bool cut;
	int code;

	(void)state;
	write_events(0);
	assert_int_equal(read_events(&code, &cut), 0);
	assert_int_equal(code, 0);
}

static void one_is_not_written_over(void **state)
{
	struct err err = { 0 };
	struct recfile *f;

	(void)state;
	write_events(1);
	assert_int_equal(recfile_create(&f, path, NULL, &err), -EEXIST);
	assert_non_null(strstr(err.msg, path));
}

/* Cut at any byte: whole chunks are read, and that it was cut is told, or that it is none. */
static void one_that_was_cut_ends_there(void **state)
{
	size_t n, whole;
	bool cut;
	int code;

	(void)state;
	write_events(EVENTS);
	n = file_bytes();
	whole = 0;
	for (size_t at = 0; at < n; at += at < 80 ? 1 : 977) {
		uint64_t got;

		unlink(path);
		write_events(EVENTS);
		assert_int_equal(truncate(path, (off_t)at), 0);
		got = read_events(&code, &cut);
		if (at < 16) {
			assert_int_equal(code, -EINVAL);
			continue;
		}
		assert_int_equal(code, 0);
		assert_true(got < EVENTS && got >= whole);
		assert_true(cut || at == 16 || got > whole);
		whole = got;
	}
}

static void a_changed_byte_is_seen(void **state)
{
	size_t n;
	bool cut;
	int code;

	(void)state;
	write_events(EVENTS);
	n = file_bytes();
	for (size_t at = 0; at < n; at += at < 60 ? 1 : 1999) {
		unsigned char c;
		int fd = open(path, O_RDWR);

		assert_int_equal(pread(fd, &c, 1, (off_t)at), 1);
		c ^= 0x41;
		assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
		/* The file's head has four bytes that mean nothing as yet. */
		if (at < 12 || at >= 16) {
			read_events(&code, &cut);
			assert_true(code < 0 || cut);
		}
		c ^= 0x41;
		assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
		close(fd);
	}
}

/* Back and forth between places of all chunks. */
static void places(void **state)
{
	struct recread_place at[EVENTS / 100 + 1];
	const struct rr_head *h;
	struct err err = { 0 };
	struct recread *r;
	uint64_t ev[128];
	size_t n = 0;

	(void)state;
	write_events(EVENTS);
	assert_int_equal(recread_open(&r, path, &err), 0);
	for (uint64_t i = 0; i < EVENTS; i++) {
		if (i % 100 == 0)
			at[n++] = recread_tell(r);
		assert_int_equal(recread_next(r, &h, &err), 1);
	}
	for (size_t i = 0; i < 5 * n; i++) {
		const struct recread_place *to = &at[i * 7919 % n];

		assert_int_equal(recread_seek(r, to, &err), 0);
		assert_int_equal(recread_number(r), to->event);
		for (uint64_t k = 1; k <= 150 && to->event + k <= EVENTS; k++) {
			assert_int_equal(recread_next(r, &h, &err), 1);
			assert_int_equal(recread_number(r), to->event + k);
			assert_int_equal(h->bytes, make_event(ev, to->event + k));
			assert_memory_equal(h, ev, h->bytes);
		}
	}
	assert_int_equal(recread_seek(r, &at[n - 1], &err), 0);
	while (recread_next(r, &h, &err) > 0)
		;
	assert_int_equal(recread_number(r), EVENTS);
	recread_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_written_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_one_has_no_events, setup, teardown),
		cmocka_unit_test_setup_teardown(one_is_not_written_over, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_was_cut_ends_there, setup, teardown),
		cmocka_unit_test_setup_teardown(a_changed_byte_is_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(places, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
