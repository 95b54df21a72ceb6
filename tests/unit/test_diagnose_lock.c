/* SPDX-License-Identifier: MIT */
#include "diagnose_fixture.h"

static struct sum_lock *add_lock(struct summary *s, const char *symbol)
{
	struct sum_lock *l;

	s->lock = realloc(s->lock, (s->nlock + 1) * sizeof(*s->lock));
	assert_non_null(s->lock);
	l = &s->lock[s->nlock++];
	memset(l, 0, sizeof(*l));
	l->addr = 0x1000 + 4 * s->nlock;
	l->tgid = 1;
	strcpy(l->comm, "prog");
	l->symbol = symbol ? fix_string(symbol) : NULL;
	return l;
}

static void add_edge(struct sum_lock *l, pid_t waker, pid_t waiter, uint64_t count)
{
	l->edge = realloc(l->edge, (l->nedge + 1) * sizeof(*l->edge));
	assert_non_null(l->edge);
	memset(&l->edge[l->nedge], 0, sizeof(*l->edge));
	l->edge[l->nedge].waker = waker;
	l->edge[l->nedge].waiter = waiter;
	strcpy(l->edge[l->nedge].waker_comm, "one");
	strcpy(l->edge[l->nedge].waiter_comm, "two");
	l->edge[l->nedge++].count = count;
}

/* A stack of a library function below one of the program's. */
static void add_site(struct sum_lock *l, const char *inner, uint64_t samples)
{
	struct sum_site *site;

	l->site = realloc(l->site, (l->nsite + 1) * sizeof(*l->site));
	assert_non_null(l->site);
	site = &l->site[l->nsite++];
	memset(site, 0, sizeof(*site));
	site->frame = FIX_ARRAY(3, struct sum_frame);
	site->nframe = 3;
	site->frame[1].symbol = fix_string(inner);
	site->frame[2].symbol = fix_string("transfer");
	site->frame[0].module = fix_string("/lib/libc.so.6");
	site->frame[1].module = fix_string("/lib/libc.so.6");
	site->frame[2].module = fix_string("/bin/bank");
	site->samples = samples;
}

/* Ends with the functions of the first site renamed. */
static void call_it(struct sum_lock *l, const char *inner)
{
	free(l->site[0].frame[1].symbol);
	l->site[0].frame[1].symbol = fix_string(inner);
}

/* --- contended-lock: 100 waits, a fifth of waiting and running, turns of 50 µs --- */

static void contended(struct summary *s)
{
	struct sum_lock *l = add_lock(s, "bank_lock");

	l->waits = 100;
	l->wait = fix_hist(2500500, 100);	/* 250.05 ms against 1 s of running */
	l->timeouts = 10;
	l->holder = 11;
	add_edge(l, 11, 12, 50);
	add_edge(l, 12, 11, 50);
	add_site(l, "___pthread_mutex_lock", 20);
	fix_thread(s, 11, 500 * MS);
}

static void fewer_waits(struct summary *s)
{
	s->lock[0].waits = 99;
	s->lock[0].timeouts = 9;	/* still 10 % */
}

static void shorter_waits(struct summary *s) { s->lock[0].wait.sum = 249 * MS; }
static void more_timeouts(struct summary *s) { s->lock[0].timeouts = 11; }
static void no_sched(struct summary *s) { s->collected &= ~(unsigned int)SUM_SCHED; }
static void lost_two(struct summary *s) { s->loss.total = s->loss.map_full = 2; }
static void wait_mode(struct summary *s) { s->mode = SUM_WAIT; }

static void short_turns(struct summary *s)
{
	s->lock[0].waits = 6001;
	s->lock[0].wait = fix_hist(49000, 6001);
}

static void in_cond_wait(struct summary *s) { call_it(&s->lock[0], "pthread_cond_wait"); }
static void in_sem_wait(struct summary *s) { call_it(&s->lock[0], "__new_sem_wait_slow64"); }
static void in_barrier(struct summary *s) { call_it(&s->lock[0], "pthread_barrier_wait"); }
static void in_join(struct summary *s) { s->lock[0].kind = SUM_LOCK_JOIN; }

static void in_cpp_condition(struct summary *s)
{
	call_it(&s->lock[0],
		"std::condition_variable::wait(std::unique_lock<std::mutex>&)");
}

static void in_rust_mutex(struct summary *s)
{
	call_it(&s->lock[0], "std::sys::sync::mutex::futex::Mutex::lock_contended");
}

static void retaken_after_cond(struct summary *s)
{
	call_it(&s->lock[0], "__pthread_mutex_cond_lock");
}

static void no_stack_read(struct summary *s)
{
	free(s->lock[0].site[0].frame[1].symbol);
	s->lock[0].site[0].frame[1].symbol = NULL;
	free(s->lock[0].site[0].frame[2].symbol);
	s->lock[0].site[0].frame[2].symbol = NULL;
}

/* Without a stack, and woken by one who never waits: work that is handed out. */
static void no_stack_and_a_feeder(struct summary *s)
{
	no_stack_read(s);
	s->lock[0].edge[1].waker = 13;
	s->lock[0].edge[0].waker = 13;
}

static void no_stack_and_one_waiter(struct summary *s)
{
	no_stack_read(s);
	s->lock[0].edge[1].waiter = 12;
}

/* Most stacks say condition variable: the first need not be the most. */
static void outvoted(struct summary *s) { add_site(&s->lock[0], "pthread_cond_wait", 21); }
static void not_outvoted(struct summary *s) { add_site(&s->lock[0], "pthread_cond_wait", 19); }

static void contended_lock(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "99 waits", fewer_waits },
		{ "waiting under a fifth", shorter_waits },
		{ "11 % timeouts", more_timeouts },
		{ "scheduling not collected", no_sched },
		{ "2 % lost", lost_two },
		{ "turns under 50 µs", short_turns },
		{ "a condition variable", in_cond_wait },
		{ "a semaphore", in_sem_wait },
		{ "a barrier", in_barrier },
		{ "a join", in_join },
		{ "a C++ condition variable", in_cpp_condition },
		{ "one who hands out work", no_stack_and_a_feeder },
		{ "one waiter alone", no_stack_and_one_waiter },
		{ "most stacks in a condition variable", outvoted },
	};

	(void)state;
	FIX_BOTH_SIDES("contended-lock", contended, knobs);
	fix_still("contended-lock", contended, in_rust_mutex);
	fix_still("contended-lock", contended, retaken_after_cond);
	fix_still("contended-lock", contended, no_stack_read);
	fix_still("contended-lock", contended, not_outvoted);
	fix_still("contended-lock", contended, wait_mode);
}

static void a_lock_is_named_with_its_place(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	contended(&s);
	f = fix_judge(&s, "contended-lock");
	assert_non_null(f);
	assert_non_null(strstr(f->text, "threads wait 250 ms for private lock bank_lock in 100 "
			       "waits (p99 2."));
	assert_non_null(strstr(f->text, "), most often in transfer: 20 % of the time in which they "
			       "wait there or run"));
	assert_true(fix_evidence(f, "holder") == 11);
	assert_true(fix_evidence(f, "waiters") == 2);
	assert_non_null(strstr(f->advice, "Do less while holding"));
	/* A holder that is preempted needs other advice. */
	s.threads.by_thread[0].futex_wait_ns = 500 * MS;	/* all that it is blocked */
	s.threads.by_thread[0].runnable_ns = 215 * MS;	/* 30.07 % */
	f = fix_judge(&s, "contended-lock");
	assert_non_null(strstr(f->advice, "ready but not running"));
	s.threads.by_thread[0].runnable_ns = 214 * MS;	/* 29.97 % */
	f = fix_judge(&s, "contended-lock");
	assert_non_null(strstr(f->advice, "Do less while holding"));
	/* One that is ready as long, and sleeps elsewhere for half a second, is not. */
	s.threads.by_thread[0].runnable_ns = 215 * MS;
	s.threads.by_thread[0].futex_wait_ns = 0;
	f = fix_judge(&s, "contended-lock");
	assert_non_null(strstr(f->advice, "Do less while holding"));
	assert_true(fix_evidence(f, "holder_runnable_part") == 0);
	free(s.lock[0].symbol);
	s.lock[0].symbol = NULL;
	f = fix_judge(&s, "contended-lock");
	assert_non_null(strstr(f->text, "private lock 0x1004 of prog (1)"));
	summary_release(&s);
}

/* Two wait 125 ms each: who held the lock ran for 62 ms of it, so it slept. */
static void a_holder_that_sleeps_is_told_so(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	contended(&s);
	fix_thread(&s, 12, 31 * MS);
	s.threads.by_thread[0].oncpu_ns = 11 * MS;
	s.threads.by_thread[0].runnable_ns = 20 * MS;	/* more than it runs */
	s.sched.block = FIX_ARRAY(3, struct sum_block);
	s.sched.nblock = 3;
	s.sched.block[0] = (struct sum_block){ "futex", 9, SEC };
	s.sched.block[1] = (struct sum_block){ "page fault/other", 9, SEC };
	s.sched.block[2] = (struct sum_block){ "clock_nanosleep", 9, 100 * MS };
	f = fix_judge(&s, "contended-lock");
	assert_non_null(f);
	assert_non_null(strstr(f->advice, "The holder sleeps while it holds the lock, most likely "
			       "in clock_nanosleep:"));
	assert_true(fix_evidence(f, "holder_asleep_part") > 0.6);
	s.sched.block[2].total_ns = 10 * MS;	/* too little to be it */
	f = fix_judge(&s, "contended-lock");
	assert_non_null(strstr(f->advice, "The holder sleeps while it holds the lock:"));
	s.threads.by_thread[1].oncpu_ns = 82 * MS;	/* 113 ms of 125: nine tenths */
	f = fix_judge(&s, "contended-lock");
	assert_null(strstr(f->advice, "sleeps"));
	s.threads.nby_thread = 1;	/* without a row nothing is known */
	f = fix_judge(&s, "contended-lock");
	assert_true(fix_evidence(f, "holder_asleep_part") == 0);
	summary_release(&s);
}

/* --- stuck-lock: half a second, at a mutex --- */

static void stuck(struct summary *s)
{
	struct sum_lock *l = add_lock(s, "order_lock");

	l->waits = l->pending = 2;
	l->pending_ns = 2 * SEC / 2;
	l->wait = fix_hist(SEC / 2, 2);
	add_site(l, "__lll_lock_wait", 1);
	s->mode = SUM_WAIT;
	s->collected = SUM_FUTEX;
}

static void not_so_long(struct summary *s) { s->lock[0].pending_ns--; }
static void came_back(struct summary *s) { s->lock[0].pending = s->lock[0].pending_ns = 0; }
static void much_lost(struct summary *s) { s->loss.total = s->loss.ring_full = 1000; }

static void stuck_lock(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "less than half a second", not_so_long },
		{ "the waits having come back", came_back },
		{ "being parked on a condition variable", in_cond_wait },
		{ "being idle at a semaphore", in_sem_wait },
		{ "being waited for at a barrier", in_barrier },
		{ "being waited for at a join", in_join },
		{ "no stack", no_stack_read },
	};
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	FIX_BOTH_SIDES("stuck-lock", stuck, knobs);
	fix_still("stuck-lock", stuck, much_lost);
	fix_quiet(&s);
	stuck(&s);
	f = fix_judge(&s, "stuck-lock");
	assert_string_equal(f->text, "2 threads wait for private lock order_lock, most often in "
			    "transfer, for the last 500 ms, and nobody has given it back");
	s.lock[0].pending = 1;
	f = fix_judge(&s, "stuck-lock");
	assert_string_equal(f->text, "1 thread waits for private lock order_lock, most often in "
			    "transfer, since before the trace began, and nobody has given it back");
	summary_release(&s);
}

/* --- convoy: 5,000 waits, turns under 50 µs --- */

static void convoy(struct summary *s)
{
	struct sum_lock *l = add_lock(s, NULL);

	l->kind = SUM_LOCK_PI;
	l->waits = l->wakes = l->woken = 5001;
	l->wait = fix_hist(98000, 5001);	/* two ahead of each: 49 µs a turn */
	add_edge(l, 11, 12, 1667);
	add_edge(l, 12, 13, 1667);
	add_edge(l, 13, 11, 1667);
}

static void fewer_turns(struct summary *s) { s->lock[0].waits = 4999; }
static void longer_turns(struct summary *s) { s->lock[0].wait = fix_hist(104000, 5001); }
static void two_threads(struct summary *s) { s->lock[0].nedge = 2; }

static void much_running(struct summary *s)
{
	s->sched.oncpu_ns = s->lock[0].wait.sum * 4 + 1;
}

static void as_much_running(struct summary *s)
{
	s->sched.oncpu_ns = s->lock[0].wait.sum * 4;
}

static void many_timeouts(struct summary *s) { s->lock[0].timeouts = 501; }
static void some_timeouts(struct summary *s) { s->lock[0].timeouts = 500; }

static void convoy_rule(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "4,999 waits", fewer_turns },
		{ "turns of 52 µs", longer_turns },
		{ "two threads with turns of 100 µs", two_threads },
		{ "waiting under a fifth", much_running },
		{ "over 10 % timeouts", many_timeouts },
		{ "being waited for at a join", in_join },
	};

	(void)state;
	FIX_BOTH_SIDES("convoy", convoy, knobs);
	fix_still("convoy", convoy, as_much_running);
	fix_still("convoy", convoy, some_timeouts);
}

/* A lock is a convoy or contended, never both. */
static void turns_decide_between_convoy_and_contention(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	convoy(&s);
	assert_null(fix_judge(&s, "contended-lock"));
	s.lock[0].wait = fix_hist(104000, 5001);
	assert_non_null(fix_judge(&s, "contended-lock"));
	summary_release(&s);
}

/* --- lock-step: 2,500 wakes each way, equal to a fifth, 10 % --- */

static void in_turns(struct summary *s)
{
	/* A condition variable has two words, and the pair uses both. */
	struct sum_lock *l = add_lock(s, NULL);

	add_edge(l, 11, 12, 1250);
	add_edge(l, 12, 11, 3124);
	add_site(l, "pthread_cond_wait", 5);
	l = add_lock(s, NULL);
	add_edge(l, 11, 12, 1250);
	add_site(l, "pthread_cond_wait", 5);
	s->sched.oncpu_ns = 112 * MS;	/* 5,624 × 2 µs = 11.25 ms */
}

static void fewer_one_way(struct summary *s)
{
	s->lock[1].edge[0].count = 1249;
	s->lock[0].edge[1].count = 3120;	/* still equal to a fifth */
}

static void more_other_way(struct summary *s) { s->lock[0].edge[1].count = 3126; }
static void more_cpu(struct summary *s) { s->sched.oncpu_ns = 113 * MS; }

static void at_a_mutex(struct summary *s)
{
	call_it(&s->lock[0], "___pthread_mutex_lock");
	call_it(&s->lock[1], "___pthread_mutex_lock");
}

static void at_a_barrier(struct summary *s)
{
	call_it(&s->lock[0], "pthread_barrier_wait");
	call_it(&s->lock[1], "pthread_barrier_wait");
}

static void by_nobody(struct summary *s) { s->lock[1].edge[0].waker = 0; }

static void lock_step(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "2,499 wakes one way", fewer_one_way },
		{ "a fifth more the other way", more_other_way },
		{ "a cost under 10 %", more_cpu },
		{ "being at a mutex", at_a_mutex },
		{ "being at a barrier", at_a_barrier },
		{ "wakers not seen", by_nobody },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("lock-step", in_turns, knobs);
}

/* --- thundering-herd: 5,000 woken, 3 by a wake, 80 % wait again, 50 µs of work --- */

static void herd(struct summary *s)
{
	struct sum_lock *l = add_lock(s, "queue");
	pid_t tid;

	l->wakes = 2000;
	l->wasted_wakes = 333;
	l->woken = 5001;	/* by 1,667 */
	l->waits = 4001;
	l->requeued = 500;
	for (tid = 12; tid < 15; tid++) {
		add_edge(l, 11, tid, 1667);
		fix_thread(s, tid, 66 * MS);	/* 49.5 µs a wait */
	}
	s->sched.oncpu_ns = 133 * MS;	/* 3,334 needless × 2 µs = 6.67 ms */
	s->duration_ns = SEC / 2;
}

static void fewer_woken(struct summary *s)
{
	s->lock[0].woken = 4999;
	s->lock[0].requeued = 499;
	s->lock[0].wakes = 1900;
}

static void fewer_by_a_wake(struct summary *s) { s->lock[0].wasted_wakes = 332; }
static void fewer_wait_again(struct summary *s) { s->lock[0].waits = 3999; }
static void requeues(struct summary *s) { s->lock[0].requeued = 501; }
static void costs_less(struct summary *s) { s->sched.oncpu_ns = 134 * MS; }
static void all_go_on(struct summary *s) { add_site(&s->lock[0], "pthread_barrier_wait", 9); }

static void work_after_each(struct summary *s)
{
	s->threads.by_thread[0].oncpu_ns += 3 * MS;
}

static void workers_not_known(struct summary *s) { s->threads.nby_thread = 0; }

static void thundering_herd(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "4,999 woken", fewer_woken },
		{ "under 3 by a wake", fewer_by_a_wake },
		{ "under 80 % waiting again", fewer_wait_again },
		{ "more than 10 % requeued", requeues },
		{ "a cost under 5 %", costs_less },
		{ "being a barrier", all_go_on },
		{ "50 µs of work after each wake", work_after_each },
		{ "the woken threads not known", workers_not_known },
	};

	(void)state;
	FIX_BOTH_SIDES("thundering-herd", herd, knobs);
}

/* --- wasted-wakes and futex-eagain: 10,000, half, 2 % --- */

static void wasted(struct summary *s)
{
	s->futex.wakes = 20000;
	s->futex.wasted_wakes = 10000;
	fix_call(s, "futex", 20000, 2000);	/* 20 ms */
}

static void fewer_wasted(struct summary *s)
{
	s->futex.wasted_wakes = 9999;
	s->futex.wakes = 10000;
	s->syscall[0].cpu_ns *= 2;
}

static void more_useful(struct summary *s) { s->futex.wakes = 20001; }
static void cheaper(struct summary *s) { s->syscall[0].cpu_ns -= 20000; }
static void wakes_lost(struct summary *s) { s->loss.total = s->loss.map_full = 201; }

static void wasted_wakes(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "9,999 wasted", fewer_wasted },
		{ "less than half wasted", more_useful },
		{ "a cost under 2 %", cheaper },
		{ "1.005 % lost", wakes_lost },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("wasted-wakes", wasted, knobs);
}

static void wasted_wakes_names_the_lock_that_has_most(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	wasted(&s);
	add_lock(&s, "small")->wasted_wakes = 4000;
	add_lock(&s, "large")->wasted_wakes = 5000;
	f = fix_judge(&s, "wasted-wakes");
	assert_string_equal(f->text, "10,000 of 20,000 futex wakes (50 %) wake nobody, most on "
			    "private lock large: about 20.0 ms in calls for nothing");
	s.lock[1].wasted_wakes = 4999;
	f = fix_judge(&s, "wasted-wakes");
	assert_null(strstr(f->text, "most on"));
	summary_release(&s);
}

static void eagain(struct summary *s)
{
	s->futex.waits = 10000;
	s->futex.eagain = 10000;
	fix_call(s, "futex", 20000, 2000);
}

static void fewer_eagain(struct summary *s)
{
	s->futex.eagain = 9999;
	s->futex.waits = 1;
	s->syscall[0].cpu_ns *= 2;
}

static void more_waits(struct summary *s) { s->futex.waits = 10001; }

static void futex_eagain(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "9,999", fewer_eagain },
		{ "less than half", more_waits },
		{ "a cost under 2 %", cheaper },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("futex-eagain", eagain, knobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contended_lock),
		cmocka_unit_test(a_lock_is_named_with_its_place),
		cmocka_unit_test(a_holder_that_sleeps_is_told_so),
		cmocka_unit_test(stuck_lock),
		cmocka_unit_test(convoy_rule),
		cmocka_unit_test(turns_decide_between_convoy_and_contention),
		cmocka_unit_test(lock_step),
		cmocka_unit_test(thundering_herd),
		cmocka_unit_test(wasted_wakes),
		cmocka_unit_test(wasted_wakes_names_the_lock_that_has_most),
		cmocka_unit_test(futex_eagain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
