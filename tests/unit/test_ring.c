/* SPDX-License-Identifier: MIT */
/* The consumer over rings in memory, written as kernel/bpf/ringbuf.c writes them. */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring/ring.h"
#include "shared/live.h"

#define BUSY	(1U << 31)
#define DISCARD	(1U << 30)
#define RINGS	3
#define TAKEN	65536
#define ALL	UINT64_MAX

/* An event with its place among all that were written, to be told by. */
struct event {
	struct live_head head;
	uint64_t number;
};

static struct fixture {
	struct ring_memory memory[RINGS];
	unsigned long producer[RINGS], consumer[RINGS];
	size_t bytes;
	struct ring *ring;
	uint64_t ts[TAKEN], number[TAKEN];
	uint32_t len[TAKEN];
	size_t n, batches;
	unsigned int more;	/* events that the batch function writes behind */
} f;

static void begin(size_t bytes)
{
	struct err err = { 0 };
	int i, fd;

	memset(&f, 0, sizeof(f));
	f.bytes = bytes;
	for (i = 0; i < RINGS; i++) {
		char *at = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		fd = memfd_create("ring", MFD_CLOEXEC);
		assert_true(fd >= 0 && !ftruncate(fd, (off_t)bytes) && at != MAP_FAILED);
		assert_ptr_equal(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
				      fd, 0), at);
		assert_ptr_equal(mmap(at + bytes, bytes, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, fd, 0), at + bytes);
		close(fd);
		f.memory[i] = (struct ring_memory){ &f.consumer[i], &f.producer[i], at };
	}
	f.ring = ring_over(f.memory, RINGS, bytes, &err);
	assert_non_null(f.ring);
}

static void end(void)
{
	int i;

	ring_free(f.ring);
	for (i = 0; i < RINGS; i++)
		munmap((void *)f.memory[i].data, 2 * f.bytes);
}

/* Reserves @len bytes in ring @i with the header word @word; where the record is. */
static char *reserve(int i, uint32_t len, uint32_t word)
{
	char *rec = (char *)f.memory[i].data + f.producer[i] % f.bytes;
	unsigned long step = (len + 8UL + 7UL) & ~7UL;

	assert_true(f.producer[i] - f.consumer[i] + step <= f.bytes);
	memcpy(rec, &word, sizeof(word));
	memset(rec + 4, 0xee, 4);	/* the kernel's own, not ours to read */
	f.producer[i] += step;
	return rec;
}

static char *put(int i, uint64_t ts, uint64_t number, uint32_t flags)
{
	struct event e = { .head = { .len = sizeof(e), .ts = ts }, .number = number };
	char *rec = reserve(i, sizeof(e), (uint32_t)sizeof(e) | flags);

	memcpy(rec + 8, &e, sizeof(e));
	return rec;
}

static void set_word(char *rec, uint32_t word)
{
	memcpy(rec, &word, sizeof(word));
}

static void take(void *ctx, const struct ring_event *ev, size_t n)
{
	size_t i;

	assert_ptr_equal(ctx, &f);
	assert_true(n > 0);
	f.batches++;
	for (i = 0; i < n; i++) {
		assert_true(f.n < TAKEN);
		f.ts[f.n] = ev[i].ts;
		f.len[f.n] = ev[i].len;
		f.number[f.n++] = ev[i].len == sizeof(struct event) ?
			((const struct event *)ev[i].data)->number : 0;
	}
	for (; f.more; f.more--)
		put(0, f.more, 0, 0);
}

static long drain(uint64_t before_ns)
{
	f.n = f.batches = 0;
	return ring_drain(f.ring, before_ns, take, &f);
}

static void expect(const uint64_t *number, size_t n)
{
	size_t i;

	assert_int_equal(f.n, n);
	for (i = 0; i < n; i++)
		assert_int_equal(f.number[i], number[i]);
}

#define EXPECT(...) do { \
	static const uint64_t want_[] = { __VA_ARGS__ }; \
	expect(want_, sizeof(want_) / sizeof(want_[0])); \
} while (0)

static void nothing_is_nothing(void **state)
{
	(void)state;
	begin(4096);
	assert_int_equal(drain(ALL), 0);
	assert_int_equal(f.batches, 0);
	assert_int_equal(ring_count(f.ring), RINGS);
	assert_int_equal(ring_bytes(f.ring), 4096);
	end();
}

static void rings_are_merged_by_time(void **state)
{
	(void)state;
	begin(4096);
	put(0, 10, 1, 0);
	put(0, 40, 4, 0);
	put(1, 20, 2, 0);
	put(1, 50, 5, 0);
	put(2, 30, 3, 0);
	put(2, 60, 6, 0);
	assert_int_equal(drain(ALL), 6);
	EXPECT(1, 2, 3, 4, 5, 6);
	assert_int_equal(f.batches, 1);
	assert_int_equal(f.consumer[0], f.producer[0]);
	assert_int_equal(f.consumer[2], f.producer[2]);
	assert_int_equal(drain(ALL), 0);
	/* Of one time: in the order of the CPUs. Without the middle one. */
	put(2, 70, 9, 0);
	put(0, 70, 7, 0);
	put(0, 70, 8, 0);
	assert_int_equal(drain(ALL), 3);
	EXPECT(7, 8, 9);
	end();
}

/* A producer that was interrupted commits after the one that interrupted it. */
static void times_may_run_backwards_within_a_ring(void **state)
{
	(void)state;
	begin(4096);
	put(0, 30, 3, 0);
	put(0, 10, 1, 0);
	put(0, 40, 4, 0);
	put(0, 20, 2, 0);
	put(1, 35, 5, 0);
	assert_int_equal(drain(ALL), 5);
	EXPECT(1, 2, 3, 5, 4);
	end();
}

static void records_wrap_around(void **state)
{
	uint64_t ts = 1, lap;
	int i;

	(void)state;
	begin(4096);
	/* 4096 is no multiple of 32: some record goes over the end in most laps. */
	for (lap = 0; lap < 50; lap++) {
		for (i = 0; i < 125; i++, ts++)
			put((int)(ts % RINGS), ts, ts, 0);
		assert_int_equal(drain(ALL), 125);
		for (i = 0; i < 125; i++)
			assert_int_equal(f.number[i], ts - 125 + (uint64_t)i);
	}
	/* Records whose length is no multiple of eight. */
	for (lap = 0; lap < 500; lap++) {
		struct live_head h = { .ts = lap };

		memcpy(reserve(0, 17 + lap % 7, 17 + (uint32_t)lap % 7) + 8, &h, sizeof(h));
		put(0, lap, lap, 0);
		assert_int_equal(drain(ALL), 2);
		assert_int_equal(f.len[0], 17 + lap % 7);
		assert_int_equal(f.number[1], lap);
	}
	assert_true(f.producer[0] > 4 * f.bytes);
	end();
}

static void a_full_ring_is_read_whole(void **state)
{
	uint64_t n;

	(void)state;
	begin(4096);
	f.producer[0] = f.consumer[0] = 4096 - 16;
	for (n = 0; n < 4096 / 32; n++)
		put(0, n, n, 0);
	assert_int_equal(f.producer[0] - f.consumer[0], f.bytes);
	assert_int_equal(drain(ALL), n);
	assert_int_equal(f.number[n - 1], n - 1);
	end();
}

static void a_reserved_event_holds_its_ring_up(void **state)
{
	char *rec;

	(void)state;
	begin(4096);
	put(0, 10, 1, 0);
	rec = put(0, 20, 3, BUSY);
	put(0, 30, 4, 0);
	put(1, 15, 2, 0);
	assert_int_equal(drain(ALL), 2);
	EXPECT(1, 2);
	assert_int_equal(f.consumer[0], 32);
	assert_int_equal(drain(ALL), 0);
	set_word(rec, sizeof(struct event));
	assert_int_equal(drain(ALL), 2);
	EXPECT(3, 4);
	/* Taken back instead of committed. */
	rec = put(0, 40, 5, BUSY);
	put(0, 50, 6, 0);
	assert_int_equal(drain(ALL), 0);
	set_word(rec, (uint32_t)sizeof(struct event) | DISCARD);
	assert_int_equal(drain(ALL), 1);
	EXPECT(6);
	end();
}

static void discarded_events_are_passed_over(void **state)
{
	(void)state;
	begin(4096);
	put(0, 10, 1, DISCARD);
	put(0, 20, 2, 0);
	put(0, 99, 3, DISCARD);
	put(1, 5, 4, DISCARD);
	reserve(2, 1, 1 | DISCARD);
	assert_int_equal(drain(30), 1);
	EXPECT(2);
	assert_int_equal(f.consumer[0], f.producer[0]);
	assert_int_equal(f.consumer[1], f.producer[1]);
	assert_int_equal(f.consumer[2], f.producer[2]);
	end();
}

static void what_is_too_young_stays(void **state)
{
	(void)state;
	begin(4096);
	put(0, 10, 1, 0);
	put(0, 30, 4, 0);
	put(1, 20, 2, 0);
	put(1, 21, 3, 0);
	assert_int_equal(drain(20), 2);
	EXPECT(1, 2);
	assert_int_equal(drain(20), 0);
	/* An older one came meanwhile, from another CPU. */
	put(2, 20, 5, 0);
	assert_int_equal(drain(25), 2);
	EXPECT(5, 3);
	assert_int_equal(drain(ALL), 1);
	EXPECT(4);
	end();
}

/* More than a batch holds: in order over the batches all the same. */
static void long_batches_are_cut_at_a_common_time(void **state)
{
	const size_t each[RINGS] = { 9000, 300, 15000 };
	size_t i, n;

	(void)state;
	begin(1 << 20);
	for (i = 0; i < RINGS; i++)
		for (n = 0; n < each[i]; n++)
			put((int)i, 1000 + n * 15000 / each[i], i << 32 | n, 0);
	assert_int_equal(drain(ALL), 24300);
	assert_true(f.batches > 1);
	for (n = 1; n < f.n; n++) {
		assert_true(f.ts[n] >= f.ts[n - 1]);
		assert_true(f.number[n] != f.number[n - 1]);
	}
	/* All of one time, which no cut can divide. */
	for (n = 0; n < 10000; n++)
		put((int)(n % 2), 7, n, 0);
	assert_int_equal(drain(ALL), 10000);
	for (i = 0; i < RINGS; i++)
		assert_int_equal(f.consumer[i], f.producer[i]);
	end();
}

static void short_records_are_handed_on_to_be_counted(void **state)
{
	uint32_t len;

	(void)state;
	begin(4096);
	for (len = 0; len < sizeof(struct live_head); len++) {
		put(0, 100 + len, len, 0);
		/* What is behind its end would be a wild time. */
		memset(reserve(0, len, len) + 8, 0xff, (len + 7U) & ~7U);
		assert_int_equal(drain(1000), 2);
		assert_int_equal(f.len[0], sizeof(struct event));
		assert_int_equal(f.len[1], len);
		assert_int_equal(f.ts[1], 100 + len);
	}
	/* The first of its ring: before all others. */
	reserve(1, 4, 4);
	put(0, 3, 3, 0);
	assert_int_equal(drain(1000), 2);
	assert_int_equal(f.len[0], 4);
	end();
}

static void lengths_that_cannot_be_end_the_ring_and_no_more(void **state)
{
	static const uint32_t bad[] = { 25, 32, 4096, 1 << 20, DISCARD - 1,
					DISCARD | 4096, DISCARD | (DISCARD - 1) };
	size_t i;

	(void)state;
	begin(4096);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put(0, 10, 1, 0);
		set_word(put(0, 20, 2, 0), bad[i]);
		put(1, 30, 3, 0);
		assert_int_equal(drain(1000), 3);
		EXPECT(1, 0, 3);
		assert_int_equal(f.len[1], 0);
		assert_int_equal(f.consumer[0], f.producer[0]);
		/* What is written from then on is read. */
		put(0, 40, 4, 0);
		assert_int_equal(drain(1000), 1);
		EXPECT(4);
	}
	end();
}

/* A program that makes events faster than they are read must not keep us here. */
static void a_drain_ends_while_events_come(void **state)
{
	int i;

	(void)state;
	begin(1 << 20);
	for (i = 0; i < 5000; i++)
		put(0, (uint64_t)i, 0, 0);
	f.more = 20000;
	assert_int_equal(drain(ALL), 5000);
	assert_int_equal(drain(ALL), 20000);
	end();
}

static void the_pause_follows_what_comes(void **state)
{
	int i, was, ms;

	(void)state;
	begin(4096);
	for (i = 0, was = 1; i < 10; i++, was = ms) {
		drain(ALL);
		ms = ring_pause_ms(f.ring);
		assert_true(ms >= was && ms <= 64);
	}
	assert_int_equal(ms, 64);
	put(0, 1, 1, 0);
	drain(ALL);
	assert_int_equal(ring_pause_ms(f.ring), 16);
	for (i = 0; i < 100; i++)
		put(1, 1, 1, 0);
	drain(ALL);
	assert_int_equal(ring_pause_ms(f.ring), 1);
	end();
}

static void each_cpu_has_a_ring_that_is_of_use(void **state)
{
	static const struct { unsigned int cpus; size_t want, share; } rows[] = {
		{ 1, 1 << 20, 1 << 20 },
		{ 2, 1 << 20, 1 << 19 },
		{ 3, 1 << 20, 1 << 18 },
		{ 16, 1 << 20, 1 << 16 },
		{ 17, 1 << 20, 1 << 16 },
		{ 128, 1 << 20, 1 << 16 },
		{ 256, 1 << 20, 1 << 16 },
		{ 8192, 1 << 20, 1 << 16 },
		{ 128, 1 << 25, 1 << 18 },
		{ 2, 1 << 16, 1 << 16 },
		{ 2, 4096, 4096 },	/* asked for by a person who wants to see losses */
		{ 4, 32768, 8192 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(ring_share(rows[i].cpus, ring_total(rows[i].cpus, rows[i].want)),
				 rows[i].share);
	assert_true(RING_FLOOR / 4 > sizeof(struct live_stack) + 8);
}

static void cpus_are_counted_to_the_highest(void **state)
{
	(void)state;
	assert_int_equal(ring_cpus_in("0\n"), 1);
	assert_int_equal(ring_cpus_in("0-1\n"), 2);
	assert_int_equal(ring_cpus_in("0-3,8-11\n"), 12);
	assert_int_equal(ring_cpus_in("0,2,7"), 8);
	assert_int_equal(ring_cpus_in(""), 0);
	assert_int_equal(ring_cpus_in("\n"), 0);
	assert_int_equal(ring_cpus_in("0-"), 0);
	assert_int_equal(ring_cpus_in("-1"), 0);
	assert_int_equal(ring_cpus_in("0-99999999999999999999"), 0);
	assert_int_equal(ring_cpus_in("all"), 0);
	assert_int_equal(ring_cpus(1), 1);
	assert_in_range(ring_cpus(65536), 1, sysconf(_SC_NPROCESSORS_CONF));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(rings_are_merged_by_time),
		cmocka_unit_test(times_may_run_backwards_within_a_ring),
		cmocka_unit_test(records_wrap_around),
		cmocka_unit_test(a_full_ring_is_read_whole),
		cmocka_unit_test(a_reserved_event_holds_its_ring_up),
		cmocka_unit_test(discarded_events_are_passed_over),
		cmocka_unit_test(what_is_too_young_stays),
		cmocka_unit_test(long_batches_are_cut_at_a_common_time),
		cmocka_unit_test(short_records_are_handed_on_to_be_counted),
		cmocka_unit_test(lengths_that_cannot_be_end_the_ring_and_no_more),
		cmocka_unit_test(a_drain_ends_while_events_come),
		cmocka_unit_test(the_pause_follows_what_comes),
		cmocka_unit_test(each_cpu_has_a_ring_that_is_of_use),
		cmocka_unit_test(cpus_are_counted_to_the_highest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
