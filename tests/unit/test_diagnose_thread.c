/* SPDX-License-Identifier: MIT */
#include "diagnose_fixture.h"

static void no_threads(struct summary *s) { s->collected &= ~(unsigned int)SUM_THREADS; }
static void wait_mode(struct summary *s) { s->mode = SUM_WAIT; }
static void lost(struct summary *s) { s->loss.total = s->loss.ring_full = 6; }

/* --- short-lived-threads: 500, lifetime under 3 costs, 10 % --- */

static void short_lived(struct summary *s)
{
	struct sum_threads *t = &s->threads;

	t->created = t->exited = 500;
	t->cost = fix_hist(200000, 500);	/* 100 ms of one second */
	t->lifetime = fix_hist(590000, 500);
}

static void fewer(struct summary *s) { s->threads.lifetime.count = 499; }
static void cheap(struct summary *s) { s->threads.cost.sum -= MS; }

static void longer_lived(struct summary *s)
{
	s->threads.lifetime = fix_hist(700000, 500);
}

static void short_lived_threads(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "499 threads", fewer },
		{ "a life of 3.5 costs", longer_lived },
		{ "a cost under 10 %", cheap },
		{ "threads not collected", no_threads },
		{ "6 of 500 lost", lost },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("short-lived-threads", short_lived, knobs);
}

/* --- thread-stack-churn: 200 unmapped, half of the threads, 3 % --- */

static void stacks(struct summary *s)
{
	struct sum_threads *t = &s->threads;

	t->created = 400;
	t->stage[SUM_STAGE_STACK] = fix_hist(50000, 400);	/* 20 ms */
	t->way = FIX_ARRAY(2, struct sum_way);
	t->nway = 2;
	t->way[0].name = "rseq";
	t->way[0].calls = 400;
	t->way[1].name = "mmap";
	t->way[1].calls = 200;
	fix_call(s, "munmap", 1000, 50000);	/* 10 ms for 200 */
}

static void fewer_unmapped(struct summary *s)
{
	s->syscall[0].calls = 199;
	s->syscall[0].cpu_ns = 11 * MS;
}

static void more_from_the_cache(struct summary *s) { s->threads.created = 401; }
static void none_mapped(struct summary *s) { s->threads.way[1].name = "mremap"; }
static void other_stages(struct summary *s) { s->threads.cost.sum += MS; }
static void more_cpu(struct summary *s) { s->sched.oncpu_ns += MS; }

static void thread_stack_churn(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "199 unmapped", fewer_unmapped },
		{ "less than half mapped anew", more_from_the_cache },
		{ "none mapped anew", none_mapped },
		{ "a cost under 3 %", more_cpu },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("thread-stack-churn", stacks, knobs);
}

/* --- slow-wakeup: 50, half a millisecond, half of the cost, 5 % --- */

static void wakeups(struct summary *s)
{
	struct sum_threads *t = &s->threads;

	t->created = 50;
	t->stage[SUM_STAGE_WAKEUP] = fix_hist(1000000, 50);	/* 50 ms */
	t->cost = fix_hist(2000000, 50);
}

static void fewer_wakeups(struct summary *s) { s->threads.stage[SUM_STAGE_WAKEUP].count = 49; }

static void shorter_wakeups(struct summary *s)
{
	/* Most begin at once, a few wait long: the median decides. */
	s->threads.stage[SUM_STAGE_WAKEUP] = fix_hist(490000, 50);
	s->threads.stage[SUM_STAGE_WAKEUP].sum = 50 * MS;
}

static void slow_wakeup(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "49 threads", fewer_wakeups },
		{ "a median under 500 µs", shorter_wakeups },
		{ "less than half of the cost", other_stages },
		{ "a cost under 5 %", more_cpu },
	};

	(void)state;
	FIX_BOTH_SIDES("slow-wakeup", wakeups, knobs);
}

/* --- cpu-starved: 200 ms, 40 % of wanting to run, half a CPU --- */

static void starved(struct summary *s)
{
	s->duration_ns = SEC;
	s->sched.oncpu_ns = 750 * MS;
	s->sched.runnable_ns = 500 * MS;
}

static void starved_shortly(struct summary *s)
{
	s->duration_ns = 398 * MS;
	s->sched.oncpu_ns = 298 * MS;
	s->sched.runnable_ns = 199 * MS;
}

static void starved_just_long_enough(struct summary *s)
{
	s->duration_ns = 400 * MS;
	s->sched.oncpu_ns = 300 * MS;
	s->sched.runnable_ns = 200 * MS;
}

static void runs_more(struct summary *s) { s->sched.oncpu_ns = 751 * MS; }
static void over_longer(struct summary *s) { s->duration_ns = 1001 * MS; }
static void no_sched(struct summary *s) { s->collected &= ~(unsigned int)SUM_SCHED; }

static void cpu_starved(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "199 ms", starved_shortly },
		{ "under 40 % waiting", runs_more },
		{ "under half a CPU missing", over_longer },
		{ "scheduling not collected", no_sched },
	};

	(void)state;
	FIX_BOTH_SIDES("cpu-starved", starved, knobs);
	fix_still("cpu-starved", starved, wait_mode);
	fix_still("cpu-starved", starved, starved_just_long_enough);
}

/* 2.0 CPUs wanted: on two of them it is not the program that has too many threads. */
static void cpu_starved_knows_the_machine(void **state)
{
	static const struct { uint32_t cpus; const char *text, *advice; } rows[] = {
		{ 0, "2.0 CPUs wanted, 1.1 got", "More threads want to run than" },
		{ 1, "2.0 CPUs wanted, 1.1 got of 1", "More threads want to run than" },
		{ 2, "2.0 CPUs wanted, 1.1 got of 2", "no more CPUs than the machine has" },
		{ 64, "2.0 CPUs wanted, 1.1 got of 64", "no more CPUs than the machine has" },
	};
	const struct sum_finding *f;
	struct summary s;
	size_t i;

	(void)state;
	fix_quiet(&s);
	starved(&s);
	s.sched.oncpu_ns = 1100 * MS;
	s.sched.runnable_ns = 900 * MS;
	for (i = 0; i < 4; i++) {
		s.sched.cpus = rows[i].cpus;
		f = fix_judge(&s, "cpu-starved");
		assert_non_null(f);
		assert_string_equal(strstr(f->text, "2.0 CPUs"), rows[i].text);
		assert_non_null(strstr(f->advice, rows[i].advice));
		assert_true(fix_evidence(f, "cpus") == rows[i].cpus);
	}
	/* One more thread that wants to run all the time than there are CPUs. */
	s.sched.cpus = 2;
	s.sched.runnable_ns = 1900 * MS;
	f = fix_judge(&s, "cpu-starved");
	assert_non_null(strstr(f->advice, "More threads want to run than"));
	summary_release(&s);
}

static void cpu_starved_counts_in_cpus(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	starved(&s);
	f = fix_judge(&s, "cpu-starved");
	assert_non_null(f);
	assert_non_null(strstr(f->text, "wait 500 ms for a CPU, 40 % of the time they want to "
			       "run"));
	assert_non_null(strstr(f->text, "1.2 CPUs wanted, 0.8 got"));
	assert_true(fix_evidence(f, "cpus_wanted") == 1.25);
	assert_true(f->severity == 0.5);
	assert_non_null(strstr(f->advice, "another load on the machine (top)"));
	s.sched.runnable_ns += MS;
	f = fix_judge(&s, "cpu-starved");
	assert_non_null(strstr(f->advice, "More threads want to run than"));
	summary_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_lived_threads),
		cmocka_unit_test(thread_stack_churn),
		cmocka_unit_test(slow_wakeup),
		cmocka_unit_test(cpu_starved),
		cmocka_unit_test(cpu_starved_counts_in_cpus),
		cmocka_unit_test(cpu_starved_knows_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
