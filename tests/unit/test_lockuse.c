/* SPDX-License-Identifier: MIT */
/* What a futex is used for, by the stacks that wait for it. */
#include "unit.h"

#include <string.h>

#include "out/summary.h"

static struct sum_frame frame(const char *symbol)
{
	return (struct sum_frame){ .symbol = (char *)symbol };
}

static enum sum_lock_use use_of(const char *inner)
{
	struct sum_frame f[2] = { frame(inner), frame("main") };
	struct sum_site site = { .frame = f, .nframe = 2, .samples = 3 };
	struct sum_lock l = { .site = &site, .nsite = 1 };

	return sum_lock_use(&l);
}

static void functions_tell(void **state)
{
	static const struct { const char *symbol; enum sum_lock_use use; } rows[] = {
		{ "pthread_mutex_lock", SUM_USE_MUTEX },
		{ "___pthread_mutex_timedlock", SUM_USE_MUTEX },
		{ "__lll_lock_wait", SUM_USE_MUTEX },
		{ "pthread_rwlock_rdlock", SUM_USE_RWLOCK },
		{ "std::sys::sync::mutex::futex::Mutex::lock_contended", SUM_USE_MUTEX },
		{ "pthread_cond_timedwait", SUM_USE_CONDVAR },
		{ "pthread_cond_wait", SUM_USE_CONDVAR },
		{ "std::condition_variable::wait(std::unique_lock<std::mutex>&)",
		  SUM_USE_CONDVAR },
		{ "__new_sem_wait_slow64", SUM_USE_SEMAPHORE },
		{ "pthread_barrier_wait", SUM_USE_BARRIER },
		{ "__pthread_clockjoin_ex", SUM_USE_JOIN },
		{ "syscall", SUM_USE_UNKNOWN },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(use_of(rows[i].symbol), rows[i].use);
	assert_int_equal(use_of(NULL), SUM_USE_UNKNOWN);
}

static void most_samples_win_and_the_silent_do_not_vote(void **state)
{
	struct sum_frame f[3] = { frame("syscall"), frame("pthread_mutex_lock"),
				  frame("pthread_cond_wait") };
	struct sum_site site[3] = {
		{ .frame = &f[0], .nframe = 1, .samples = 100 },
		{ .frame = &f[1], .nframe = 1, .samples = 4 },
		{ .frame = &f[2], .nframe = 1, .samples = 5 },
	};
	struct sum_lock l = { .site = site, .nsite = 3 };

	(void)state;
	assert_int_equal(sum_lock_use(&l), SUM_USE_CONDVAR);
	site[1].samples = 6;
	assert_int_equal(sum_lock_use(&l), SUM_USE_MUTEX);
	l.nsite = 1;
	assert_int_equal(sum_lock_use(&l), SUM_USE_UNKNOWN);
}

static void only_the_librarys_own_frames_are_asked(void **state)
{
	struct sum_frame f[8];
	struct sum_site site = { .frame = f, .samples = 1 };
	struct sum_lock l = { .site = &site, .nsite = 1 };
	size_t i;

	(void)state;
	for (i = 0; i < 7; i++)
		f[i] = frame("park");
	f[5] = frame("sem_wait");
	site.nframe = 7;
	assert_int_equal(sum_lock_use(&l), SUM_USE_SEMAPHORE);
	f[5] = frame("park");
	f[6] = frame("sem_wait");
	assert_int_equal(sum_lock_use(&l), SUM_USE_UNKNOWN);
}

static void the_kernel_knows_joins_and_pi(void **state)
{
	struct sum_lock l = { .kind = SUM_LOCK_JOIN };

	(void)state;
	assert_int_equal(sum_lock_use(&l), SUM_USE_JOIN);
	l.kind = SUM_LOCK_PI;
	assert_int_equal(sum_lock_use(&l), SUM_USE_MUTEX);
}

/* Whether @waits waits by the threads of @edge, at @inner, are parked. */
static bool parked(const char *inner, uint64_t waits, struct sum_edge *edge, size_t nedge)
{
	struct sum_frame f = frame(inner);
	struct sum_site site = { .frame = &f, .nframe = 1, .samples = 1 };
	struct sum_lock l = { .site = &site, .nsite = 1, .waits = waits, .edge = edge,
			      .nedge = nedge };

	return sum_lock_parked(&l);
}

static void a_wait_each_is_parked(void **state)
{
	struct sum_edge edge[300] = { { .waker = 1, .waiter = 2, .count = 1 },
				      { .waker = 1, .waiter = 3, .count = 1 } };
	struct sum_lock l = { .kind = SUM_LOCK_JOIN, .waits = 3000 };
	size_t i;

	(void)state;
	assert_true(parked("pthread_cond_wait", 2, edge, 2));
	assert_true(parked("syscall", 2, edge, 2));
	/* Woken or not: whoever still waits at the end has no edge. */
	assert_true(parked("pthread_cond_wait", 3, edge, 2));
	assert_true(parked("sem_wait", 1, NULL, 0));
	assert_false(parked("sem_wait", 2, NULL, 0));
	assert_false(parked("sem_wait", 0, NULL, 0));
	assert_false(parked("pthread_mutex_lock", 2, edge, 2));
	assert_false(parked("pthread_rwlock_wrlock", 1, NULL, 0));
	edge[1].count = 2;
	assert_false(parked("pthread_cond_wait", 3, edge, 2));
	edge[1] = (struct sum_edge){ .waker = 9, .waiter = 2, .count = 1 };
	assert_false(parked("pthread_cond_wait", 2, edge, 2));
	for (i = 0; i < 300; i++)
		edge[i] = (struct sum_edge){ .waker = 1, .waiter = (pid_t)i + 2, .count = 1 };
	assert_true(parked("pthread_barrier_wait", 256, edge, 256));
	assert_false(parked("pthread_barrier_wait", 257, edge, 257));
	assert_true(sum_lock_parked(&l));
	l = (struct sum_lock){ .waits = 50, .timeouts = 50 };
	assert_true(sum_lock_parked(&l));
	l.timeouts = 49;
	assert_false(sum_lock_parked(&l));
	l = (struct sum_lock){ .kind = SUM_LOCK_PI, .waits = 50, .timeouts = 50 };
	assert_false(sum_lock_parked(&l));
}

static void each_use_has_a_name(void **state)
{
	unsigned int i;

	(void)state;
	assert_string_equal(sum_lock_use_name(SUM_USE_UNKNOWN), "");
	for (i = SUM_USE_UNKNOWN + 1; i < SUM_USES; i++)
		assert_true(strlen(sum_lock_use_name((enum sum_lock_use)i)) >= 4);
	assert_string_equal(sum_lock_use_name(SUM_USES), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_tell),
		cmocka_unit_test(most_samples_win_and_the_silent_do_not_vote),
		cmocka_unit_test(only_the_librarys_own_frames_are_asked),
		cmocka_unit_test(the_kernel_knows_joins_and_pi),
		cmocka_unit_test(a_wait_each_is_parked),
		cmocka_unit_test(each_use_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
