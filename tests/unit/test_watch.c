/* SPDX-License-Identifier: MIT */
/* Threads and processes of a live view: births, states, ends, and what each adds up to. */
#include <malloc.h>

#include "fixture_watch.h"

#define NR_READ 0
#define NR_FUTEX 202

static void states_and_times(void **state)
{
	const struct now_thread *t;
	uint32_t slot;

	(void)state;
	slot = born(7, 7);
	t_ns += 10;
	look();
	t = thread(7);
	assert_non_null(t);
	assert_int_equal(t->state, NOW_RUNNABLE);
	assert_int_equal(t->state_ns, 10);
	is_count(t->runnable_ns, 10, 10);
	comes_on(slot);
	slots[slot].calls = 3;
	t_ns += 100;
	look();
	t = thread(7);
	assert_int_equal(t->state, NOW_RUNNING);
	assert_int_equal(t->state_ns, 100);
	is_count(t->cpu_ns, 100, 100);
	is_count(t->runnable_ns, 10, 0);
	is_count(t->calls, 3, 3);
	assert_null(t->wait);
	assert_true(t->past[w->now.tick % NOW_PAST] == 1.0f);
	goes_off(slot, SEEN_BLOCKED, NR_READ, 0);
	t_ns += 40;
	look();
	t = thread(7);
	assert_int_equal(t->state, NOW_BLOCKED);
	assert_int_equal(t->state_ns, 40);
	assert_string_equal(t->wait, "read");
	assert_int_equal(t->lock_addr, 0);
	is_count(t->cpu_ns, 100, 0);
	is_count(t->blocked_ns, 40, 40);
	is_count(t->switches, 1, 1);
	is_count(t->lock_ns, 0, 0);
	assert_int_equal(t->age_ns, 150);
}

static void sleeps_on_and_is_woken(void **state)
{
	const struct now_thread *t;
	uint32_t slot = found(7, 7);

	(void)state;
	comes_on(slot);
	goes_off(slot, SEEN_BLOCKED, NR_FUTEX, 0x1000);
	t_ns += 5;
	look();
	t_ns += 100;
	look();
	t = thread(7);
	is_count(t->blocked_ns, 105, 100);
	is_count(t->lock_ns, 105, 100);
	assert_int_equal(t->lock_addr, 0x1000);
	assert_int_equal(t->space, 7);
	assert_string_equal(t->wait, "futex");
	assert_int_equal(t->state_ns, 105);
	/* Woken between two looks: from there on it waits for a CPU. */
	t_ns += 30;
	slots[slot].woken_ns = t_ns;
	t_ns += 20;
	look();
	t = thread(7);
	assert_int_equal(t->state, NOW_RUNNABLE);
	assert_int_equal(t->state_ns, 20);
	assert_null(t->wait);
	assert_int_equal(t->lock_addr, 0);
	is_count(t->blocked_ns, 135, 30);
	is_count(t->lock_ns, 135, 30);
	is_count(t->runnable_ns, 20, 20);
	comes_on(slot);
	t_ns += 1;
	look();
	is_count(thread(7)->blocked_ns, 135, 0);
	is_count(thread(7)->cpu_ns, 1, 1);
}

static void a_sleeper_has_a_new_name(void **state)
{
	uint32_t slot = found(7, 7);

	(void)state;
	look();
	/* By another thread: /proc/PID/task/TID/comm. */
	memcpy(slots[slot].comm, "renamed\0\0\0\0\0\0\0\0", LIVE_COMM);
	t_ns += 10;
	look();
	assert_string_equal(thread(7)->comm, "renamed");
	assert_string_equal(process(7)->comm, "renamed");
	memcpy(slots[slot].comm, "0123456789abcdef", LIVE_COMM);
	t_ns += 10;
	look();
	assert_string_equal(thread(7)->comm, "0123456789abcde");
}

static void processes_by_state(void **state)
{
	const struct now_process *p;
	uint32_t a = found(10, 10), b = born(11, 10), c = born(12, 10);

	(void)state;
	(void)a;
	strcpy(slots[b].comm, "worker");
	strcpy(slots[a].comm, "leader");
	comes_on(b);
	t_ns += 100;
	look();
	p = process(10);
	assert_int_equal(p->threads, 3);
	assert_int_equal(p->running, 1);
	assert_int_equal(p->runnable, 1);
	assert_int_equal(p->blocked, 1);
	assert_string_equal(p->comm, "leader");
	is_count(p->born, 2, 2);
	is_count(p->ended, 0, 0);
	is_count(p->cpu_ns, 100, 100);
	is_count(p->blocked_ns, 100, 100);
	is_count(p->runnable_ns, 100, 100);
	comes_on(c);
	t_ns += 10;
	look();
	p = process(10);
	assert_int_equal(p->running, 2);
	is_count(p->born, 2, 0);
	is_count(p->cpu_ns, 120, 20);
	is_count(w->now.cpu_ns, 120, 20);
	assert_int_equal(p->age_ns, 110);
}

static uint32_t dying;

static void dies_meanwhile(void)
{
	dies(dying);
}

/* It ends before a look, or in the midst of it, when ended threads have been read. */
static void ends_between_looks(bool amid)
{
	const struct now_process *p;
	uint32_t slot = born(11, 10);

	found(10, 10);
	strcpy(slots[slot].comm, "short");
	comes_on(slot);
	t_ns += 100;
	look();
	t_ns += 50;
	dying = slot;
	if (!amid)
		dies(slot);
	look_while(amid ? dies_meanwhile : NULL);
	assert_null(thread(11));
	if (amid) {
		is_count(process(10)->ended, 0, 0);
		is_count(process(10)->cpu_ns, 100, 0);
		t_ns += 1;
		look();
	}
	p = process(10);
	assert_int_equal(p->threads, 1);
	is_count(p->born, 1, 0);
	is_count(p->ended, 1, 1);
	is_count(p->cpu_ns, 150, 50);
	is_count(w->now.cpu_ns, 150, 50);
	assert_string_equal(watch_comm(w, 11, NULL), "short");
	t_ns += 1;
	look();
	is_count(process(10)->ended, 1, 0);
	is_count(process(10)->cpu_ns, 150, 0);
}

static void an_end_before_the_look(void **state)
{
	(void)state;
	ends_between_looks(false);
}

static void an_end_amid_the_look(void **state)
{
	(void)state;
	ends_between_looks(true);
}

static void born_and_ended_unseen(void **state)
{
	pid_t tgid = 0;
	uint32_t slot;

	(void)state;
	found(10, 10);
	look();
	slot = born(11, 10);
	strcpy(slots[slot].comm, "mayfly");
	t_ns += 3;
	comes_on(slot);
	t_ns += 7;
	dies(slot);
	look();
	is_count(process(10)->born, 1, 1);
	is_count(process(10)->ended, 1, 1);
	is_count(process(10)->cpu_ns, 7, 7);
	is_count(process(10)->runnable_ns, 3, 3);
	assert_int_equal(w->now.nthread, 1);
	assert_string_equal(watch_comm(w, 12, &tgid), "");
	assert_int_equal(tgid, 0);
	assert_string_equal(watch_comm(w, 0, NULL), "");
}

/* A whole process between two looks: it is shown once. */
static void a_process_passes_by(void **state)
{
	uint32_t slot = born(20, 20);

	(void)state;
	strcpy(slots[slot].comm, "true");
	comes_on(slot);
	t_ns += 5;
	dies(slot);
	look();
	assert_non_null(process(20));
	assert_string_equal(process(20)->comm, "true");
	assert_int_equal(process(20)->threads, 0);
	is_count(process(20)->born, 1, 1);
	is_count(process(20)->ended, 1, 1);
	is_count(process(20)->cpu_ns, 5, 5);
	t_ns += 5;
	look();
	assert_null(process(20));
	is_count(w->now.cpu_ns, 5, 0);
	assert_int_equal(nended, 0);
}

/* Its last thread ends amid a look: that is told all the same. */
static void a_process_ends_amid_the_look(void **state)
{
	uint32_t slot = born(21, 21);

	(void)state;
	comes_on(slot);
	t_ns += 5;
	look();
	t_ns += 4;
	dying = slot;
	look_while(dies_meanwhile);
	assert_int_equal(process(21)->threads, 0);
	is_count(process(21)->ended, 0, 0);
	t_ns += 1;
	look();
	assert_non_null(process(21));
	is_count(process(21)->cpu_ns, 9, 4);
	is_count(process(21)->born, 1, 0);
	is_count(process(21)->ended, 1, 1);
	is_count(w->now.cpu_ns, 9, 4);
	t_ns += 1;
	look();
	assert_null(process(21));
	assert_int_equal(nended, 0);
	/* Its id again: another process. */
	slot = born(21, 21);
	comes_on(slot);
	t_ns += 3;
	look();
	is_count(process(21)->cpu_ns, 3, 3);
	is_count(process(21)->born, 1, 1);
	is_count(process(21)->ended, 0, 0);
}

static void a_slot_is_used_again(void **state)
{
	uint32_t slot = born(11, 10), again;

	(void)state;
	comes_on(slot);
	t_ns += 1000;
	look();
	dies(slot);
	again = born(12, 10);
	assert_int_equal(again, slot);
	comes_on(again);
	t_ns += 8;
	look();
	assert_null(thread(11));
	is_count(thread(12)->cpu_ns, 8, 8);
	is_count(process(10)->cpu_ns, 1008, 8);
	is_count(process(10)->born, 2, 1);
}

/* The same id again, in the same slot or another: it is another thread. */
static void a_tid_is_used_again(void **state)
{
	uint32_t low = born(11, 10), mid = born(50, 10), high, i;

	(void)state;
	comes_on(low);
	comes_on(mid);
	t_ns += 1000;
	look();
	for (i = 0; i < 6; i++) {
		/* Which of the two slots it has changes each time. */
		dies(low);
		t_ns += 1;
		if (i % 2) {
			dies(mid);
			mid = born(50 + i, 10);
			comes_on(mid);
		}
		high = i % 3 ? born(60 + i, 10) : 0;
		low = born(11, 10);
		if (high)
			comes_on(high);
		comes_on(low);
		t_ns += 5;
		look();
		assert_non_null(thread(11));
		is_count(thread(11)->cpu_ns, 5, 5);
		assert_int_equal(thread(11)->age_ns, 5);
		assert_int_equal(process(10)->threads, w->now.nthread);
	}
}

/* A new thread's slot comes before that of the one whose id it has. */
static void a_tid_moves_to_a_slot_before(void **state)
{
	uint32_t gap = born(40, 10), one = born(41, 10), two = born(42, 10), old = born(11, 10);

	(void)state;
	comes_on(gap);
	comes_on(one);
	comes_on(two);
	comes_on(old);
	t_ns += 100;
	dies(gap);
	look();
	/* Its row moves into that of 41, and that of the old one into that of 42. */
	comes_on(born(11, 10));
	dies(one);
	dies(two);
	dies(old);
	t_ns += 5;
	look();
	assert_int_equal(w->now.nthread, 1);
	assert_non_null(thread(11));
	is_count(thread(11)->cpu_ns, 5, 5);
}

/* A filter leaves a thread out for a while: its account goes on. */
static void left_out_and_back(void **state)
{
	uint32_t slot = born(11, 10);

	(void)state;
	found(10, 10);
	comes_on(slot);
	t_ns += 5000000;
	look();
	goes_off(slot, SEEN_RUNNABLE, 0, 0);
	slots[slot].tid = 0;
	t_ns += 50;
	look();
	assert_null(thread(11));
	is_count(process(10)->ended, 0, 0);
	is_count(process(10)->cpu_ns, 5000000, 0);
	t_ns += 50;
	look();
	slots[slot].since_ns = t_ns;
	slots[slot].tid = 11;
	comes_on(slot);
	t_ns += 10;
	look();
	is_count(thread(11)->cpu_ns, 5000010, 10);
	is_count(thread(11)->switches, 1, 0);
	is_count(process(10)->cpu_ns, 5000010, 10);
	is_count(process(10)->born, 1, 0);
	t_ns += 10;
	dies(slot);
	look();
	is_count(process(10)->cpu_ns, 5000020, 10);
	is_count(process(10)->ended, 1, 1);
}

/* A thread that execs has its leader's id from then on, and its own past. */
static void an_exec_takes_the_leaders_place(void **state)
{
	uint32_t leader = found(10, 10), slot = born(11, 10);

	(void)state;
	comes_on(leader);
	comes_on(slot);
	t_ns += 5000000;
	look();
	t_ns += 10;
	dies(leader);
	slots[slot].tid = 10;
	slots[slot].start_ns = t_ns;
	t_ns += 10;
	look();
	assert_null(thread(11));
	assert_int_equal(thread(10)->cpu_ns.total, 5000020);
	assert_true(thread(10)->cpu_ns.step <= 5000020);
	goes_off(slot, SEEN_BLOCKED, NR_READ, 0);
	t_ns += 10;
	look();
	is_count(thread(10)->blocked_ns, 10, 10);
	assert_int_equal(process(10)->threads, 1);
	is_count(process(10)->cpu_ns, 10000030, 0);
	is_count(process(10)->born, 1, 0);
	is_count(process(10)->ended, 1, 0);
}

static void nobodys_slot_is_not_shown(void **state)
{
	uint32_t slot = born(11, 11);

	(void)state;
	comes_on(slot);
	slots[slot].tid = 0;
	t_ns += 10;
	look();
	assert_int_equal(w->now.nthread, 0);
	assert_int_equal(w->now.nprocess, 0);
	assert_string_equal(watch_comm(w, 11, NULL), "");
}

/* The look takes time: what a slot says may be of after its beginning. */
static void a_switch_during_the_look(void **state)
{
	uint32_t slot = found(7, 7);
	const struct now_thread *t;

	(void)state;
	look();
	t_ns += 1000;
	comes_on(slot);
	t_ns -= 5;
	look();
	t = thread(7);
	assert_true(t->blocked_ns.total <= 1000 && t->cpu_ns.total == 0);
	assert_true(t->state_ns == 0);
	slots[slot].woken_ns = 0;
	t_ns += 5;
	goes_off(slot, SEEN_BLOCKED, NR_READ, 0);
	slots[slot].woken_ns = t_ns + 50;
	t_ns += 10;
	look();
	t = thread(7);
	assert_int_equal(t->state_ns, 0);
	assert_true(t->runnable_ns.total == 0 && t->blocked_ns.total <= 1010);
}

/* Nobody has more of a CPU than there was: what came after the clock is the next interval's. */
static void no_more_than_the_interval(void **state)
{
	uint32_t slot = found(7, 7);
	const struct now_thread *t;

	(void)state;
	comes_on(slot);
	look();
	t_ns += 1080;
	goes_off(slot, SEEN_BLOCKED, NR_READ, 0);
	t_ns -= 80;
	look();
	t = thread(7);
	is_count(t->cpu_ns, 1000, 1000);
	is_count(process(7)->cpu_ns, 1000, 1000);
	/* It sleeps on as it did, and its time is made up for. */
	t_ns += 1000;
	look();
	t = thread(7);
	is_count(t->cpu_ns, 1080, 80);
	is_count(t->blocked_ns, 920, 920);
	t_ns += 1000;
	look();
	is_count(thread(7)->cpu_ns, 1080, 0);
	is_count(thread(7)->blocked_ns, 1920, 1000);
}

/* Nor has one that is new: the first look comes right after the start, and takes its time. */
static void a_new_one_has_no_more_either(void **state)
{
	uint32_t slot = found(7, 7);

	(void)state;
	comes_on(slot);
	t_ns += 1500;
	goes_off(slot, SEEN_BLOCKED, NR_READ, 0);
	slot = born(8, 8);
	comes_on(slot);
	t_ns -= 500;
	look();
	is_count(thread(7)->cpu_ns, 1000, 1000);
	is_count(thread(8)->cpu_ns, 0, 0);
	is_count(w->now.cpu_ns, 1000, 1000);
	t_ns += 1000;
	look();
	is_count(thread(7)->cpu_ns, 1500, 500);
	is_count(thread(8)->cpu_ns, 500, 500);
}

static void most_of_a_machine(void **state)
{
	uint32_t slot, i;
	uint64_t runs = 0;

	(void)state;
	for (i = 1; i < SLOTS - 1; i++) {
		slot = found(1000 + i, 1000 + i / 10);
		if (i % 3 == 0) {
			comes_on(slot);
			runs++;
		}
	}
	t_ns += 10;
	look();
	assert_int_equal(w->now.nthread, SLOTS - 2);
	assert_int_equal(w->now.nprocess, (SLOTS - 2) / 10 + 1);
	is_count(w->now.cpu_ns, runs * 10, runs * 10);
	for (i = 0; i < w->now.nprocess; i++)
		assert_int_equal(w->now.process[i].threads, w->now.process[i].running +
				 w->now.process[i].runnable + w->now.process[i].blocked);
}

/* ---- memory ---- */

static size_t in_use(void)
{
	return mallinfo2().uordblks;
}

/* 200,000 threads, and 12,500 processes. */
static void memory_is_bounded(void **state)
{
	uint32_t running[8], i, round;
	size_t early = 0;

	(void)state;
	for (round = 0; round < 25000; round++) {
		for (i = 0; i < 8; i++) {
			uint32_t n = round * 8 + i;

			running[i] = born(1 + n, 1 + n / 16 * 16);
			comes_on(running[i]);
		}
		t_ns += 10;
		if (round % 3)
			look();
		for (i = 0; i < 8; i++)
			dies(running[i]);
		if (round == 2000)
			early = in_use();
	}
	assert_true(w->now.nthread <= 8 && w->now.nprocess <= 8);
	assert_true(map_count(w->by_tid) <= 8);
	assert_true(map_count(w->by_tgid) <= 8);
	assert_true(nended <= 8);
	if (in_use() > early + 65536)
		fail_msg("%zu bytes in use after 16000 threads, %zu after 200000", early, in_use());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, watch_setup, watch_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(states_and_times),
		TEST(sleeps_on_and_is_woken),
		TEST(a_sleeper_has_a_new_name),
		TEST(processes_by_state),
		TEST(an_end_before_the_look),
		TEST(an_end_amid_the_look),
		TEST(born_and_ended_unseen),
		TEST(a_process_passes_by),
		TEST(a_process_ends_amid_the_look),
		TEST(a_slot_is_used_again),
		TEST(a_tid_is_used_again),
		TEST(a_tid_moves_to_a_slot_before),
		TEST(left_out_and_back),
		TEST(an_exec_takes_the_leaders_place),
		TEST(nobodys_slot_is_not_shown),
		TEST(a_switch_during_the_look),
		TEST(no_more_than_the_interval),
		TEST(a_new_one_has_no_more_either),
		TEST(most_of_a_machine),
		TEST(memory_is_bounded),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
