/* SPDX-License-Identifier: MIT */
/* What becomes of the ring's events, without a kernel. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "collect/live_state.h"
#include "unit.h"

static struct live live;

static int setup(void **state)
{
	(void)state;
	memset(&live, 0, sizeof(live));
	live.mode = SUM_EXACT;
	live.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED;
	return live_init_tables(&live);
}

static int teardown(void **state)
{
	(void)state;
	live_release_tables(&live);
	return 0;
}

static void send(const void *event)
{
	const struct live_head *head = event;
	struct ring_event ev = { .ts = head->ts, .data = event, .len = head->len };

	live_batch(&live, &ev, 1);
}

static void thread_ends(uint32_t tid, uint64_t start, uint64_t end)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), tid, end },
		.tgid = 100, .parent = 100, .space = 1,
		.flags = THREAD_CREATED | THREAD_ENDED,
		.comm = "worker",
		.start_ns = start, .end_ns = end,
		.stage_ns = { 1, 2, 3, 4, 5, 6, 0 },
	};

	send(&e);
}

static void join_returns(uint32_t dead, uint64_t at, uint64_t latency)
{
	struct live_join e = {
		.head = { EV_JOIN, sizeof(e), 100, at },
		.dead = dead, .space = 1, .addr = 0x1000, .latency_ns = latency,
	};

	send(&e);
}

static void join_after_the_end(void **state)
{
	(void)state;
	thread_ends(101, 1000, 2000);
	join_returns(101, 2100, 150);	/* woken at 1950, in the thread's last steps */
	assert_int_equal(live.nthread, 1);
	assert_int_equal(live.thread[0].stage_ns[SUM_STAGE_JOIN], 150);
	assert_int_equal(live.thread[0].cost_ns, 21 + 150);
}

static void join_before_the_end(void **state)
{
	(void)state;
	join_returns(101, 1990, 40);
	thread_ends(101, 1000, 2000);
	assert_int_equal(live.thread[0].stage_ns[SUM_STAGE_JOIN], 40);
	assert_int_equal(live.thread[0].cost_ns, 21 + 40);
	assert_int_equal(map_count(live.joined), 0);
}

/* The id is used again: the join is the later thread's, whose end is yet to come. */
static void join_of_a_reused_id(void **state)
{
	(void)state;
	thread_ends(101, 1000, 2000);
	join_returns(101, 2990, 40);
	thread_ends(101, 2500, 3000);
	assert_int_equal(live.thread[0].stage_ns[SUM_STAGE_JOIN], 0);
	assert_int_equal(live.thread[1].stage_ns[SUM_STAGE_JOIN], 40);
}

static void every_join_is_in_the_histogram(void **state)
{
	(void)state;
	join_returns(7, 1990, 40);
	join_returns(8, 1990, 50);
	assert_int_equal(live.stage[SUM_STAGE_JOIN].count, 2);
	assert_int_equal(live.stage[SUM_STAGE_JOIN].sum, 90);
}

static void wait_mode_knows_one_stage(void **state)
{
	int i;

	(void)state;
	live.mode = SUM_WAIT;
	thread_ends(101, 1000, 2000);
	join_returns(101, 2100, 150);
	for (i = 0; i < SUM_STAGES; i++)
		assert_int_equal(live.stage[i].count, i == SUM_STAGE_WAKEUP);
	assert_int_equal(map_count(live.joins), 1);	/* who was joined is known */
}

static void a_thread_that_is_killed_has_no_exit_stage(void **state)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), 101, 2000 },
		.flags = THREAD_CREATED, .space = 1, .start_ns = 1000, .end_ns = 2000,
		.stage_ns = { 0, 2, 3, 4, 5 },
	};

	(void)state;
	send(&e);
	assert_int_equal(live.stage[SUM_STAGE_STACK].count, 1);	/* 0: from a cache */
	assert_int_equal(live.stage[SUM_STAGE_EXIT].count, 0);
}

static void what_is_not_known_is_counted(void **state)
{
	struct live_head unknown = { EV_TYPES, sizeof(unknown), 1, 1 };
	struct live_head short_one = { EV_THREAD, sizeof(short_one), 1, 1 };
	struct live_head none = { EV_NONE, sizeof(none), 1, 1 };

	(void)state;
	send(&unknown);
	send(&short_one);
	send(&none);
	assert_int_equal(live.unknown, 3);
	assert_int_equal(live.nthread, 0);
}

static void what_never_counted_leaves_no_row(void **state)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), 5, 10 }, .flags = THREAD_CALIB | THREAD_ENDED,
		.oncpu_ns = 77,
	};

	(void)state;
	send(&e);
	assert_int_equal(live.nthread, 0);
	assert_int_equal(live.oncpu_ns, 0);
}

static void a_name_without_an_end_is_ended(void **state)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), 5, 10 }, .flags = THREAD_ENDED, .tgid = 5,
	};

	(void)state;
	memset(e.comm, 'x', sizeof(e.comm));
	send(&e);
	assert_int_equal(strlen(live.thread[0].comm), LIVE_COMM);
	assert_int_equal(strlen(live_comm(&live, 5, NULL)), LIVE_COMM - 1);
}

/* Tables alone, as here and under the fuzzer, have no probe to put. */
static void a_tape_without_programs_is_let_be(void **state)
{
	struct live_exec e = { .head = { EV_EXEC, sizeof(e), 5, 10 }, .comm = "tape" };

	(void)state;
	send(&e);
	assert_null(live.tape_link);
	assert_false(live.tapes_tried);
}

static void waits_at_the_end_are_kept(void **state)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), 5, 900 }, .flags = THREAD_IN_CALL, .tgid = 5,
		.space = 3, .call_enter_ns = 400, .call_addr = 0x2000,
	};
	struct live_futex_key key = { .addr = 0x2000, .space = 3 };
	const struct live_pending *p;

	(void)state;
	send(&e);
	p = map_get(live.waiting, &key);
	assert_non_null(p);
	assert_int_equal(p->count, 1);
	assert_int_equal(p->wait_ns, 500);
	assert_int_equal(live.still_running, 1);
}

static void waits_of_many_processes_are_bounded(void **state)
{
	struct live_thread e = {
		.head = { EV_THREAD, sizeof(e), 5, 900 }, .tgid = 5,
		.flags = THREAD_IN_CALL | THREAD_ENDED, .end_ns = 900, .call_enter_ns = 400,
		.call_addr = 0x2000,
	};

	(void)state;
	for (e.space = 1; e.space <= LIVE_WAITS + 7; e.space++)
		send(&e);
	assert_int_equal(map_count(live.waiting), LIVE_WAITS);
	assert_int_equal(live.waits_lost, 7);
	e.space = 1;	/* one that is known is still counted */
	send(&e);
	assert_int_equal(live.waits_lost, 7);
}

static void rows_past_the_cap_are_counted(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < LIVE_THREAD_ROWS + 3; i++)
		thread_ends(i + 1, 1000, 2000);
	assert_int_equal(live.nthread, LIVE_THREAD_ROWS);
	assert_int_equal(live.thread_cut, 3);
	/* Their costs are in the histogram all the same. */
	assert_int_equal(live.cost.count, 3);
	assert_int_equal(live.lifetime.count, LIVE_THREAD_ROWS + 3);
}

static void stacks_kept_are_bounded(void **state)
{
	static struct live_stack e;
	uint64_t i;

	(void)state;
	e.head = (struct live_head){ EV_STACK, sizeof(e), 5, 10 };
	e.bytes = 64;
	e.space = 1;
	for (i = 0; i < 100; i++) {
		e.wait_ns = i;
		send(&e);
	}
	assert_int_equal(live.nsample, LIVE_SAMPLES_LOCK);
	for (i = 0; i < 3 * LIVE_SAMPLES; i++) {
		e.addr = i;
		send(&e);
	}
	assert_int_equal(live.nsample, LIVE_SAMPLES);
	assert_true(map_count(live.reservoirs) <= LIVE_SAMPLES);
}

/* What the kernel's side says of lengths is taken for what there is room for. */
static void lengths_of_a_stack_are_bounded(void **state)
{
	static struct live_stack e;
	size_t i;

	(void)state;
	e.head = (struct live_head){ EV_STACK, sizeof(e), 5, 10 };
	e.space = 1;
	e.bytes = UINT32_MAX;
	e.nkernel = UINT32_MAX;
	for (i = 0; i < LIVE_KERNEL_FRAMES; i++)
		e.kernel[i] = 1000 + i;
	send(&e);
	assert_int_equal(live.nsample, 1);
	assert_int_equal(live.sample[0].bytes, LIVE_STACK_BYTES);
	assert_int_equal(live.sample[0].nkernel, LIVE_KERNEL_FRAMES);
	assert_int_equal(live.sample[0].kernel[LIVE_KERNEL_FRAMES - 1], 1000 + i - 1);
}

/* A fuzzer whose seeds have an older layout's lengths looks at their heads alone. */
static void the_fuzzers_seeds_are_events_of_this_layout(void **state)
{
	static const char *const seeds[] = { "all", "oncpu", "thread_then_join" };
	struct buf b = BUF_INIT;
	char path[64];
	size_t i, at;
	uint16_t len;

	(void)state;
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		snprintf(path, sizeof(path), "tests/fuzz/corpus/events/%s", seeds[i]);
		assert_int_equal(io_read_file(path, &b, 1 << 16), 0);
		for (at = 0; at < b.len; at += len) {
			struct live_thread room[32];

			assert_true(at + sizeof(len) <= b.len);
			memcpy(&len, b.data + at, sizeof(len));
			at += sizeof(len);
			assert_in_range(len, sizeof(struct live_head), sizeof(room));
			assert_true(at + len <= b.len);
			memcpy(room, b.data + at, len);
			send(room);
		}
		assert_int_equal(live.unknown, 0);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(join_after_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(join_before_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(join_of_a_reused_id, setup, teardown),
		cmocka_unit_test_setup_teardown(every_join_is_in_the_histogram, setup, teardown),
		cmocka_unit_test_setup_teardown(wait_mode_knows_one_stage, setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_is_killed_has_no_exit_stage,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(what_never_counted_leaves_no_row, setup, teardown),
		cmocka_unit_test_setup_teardown(a_name_without_an_end_is_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(a_tape_without_programs_is_let_be, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_at_the_end_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_of_many_processes_are_bounded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(rows_past_the_cap_are_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(stacks_kept_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(lengths_of_a_stack_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(the_fuzzers_seeds_are_events_of_this_layout,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
