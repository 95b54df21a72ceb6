/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "near.h"
#include "sim_report.h"

/*
 * A against A: how many of the reports on two sets of runs of the same program say of
 * any metric that it became worse. At least 200 reports for each case;
 * COMPARE_REPORTS=N in the environment takes at least N, for the figures of
 * docs/statistics.md.
 */

static struct sim_report sim;
static struct metric_result result[SIM_METRICS];

struct sim_case {
	const char *name;
	unsigned int reports;
	size_t nb, nn;
	double drift;
	bool alternated;
	double sd;		/* of all times, lognormal; 0: as sim_report.h has them */
};

static unsigned int reports_wanted(const struct sim_case *c)
{
	const char *text = getenv("COMPARE_REPORTS");
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;

	if (n > c->reports && n <= 1000000)
		return (unsigned int)n;
	return sim_quick() ? c->reports / 10 : c->reports;
}

static void prepare(const struct sim_case *c, unsigned int round)
{
	size_t i;

	sim_init(&sim, round * 1000003UL + c->nb * 1009 + c->nn * 17 + c->alternated);
	sim.drift = c->drift;
	sim.alternated = c->alternated;
	for (i = 0; c->sd > 0 && i < SIM_METRICS; i++) {
		if (sim.metric[i].noise >= SIM_CONSTANT)
			break;
		sim.metric[i].noise = SIM_LOGNORMAL;
		sim.metric[i].sd = c->sd;
	}
	sim_fill(&sim, c->nb > c->nn ? c->nb : c->nn);
	for (i = 0; i < SIM_METRICS; i++) {
		sim.pair[i].base.n = c->nb;
		sim.pair[i].now.n = c->nn;
	}
}

static void check_alarms(const struct sim_case *c)
{
	struct compare_opts opts = compare_defaults;
	unsigned int reports = reports_wanted(c), worse = 0, better = 0, round;
	unsigned long same = 0;
	struct err err;
	size_t i;

	opts.alternated = c->alternated;
	for (round = 0; round < reports; round++) {
		bool any_worse = false, any_better = false;

		prepare(c, round);
		assert_int_equal(compare_metrics(sim.pair, SIM_METRICS, &opts, result, &err), 0);
		for (i = 0; i < SIM_METRICS; i++) {
			any_worse |= result[i].verdict == COMPARE_WORSE;
			any_better |= result[i].verdict == COMPARE_BETTER;
			same += result[i].verdict == COMPARE_SAME;
		}
		worse += any_worse;
		better += any_better;
	}
	print_message("# %s, %zu against %zu runs, %u reports: worse in %.2f %%, better in "
		      "%.2f %%; of %zu metrics %.1f are the same\n", c->name, c->nb, c->nn, reports,
		      100. * worse / reports, 100. * better / reports, SIM_METRICS,
		      (double)same / reports);
	if (reports < c->reports)
		return;
	assert_true(worse * 100 <= reports);
	assert_true(better * 100 <= 2 * reports);
}

static void one_after_the_other(void **state)
{
	static const size_t runs[] = { 3, 5, 7, 10, 30 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		check_alarms(&(struct sim_case){ "mixed", 200, runs[i], runs[i], 0, false, 0 });
}

static void taking_turns_on_a_machine_that_drifts(void **state)
{
	static const size_t runs[] = { 3, 5, 10, 30 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		check_alarms(&(struct sim_case){ "drift 5 %", 200, runs[i], runs[i], 0.05, true,
						 0 });
	check_alarms(&(struct sim_case){ "drift 20 %", 200, 10, 10, 0.2, true, 0 });
}

static void sides_of_different_size(void **state)
{
	(void)state;
	check_alarms(&(struct sim_case){ "mixed", 200, 30, 3, 0, false, 0 });
	check_alarms(&(struct sim_case){ "mixed", 200, 3, 20, 0, false, 0 });
	check_alarms(&(struct sim_case){ "mixed", 200, 10, 5, 0, false, 0 });
}

static void all_times_are_noisy(void **state)
{
	(void)state;
	check_alarms(&(struct sim_case){ "all times 3.5 %", 1000, 10, 10, 0, false, 0.035 });
	check_alarms(&(struct sim_case){ "all times 10 %", 1000, 10, 10, 0, false, 0.1 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_the_other),
		cmocka_unit_test(taking_turns_on_a_machine_that_drifts),
		cmocka_unit_test(sides_of_different_size),
		cmocka_unit_test(all_times_are_noisy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
