/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "diagnose_fixture.h"

static void more_cpu(struct summary *s) { s->sched.oncpu_ns += 2 * MS; }
static void wait_mode(struct summary *s) { s->mode = SUM_WAIT; }
static void no_calls(struct summary *s) { s->collected &= ~(unsigned int)SUM_SYSCALLS; }

static void add_error(struct sum_syscall *call, int err, uint64_t count)
{
	call->by_errno = realloc(call->by_errno, (call->nby_errno + 1) * sizeof(*call->by_errno));
	assert_non_null(call->by_errno);
	call->by_errno[call->nby_errno++] = (struct sum_errno){ err, count };
	call->errors += count;
}

/* --- failing-calls: 1,000, 60 %, 1 % --- */

static void failing(struct summary *s)
{
	struct sum_syscall *call = fix_call(s, "openat", 1666, 10000);	/* 10 ms in failures */

	add_error(call, ENOENT, 900);
	add_error(call, EACCES, 100);
}

static void fewer_failures(struct summary *s)
{
	s->syscall[0].errors = 999;
	s->syscall[0].calls = 1660;	/* still over 60 % */
	s->syscall[0].by_errno[0].count = 899;
	s->syscall[0].cpu_ns *= 2;
}

static void more_successes(struct summary *s)
{
	s->syscall[0].calls = 1667;
	s->syscall[0].cpu_ns += 20000;
}

static void interrupted(struct summary *s) { s->syscall[0].by_errno[0].err = EINTR; }
static void no_attribute(struct summary *s) { s->syscall[0].by_errno[0].err = ENODATA; }
static void a_futex(struct summary *s) { s->syscall[0].name = "futex"; }

static void connecting(struct summary *s)
{
	s->syscall[0].name = "connect";
	s->syscall[0].by_errno[0].err = EINPROGRESS;
}

static void failing_calls(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "999 failures", fewer_failures },
		{ "under 60 % failing", more_successes },
		{ "a cost under 1 %", more_cpu },
		{ "EINTR", interrupted },
		{ "ENODATA", no_attribute },
		{ "connect's EINPROGRESS", connecting },
		{ "being a futex", a_futex },
		{ "calls not collected", no_calls },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("failing-calls", failing, knobs);
}

static void failing_calls_names_the_error_and_advises_by_it(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	failing(&s);
	f = fix_judge(&s, "failing-calls");
	assert_non_null(f);
	assert_string_equal(f->text, "openat fails 1,000 of 1,666 times (60 %), mostly with "
			    "ENOENT: about 10.0 ms");
	assert_non_null(strstr(f->advice, "which paths are tried"));
	assert_true(fix_evidence(f, "errno") == ENOENT);
	s.syscall[0].by_errno[0].err = EXDEV;
	f = fix_judge(&s, "failing-calls");
	assert_non_null(strstr(f->text, "EXDEV"));
	assert_non_null(strstr(f->advice, "asked for in vain"));
	/* Errors without a count by errno still count. */
	s.syscall[0].nby_errno = 0;
	f = fix_judge(&s, "failing-calls");
	assert_non_null(strstr(f->text, "an unknown error"));
	summary_release(&s);
}

/* --- busy-poll: 5,000, 3 for each transfer, short, 5 % --- */

static void polling(struct summary *s)
{
	fix_call(s, "poll", 6000, 9000);	/* 54 ms */
	fix_call(s, "read", 2500, 500);
	add_error(&s->syscall[1], EAGAIN, 500);
}

static void fewer_polls(struct summary *s)
{
	s->syscall[0].calls = 4999;
	s->syscall[1].calls = 0;
}

static void a_read_more(struct summary *s) { s->syscall[1].errors--; }
static void polls_that_wait(struct summary *s) { s->syscall[0].wall = fix_hist(12000, 6000); }
static void cheap_polls(struct summary *s) { s->syscall[0].cpu_ns = 49 * MS; }

static void busy_poll(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "4,999 polls", fewer_polls },
		{ "a transfer for every third", a_read_more },
		{ "polls that wait", polls_that_wait },
		{ "a cost under 5 %", cheap_polls },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("busy-poll", polling, knobs);
}

static void yielding(struct summary *s)
{
	fix_call(s, "sched_yield", 5000, 10000);	/* 50 ms */
	fix_call(s, "read", 100000, 500);	/* does not excuse it */
}

static void fewer_yields(struct summary *s)
{
	s->syscall[0].calls = 4999;
	s->syscall[0].cpu_ns *= 2;
}

/* 5,000 sleeps at 8 µs of CPU and 2 µs of switching: 50 ms. */
static void napping(struct summary *s)
{
	fix_call(s, "clock_nanosleep", 5000, 190000);
	s->syscall[0].cpu_ns = 5000 * 8000;
}

static void longer_naps(struct summary *s) { s->syscall[0].wall = fix_hist(230000, 5000); }
static void cheaper_naps(struct summary *s) { s->syscall[0].cpu_ns -= MS; }

static void busy_poll_by_yielding_and_sleeping(void **state)
{
	static const struct fix_knob yields[] = {
		{ "4,999 yields", fewer_yields },
		{ "a cost under 5 %", more_cpu },
	};
	static const struct fix_knob naps[] = {
		{ "sleeps over 200 µs", longer_naps },
		{ "a cost under 5 %", cheaper_naps },
	};

	(void)state;
	FIX_BOTH_SIDES("busy-poll", yielding, yields);
	FIX_BOTH_SIDES("busy-poll", napping, naps);
}

/* --- tiny-io: 100,000 beside the pipes, under a microsecond, 10 % --- */

static void many_reads(struct summary *s)
{
	fix_call(s, "read", 110000, 950);	/* 95 ms for 100,000 */
	s->syscall[0].cpu_ns = 110000 * 1000;
	s->pipe = FIX_ARRAY(1, struct sum_pipe);
	s->npipe = 1;
	s->pipe[0].chunks_read = 10000;
	s->pipe[0].chunks_written = 50000;
}

static void one_through_the_pipe_more(struct summary *s)
{
	s->pipe[0].chunks_read++;
	s->syscall[0].cpu_ns *= 2;
}

static void longer_reads(struct summary *s) { s->syscall[0].wall = fix_hist(1100, 110000); }

static void tiny_io(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "99,999 reads of files", one_through_the_pipe_more },
		{ "a median over a microsecond", longer_reads },
		{ "a cost under 10 %", more_cpu },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("tiny-io", many_reads, knobs);
}

/* --- memory-churn: 5,000 that are neither stacks nor programs being loaded, 5 % --- */

static void churn(struct summary *s)
{
	fix_call(s, "mmap", 2660, 4000);
	fix_call(s, "munmap", 2600, 19100);
	fix_call(s, "execve", 1, 1000);
	s->threads.created = 50;
	/* (10.64 + 49.66 ms) × 5,000 / 5,260 = 57.3 ms */
	s->sched.oncpu_ns = 1146 * MS;
}

static void one_stack_more(struct summary *s)
{
	s->threads.created++;
	s->syscall[1].cpu_ns *= 2;
}

static void one_program_more(struct summary *s)
{
	s->syscall[2].calls++;
	s->syscall[1].cpu_ns *= 2;
}

static void memory_churn(void **state)
{
	static const struct fix_knob knobs[] = {
		{ "a stack more", one_stack_more },
		{ "a program more", one_program_more },
		{ "a cost under 5 %", more_cpu },
		{ "wait mode", wait_mode },
	};

	(void)state;
	FIX_BOTH_SIDES("memory-churn", churn, knobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failing_calls),
		cmocka_unit_test(failing_calls_names_the_error_and_advises_by_it),
		cmocka_unit_test(busy_poll),
		cmocka_unit_test(busy_poll_by_yielding_and_sleeping),
		cmocka_unit_test(tiny_io),
		cmocka_unit_test(memory_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
