/* SPDX-License-Identifier: MIT */
/* Locks, pipes and calls of a live view: what the kernel's rows, and threads, make of them. */
#include <stdlib.h>

#include "fixture_watch.h"
#include "stats/hist.h"

#define NR_FUTEX 202

static struct { struct live_futex_key k; struct live_futex v; } rows[600];
static size_t nrows;

static struct live_futex *row_at(uint64_t addr, uint32_t space)
{
	size_t i;

	for (i = 0; i < nrows; i++)
		if (rows[i].k.addr == addr && rows[i].k.space == space)
			return &rows[i].v;
	memset(&rows[nrows], 0, sizeof(rows[nrows]));
	rows[nrows].k.addr = addr;
	rows[nrows].k.space = space;
	rows[nrows].v.tgid = space;
	return &rows[nrows++].v;
}

static void row_gone(uint64_t addr)
{
	size_t i;

	for (i = 0; i < nrows; i++)
		if (rows[i].k.addr == addr)
			rows[i--] = rows[--nrows];
}

/* A wait of @ns that came back, as the kernel side counts it. */
static void came_back(struct live_futex *v, uint64_t ns)
{
	v->waits++;
	v->wait_ns += ns;
	v->wait_max = ns > v->wait_max ? ns : v->wait_max;
	v->hist[hist_bucket(ns)]++;
}

static void refresh(void)
{
	size_t i;

	look();
	watch_locks_begin(w);
	for (i = 0; i < nrows; i++)
		assert_int_equal(watch_lock_row(w, &rows[i].k, &rows[i].v), 0);
	assert_int_equal(watch_locks_end(w), 0);
}

static const struct now_lock *lock(uint64_t addr)
{
	const struct now_lock *is = NULL;
	size_t i;

	for (i = 0; i < w->now.nlock; i++)
		if (w->now.lock[i].addr == addr) {
			assert_null(is);
			is = &w->now.lock[i];
		}
	return is;
}

static int locks_setup(void **state)
{
	nrows = 0;
	return watch_setup(state);
}

/* A thread of process 7 that waits at @addr since now. */
static uint32_t waiter(uint32_t tid, uint32_t tgid, uint64_t addr)
{
	uint32_t slot = found(tid, tgid);

	comes_on(slot);
	goes_off(slot, SEEN_BLOCKED, NR_FUTEX, addr);
	return slot;
}

static void counts_and_steps(void **state)
{
	struct live_futex *v = row_at(0x1000, 7);
	uint32_t slot = found(7, 7);

	(void)state;
	memcpy(slots[slot].comm, "locker", 7);
	came_back(v, 100);
	came_back(v, 200);
	v->wakes = 5;
	v->wasted = 2;
	v->timeouts = 1;
	t_ns += 1000;
	refresh();
	assert_non_null(lock(0x1000));
	is_count(lock(0x1000)->waits, 2, 2);
	is_count(lock(0x1000)->wait_ns, 300, 300);
	is_count(lock(0x1000)->wakes, 5, 5);
	is_count(lock(0x1000)->wasted_wakes, 2, 2);
	is_count(lock(0x1000)->timeouts, 1, 1);
	assert_int_equal(lock(0x1000)->max_ns, 200);
	assert_int_equal(lock(0x1000)->tgid, 7);
	assert_string_equal(lock(0x1000)->comm, "locker");
	assert_int_equal(lock(0x1000)->waiting, 0);
	v = row_at(0x1000, 7);
	came_back(v, 50);
	t_ns += 1000;
	refresh();
	is_count(lock(0x1000)->waits, 3, 1);
	is_count(lock(0x1000)->wait_ns, 350, 50);
	is_count(lock(0x1000)->wakes, 5, 0);
	t_ns += 1000;
	refresh();
	is_count(lock(0x1000)->waits, 3, 0);
	assert_int_equal(lock(0x1000)->p50_ns, 0);
	assert_int_equal(lock(0x1000)->max_ns, 200);
}

/* Quantiles are those of the interval, not of all that was. */
static void quantiles_of_the_interval(void **state)
{
	struct live_futex *v = row_at(0x1000, 7);
	int i;

	(void)state;
	for (i = 0; i < 1000; i++)
		came_back(v, 1000000);
	t_ns += 1000;
	refresh();
	assert_true(lock(0x1000)->p50_ns > 800000 && lock(0x1000)->p50_ns < 1250000);
	for (i = 0; i < 100; i++)
		came_back(v, 1000);
	t_ns += 1000;
	refresh();
	assert_true(lock(0x1000)->p50_ns > 800 && lock(0x1000)->p50_ns < 1250);
	assert_true(lock(0x1000)->p99_ns > 800 && lock(0x1000)->p99_ns < 1250);
	assert_int_equal(lock(0x1000)->max_ns, 1000000);
}

/* A wait that lasts shows while it does, and counts once. */
static void a_wait_counts_once(void **state)
{
	uint32_t slot = waiter(7, 7, 0x1000);

	(void)state;
	t_ns += 1000;
	refresh();
	assert_int_equal(lock(0x1000)->waiting, 1);
	assert_int_equal(lock(0x1000)->tgid, 7);
	is_count(lock(0x1000)->wait_ns, 1000, 1000);
	is_count(lock(0x1000)->waits, 0, 0);
	t_ns += 500;
	refresh();
	is_count(lock(0x1000)->wait_ns, 1500, 500);
	/* Woken, and not on a CPU yet: the kernel side has not counted the wait. */
	t_ns += 10;
	slots[slot].woken_ns = t_ns;
	t_ns += 100;
	row_at(0x1000, 7)->wakes = 1;
	refresh();
	assert_int_equal(lock(0x1000)->waiting, 0);
	assert_true(lock(0x1000)->wait_ns.total >= 1500 && lock(0x1000)->wait_ns.total <= 1510);
	comes_on(slot);
	came_back(row_at(0x1000, 7), 1510);
	t_ns += 100;
	refresh();
	assert_int_equal(lock(0x1000)->wait_ns.total, 1510);
	is_count(lock(0x1000)->waits, 1, 1);
	goes_off(slot, SEEN_BLOCKED, NR_FUTEX, 0x1000);
	t_ns += 40;
	refresh();
	is_count(lock(0x1000)->wait_ns, 1550, 40);
	is_count(lock(0x1000)->waits, 1, 0);
}

/* Many waiters at two locks that come and go between refreshes: no time is counted twice. */
static void all_waits_count_once(void **state)
{
	uint64_t since[16], back[2] = { 0 }, inside[2], was[2] = { 0 };
	uint32_t slot[16], i, round, at;
	enum { ON, OFF, WOKEN } is[16];

	(void)state;
	srand(7);
	for (i = 0; i < 16; i++) {
		slot[i] = waiter(100 + i, 7, 0x1000 + i % 2 * 8);
		since[i] = t_ns;
		is[i] = OFF;
	}
	for (round = 0; round < 20000; round++) {
		i = (uint32_t)rand() % 16;
		at = i % 2;
		t_ns += 1 + (uint64_t)rand() % 50;
		if (is[i] == ON) {
			goes_off(slot[i], SEEN_BLOCKED, NR_FUTEX, 0x1000 + at * 8);
			since[i] = t_ns;
		} else if (is[i] == OFF) {
			slots[slot[i]].woken_ns = t_ns;
			since[i] = t_ns - since[i];
		} else {
			comes_on(slot[i]);
			came_back(row_at(0x1000 + at * 8, 7), since[i]);
			back[at] += since[i];
		}
		is[i] = (is[i] + 1) % 3;
		if (rand() % 10)
			continue;
		refresh();
		inside[0] = inside[1] = 0;
		for (i = 0; i < 16; i++)
			inside[i % 2] += is[i] == OFF ? t_ns - since[i] :
					 is[i] == WOKEN ? since[i] : 0;
		for (at = 0; at < 2; at++) {
			const struct now_lock *l = lock(0x1000 + at * 8);

			assert_true(l->wait_ns.total <= back[at] + inside[at]);
			assert_true(l->wait_ns.total >= back[at]);
			assert_int_equal(l->wait_ns.total, was[at] + l->wait_ns.step);
			was[at] = l->wait_ns.total;
		}
	}
}

static void kinds(void **state)
{
	(void)state;
	row_at(0x1000, 7)->flags = 0;
	row_at(0x2000, 7)->flags = FUTEX_IS_SHARED;
	row_at(0x3000, 7)->flags = FUTEX_IS_PI;
	row_at(0x4000, 7)->flags = FUTEX_IS_JOIN;
	came_back(row_at(0x5000, UINT32_MAX), 1);	/* the tracer's own measuring */
	refresh();
	assert_int_equal(lock(0x1000)->kind, SUM_LOCK_PRIVATE);
	assert_int_equal(lock(0x2000)->kind, SUM_LOCK_SHARED);
	assert_int_equal(lock(0x3000)->kind, SUM_LOCK_PI);
	assert_int_equal(lock(0x4000)->kind, SUM_LOCK_JOIN);
	assert_null(lock(0x5000));
}

/* A first join has no row yet: its word is the id of a thread that is there. */
static void joins_by_their_word(void **state)
{
	uint32_t slot, i;

	(void)state;
	/* In a pid namespace, where ids are small: 2 is a mutex that others wait for. */
	for (i = 1; i < 8; i++)
		found(i, 1);
	slot = waiter(70, 1, 0x1000);
	slots[slot].lock_val = 7;
	slot = waiter(71, 1, 0x2000);
	slots[slot].lock_val = 2;
	slot = waiter(72, 1, 0x3000);
	slots[slot].lock_val = 72;
	slot = waiter(73, 9, 0x4000);
	slots[slot].lock_val = 6;
	refresh();
	assert_int_equal(lock(0x1000)->kind, SUM_LOCK_JOIN);
	assert_int_equal(lock(0x2000)->kind, SUM_LOCK_PRIVATE);
	assert_int_equal(lock(0x3000)->kind, SUM_LOCK_PRIVATE);
	assert_int_equal(lock(0x4000)->kind, SUM_LOCK_PRIVATE);
}

/* Two processes map one futex at two addresses: it is one lock. */
static void processes_share_one(void **state)
{
	struct live_futex *v;

	(void)state;
	waiter(70, 7, 0x1000);
	waiter(80, 8, 0x9000);
	v = row_at(0x1000, 7);
	v->ino = 55;
	v->off = 16;
	v->flags = FUTEX_IS_SHARED;
	came_back(v, 100);
	v = row_at(0x9000, 8);
	v->ino = 55;
	v->off = 16;
	v->flags = FUTEX_IS_SHARED;
	came_back(v, 1000);
	came_back(row_at(0x1000, 9), 1);	/* at the same address elsewhere: another */
	t_ns += 10;
	refresh();
	assert_int_equal(w->now.nlock, 2);
	row_gone(0x1000);	/* of both; the shared one is still known by the other */
	refresh();
	row_at(0x9000, 8)->waits += 3;
	t_ns += 5;
	refresh();
	assert_int_equal(w->now.nlock, 1);
	assert_int_equal(w->now.lock[0].waiting, 2);
	assert_int_equal(w->now.lock[0].waits.step, 3);
}

/* Rows that the kernel side has no more are gone, others stay what they are. */
static void rows_close_up(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 0; i < 500; i++)
		came_back(row_at(0x1000 + i * 8, 7), i);
	refresh();
	assert_int_equal(w->now.nlock, 500);
	for (i = 0; i < 500; i += 3)
		row_gone(0x1000 + i * 8);
	for (i = 0; i < 500; i++)
		if (i % 3)
			came_back(row_at(0x1000 + i * 8, 7), 1000);
	t_ns += 10;
	refresh();
	assert_int_equal(w->now.nlock, 500 - 167);
	for (i = 0; i < 500; i++) {
		if (i % 3) {
			is_count(lock(0x1000 + i * 8)->waits, 2, 1);
			is_count(lock(0x1000 + i * 8)->wait_ns, i + 1000, 1000);
			assert_true(watch_lock_idle(w, &(struct live_futex_key){
				.addr = 0x1000 + i * 8, .space = 7 }, 1) == false);
		} else {
			assert_null(lock(0x1000 + i * 8));
		}
	}
	/* One that comes back begins anew. */
	came_back(row_at(0x1000, 7), 5);
	t_ns += 10;
	refresh();
	is_count(lock(0x1000)->waits, 1, 1);
	is_count(lock(0x1000)->wait_ns, 5, 5);
	is_count(lock(0x1008)->waits, 2, 0);
}

static void idle_is_what_nobody_uses(void **state)
{
	struct live_futex_key used = { .addr = 0x1000, .space = 7 };
	struct live_futex_key held = { .addr = 0x2000, .space = 7 };
	int i;

	(void)state;
	waiter(70, 7, 0x2000);
	came_back(row_at(0x1000, 7), 5);
	(void)row_at(0x2000, 7);
	for (i = 0; i < 5; i++) {
		refresh();
		t_ns += 10;
	}
	assert_true(watch_lock_idle(w, &used, 4));
	assert_false(watch_lock_idle(w, &used, 5));
	assert_false(watch_lock_idle(w, &held, 1));
	came_back(row_at(0x1000, 7), 5);
	refresh();
	assert_false(watch_lock_idle(w, &used, 1));
}

/* ---- pipes ---- */

static struct sum_pipe_end ends[2][4];
static struct sum_pipe edge;

static void pipes(size_t nwriter, size_t nreader)
{
	struct summary s;

	summary_init(&s);
	edge.id = 0x77;
	edge.sb = 3;
	edge.kind = SUM_PIPE;
	edge.inode = 99;
	edge.writer = ends[0];
	edge.nwriter = nwriter;
	edge.reader = ends[1];
	edge.nreader = nreader;
	s.pipe = &edge;
	s.npipe = nwriter + nreader ? 1 : 0;
	look();
	assert_int_equal(watch_take_pipes(w, &s), 0);
}

static void set_end(struct sum_pipe_end *e, pid_t tid, uint64_t chunks, uint64_t bytes,
		    uint64_t blocked_ns)
{
	memset(e, 0, sizeof(*e));
	e->tid = tid;
	e->tgid = 7;
	strcpy(e->comm, "end");
	e->chunks = chunks;
	e->bytes = bytes;
	e->blocked_ns = blocked_ns;
}

static void pipe_bytes_and_ends(void **state)
{
	const struct now_pipe *p;

	(void)state;
	t_ns += 1000000000;
	set_end(&ends[0][0], 70, 10, 1000, 5);
	set_end(&ends[1][0], 71, 9, 900, 50);
	pipes(1, 1);
	p = &w->now.pipe[0];
	assert_int_equal(p->inode, 99);
	is_count(p->bytes, 1000, 1000);
	is_count(p->bytes_read, 900, 900);
	is_count(p->chunks_written, 10, 10);
	is_count(p->writer_blocked_ns, 5, 5);
	is_count(p->reader_blocked_ns, 50, 50);
	/* A second writer comes, and stands first. */
	t_ns += 1000000000;
	set_end(&ends[0][0], 72, 5, 5000, 0);
	set_end(&ends[0][1], 70, 11, 1100, 5);
	pipes(2, 1);
	p = &w->now.pipe[0];
	is_count(p->bytes, 6100, 5100);
	is_count(p->bytes_read, 900, 0);
	assert_int_equal(p->writer[0].tid, 72);
	is_count(p->writer[0].bytes, 5000, 5000);
	is_count(p->writer[1].bytes, 1100, 100);
	/* One ends, and its row is taken out: what it wrote was written. */
	t_ns += 1000000000;
	set_end(&ends[0][0], 70, 12, 1200, 5);
	pipes(1, 1);
	p = &w->now.pipe[0];
	assert_int_equal(p->nwriter, 1);
	is_count(p->bytes, 6200, 100);
	is_count(p->writer[0].bytes, 1200, 100);
	assert_true(p->past[w->now.tick % NOW_PAST] > 99 && p->past[w->now.tick % NOW_PAST] < 101);
}

/* What was found to be a FIFO only later is the same edge; a socket of that number is not. */
static void pipe_identity(void **state)
{
	struct live_end_key key = { .id = 0x77, .sb = 3, .tid = 70, .kind = END_PIPE };
	int i;

	(void)state;
	set_end(&ends[0][0], 70, 10, 1000, 0);
	pipes(1, 0);
	edge.kind = SUM_FIFO;
	t_ns += 10;
	set_end(&ends[0][0], 70, 11, 1001, 0);
	pipes(1, 0);
	is_count(w->now.pipe[0].bytes, 1001, 1);
	for (i = 0; i < 3; i++) {
		t_ns += 10;
		pipes(1, 0);
	}
	assert_true(watch_pipe_idle(w, &key, 3));
	assert_false(watch_pipe_idle(w, &key, 4));
	key.kind = 77;
	assert_false(watch_pipe_idle(w, &key, 1));
	pipes(0, 0);
	assert_int_equal(w->now.npipe, 0);
}

/* ---- calls ---- */

static struct sum_syscall one_call;
static struct sum_block one_block;

static void called(uint64_t ns)
{
	one_call.calls++;
	one_call.wall.sum += ns;
	one_call.wall.count++;
	one_call.wall.max = ns > one_call.wall.max ? ns : one_call.wall.max;
	one_call.wall.bucket[hist_bucket(ns)]++;
}

/* As watch_calls: what is of this refresh is kept for the next one. */
static void calls(void)
{
	struct summary s;

	look();
	summary_init(&s);
	s.syscall = malloc(sizeof(*s.syscall));
	s.sched.block = malloc(sizeof(*s.sched.block));
	assert_true(s.syscall && s.sched.block);
	*s.syscall = one_call;
	s.nsyscall = 1;
	*s.sched.block = one_block;
	s.sched.nblock = 1;
	assert_int_equal(watch_take_calls(w, &s), 0);
	summary_release(&w->calls);
	w->calls = s;
}

static const struct now_call *call(const char *name)
{
	size_t i;

	for (i = 0; i < w->now.ncall; i++)
		if (!strcmp(w->now.call[i].name, name))
			return &w->now.call[i];
	return NULL;
}

static void calls_and_waits_in_them(void **state)
{
	uint32_t slot = waiter(70, 7, 0x1000);
	int i;

	(void)state;
	memset(&one_call, 0, sizeof(one_call));
	one_call.name = "getpid";
	one_call.nr = 39;
	one_call.errors = 4;
	one_block = (struct sum_block){ "futex", 2, 500 };
	called(1000000);
	t_ns += 100;
	calls();
	is_count(call("getpid")->calls, 1, 1);
	is_count(call("getpid")->errors, 4, 4);
	is_count(call("getpid")->wall_ns, 1000000, 1000000);
	assert_int_equal(call("getpid")->p50_ns, 1000000);
	is_count(call("futex")->blocked, 2, 2);
	is_count(call("futex")->blocked_ns, 600, 600);
	assert_int_equal(call("futex")->inside, 1);
	/* One value, and not the longest there was. */
	called(100);
	slots[slot].woken_ns = t_ns;
	t_ns += 100;
	calls();
	is_count(call("getpid")->calls, 2, 1);
	is_count(call("getpid")->errors, 4, 0);
	assert_true(call("getpid")->p50_ns >= 96 && call("getpid")->p50_ns < 128);
	assert_int_equal(call("getpid")->p99_ns, call("getpid")->p50_ns);
	assert_int_equal(call("getpid")->max_ns, 1000000);
	assert_int_equal(call("futex")->inside, 0);
	is_count(call("futex")->blocked_ns, 600, 0);
	comes_on(slot);
	one_block = (struct sum_block){ "futex", 3, 600 };
	for (i = 0; i < 3; i++) {
		t_ns += 100;
		calls();
		is_count(call("futex")->blocked, 3, !i);
		is_count(call("futex")->blocked_ns, 600, 0);
		assert_int_equal(call("getpid")->p99_ns, 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, locks_setup, watch_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(counts_and_steps),
		TEST(quantiles_of_the_interval),
		TEST(a_wait_counts_once),
		TEST(all_waits_count_once),
		TEST(kinds),
		TEST(joins_by_their_word),
		TEST(processes_share_one),
		TEST(rows_close_up),
		TEST(idle_is_what_nobody_uses),
		TEST(pipe_bytes_and_ends),
		TEST(pipe_identity),
		TEST(calls_and_waits_in_them),
	};

	return cmocka_run_group_tests_name("watch: locks and pipes", tests, NULL, NULL);
}
