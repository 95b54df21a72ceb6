/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "diagnose_fixture.h"

/* A system call that fails always, @calls times, and costs @ns each time. */
static void add_failing(struct summary *s, const char *name, uint64_t calls, uint64_t ns)
{
	struct sum_syscall *call = fix_call(s, name, calls, ns);

	call->errors = calls;
	call->by_errno = FIX_ARRAY(1, struct sum_errno);
	call->nby_errno = 1;
	call->by_errno[0] = (struct sum_errno){ ENOENT, calls };
}

static void a_quiet_program_has_no_findings(void **state)
{
	struct summary s;
	struct err err = { 0 };

	(void)state;
	fix_quiet(&s);
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 0);
	assert_null(s.finding);
	summary_release(&s);
	/* Nor has one of which nothing is known. */
	summary_init(&s);
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 0);
	s.collected = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED;
	s.mode = SUM_EXACT;
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 0);
	summary_release(&s);
}

static void the_most_severe_comes_first(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 20000);	/* 20 ms */
	s.futex.wakes = s.futex.wasted_wakes = 10000;
	fix_call(&s, "futex", 10000, 3000);	/* 30 ms */
	assert_null(fix_judge(&s, "tiny-io"));
	assert_int_equal(s.nfinding, 2);
	assert_string_equal(s.finding[0].id, "wasted-wakes");
	assert_string_equal(s.finding[1].id, "failing-calls");
	assert_true(s.finding[0].severity > s.finding[1].severity);
	summary_release(&s);
}

static void a_rule_shows_its_two_worst_cases(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 10000);
	add_failing(&s, "access", 1000, 40000);
	add_failing(&s, "openat", 1000, 30000);
	add_failing(&s, "readlink", 1000, 20000);
	assert_non_null(fix_judge(&s, "failing-calls"));
	assert_int_equal(s.nfinding, 2);
	assert_ptr_equal(strstr(s.finding[0].text, "access"), s.finding[0].text);
	assert_ptr_equal(strstr(s.finding[1].text, "openat"), s.finding[1].text);
	assert_non_null(strstr(s.finding[1].text, " (and 2 more like it)"));
	assert_true(fix_evidence(&s.finding[1], "similar") == 2);
	summary_release(&s);
}

static void equal_cases_keep_their_order(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 10000);
	add_failing(&s, "access", 1000, 10000);
	assert_non_null(fix_judge(&s, "failing-calls"));
	assert_ptr_equal(strstr(s.finding[0].text, "stat"), s.finding[0].text);
	assert_ptr_equal(strstr(s.finding[1].text, "access"), s.finding[1].text);
	assert_null(strstr(s.finding[1].text, "more like it"));
	summary_release(&s);
}

static void findings_are_replaced_not_added(void **state)
{
	struct summary s;
	struct err err = { 0 };

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 20000);
	assert_non_null(fix_judge(&s, "failing-calls"));
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 1);
	s.syscall[0].calls = s.syscall[0].errors = s.syscall[0].by_errno[0].count = 1;
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 0);
	summary_release(&s);
}

/* What a daemon does in its few busy milliseconds is not worth a sentence. */
static void nothing_is_found_below_a_hundredth_of_the_time(void **state)
{
	struct summary s;

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 20000);	/* 20 ms, all of the CPU time */
	s.sched.oncpu_ns = 20 * MS;
	s.duration_ns = 2 * SEC;
	assert_non_null(fix_judge(&s, "failing-calls"));
	s.duration_ns = 2 * SEC + 1000;
	assert_null(fix_judge(&s, "failing-calls"));
	summary_release(&s);
}

static void losses_withhold_and_are_owned_up_to(void **state)
{
	const struct sum_finding *f;
	struct summary s;

	(void)state;
	fix_quiet(&s);
	add_failing(&s, "stat", 1000, 20000);
	add_failing(&s, "access", 2000, 20000);
	s.loss.map_full = s.loss.total = 10;
	f = fix_judge(&s, "failing-calls");
	assert_non_null(f);
	assert_true(fix_evidence(f, "lost") == 10);
	assert_null(fix_judge(&s, "counts-incomplete"));

	s.loss.map_full = s.loss.total = 11;	/* over 1 % of 1,000, not of 2,000 */
	assert_non_null(fix_judge(&s, "failing-calls"));
	f = fix_judge(&s, "counts-incomplete");
	assert_non_null(f);
	assert_int_equal(s.nfinding, 2);
	assert_string_equal(f->text, "1 finding is withheld: 11 events were lost, more than 1 % of "
			    "the 1,000 that it rests on");
	assert_true(f->severity > 0.0199 && f->severity < 0.0201);

	s.loss.map_full = s.loss.total = 21;
	assert_null(fix_judge(&s, "failing-calls"));
	f = fix_judge(&s, "counts-incomplete");
	assert_string_equal(f->text, "2 findings are withheld: 21 events were lost, more than 1 % "
			    "of the 2,000 that the worst rests on");
	summary_release(&s);
}

/* Losses alone are the ledger's matter. */
static void losses_without_a_suspicion_are_no_finding(void **state)
{
	struct summary s;
	struct err err = { 0 };

	(void)state;
	fix_quiet(&s);
	s.loss.ring_full = s.loss.total = 1000000;
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.nfinding, 0);
	summary_release(&s);
}

static void every_rule_has_an_id_of_its_own(void **state)
{
	const char *id;
	size_t i, j;

	(void)state;
	for (i = 0; (id = diagnose_id(i)); i++) {
		assert_int_equal(strspn(id, "abcdefghijklmnopqrstuvwxyz-"), strlen(id));
		assert_true(strlen(diagnose_title(i)) > 10);
		for (j = 0; j < i; j++)
			assert_string_not_equal(id, diagnose_id(j));
	}
	assert_true(i >= 11);
	assert_null(diagnose_title(i));
}

static void what_could_not_be_judged_is_counted(void **state)
{
	struct summary s;
	struct err err = { 0 };

	(void)state;
	fix_quiet(&s);
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.judged.judged, s.judged.rules);
	assert_true(s.judged.rules >= 20);
	assert_int_equal(s.judged.by_mode + s.judged.by_collect, 0);
	s.mode = SUM_WAIT;
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.judged.judged, 5);
	assert_int_equal(s.judged.by_mode, s.judged.rules - 5);
	assert_int_equal(s.judged.by_collect, 0);
	s.collected = SUM_SCHED;
	assert_int_equal(diagnose(&s, &err), 0);
	assert_int_equal(s.judged.judged, 1);	/* cpu-starved */
	assert_int_equal(s.judged.by_collect, s.judged.rules - 1);
	summary_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_quiet_program_has_no_findings),
		cmocka_unit_test(the_most_severe_comes_first),
		cmocka_unit_test(a_rule_shows_its_two_worst_cases),
		cmocka_unit_test(equal_cases_keep_their_order),
		cmocka_unit_test(findings_are_replaced_not_added),
		cmocka_unit_test(nothing_is_found_below_a_hundredth_of_the_time),
		cmocka_unit_test(losses_withhold_and_are_owned_up_to),
		cmocka_unit_test(losses_without_a_suspicion_are_no_finding),
		cmocka_unit_test(what_could_not_be_judged_is_counted),
		cmocka_unit_test(every_rule_has_an_id_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
