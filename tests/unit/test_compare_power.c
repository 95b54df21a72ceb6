/* SPDX-License-Identifier: MIT */
#include "near.h"
#include "sim_report.h"

/* What is found: a change within a report of fifty metrics, of which no other changed. */

static struct sim_report sim;
static struct metric_result result[SIM_METRICS];

static size_t metric_index(const char *name)
{
	size_t i;

	for (i = 0; i < SIM_METRICS; i++)
		if (!strcmp(sim_rows[i].name, name))
			return i;
	fail_msg("there is no %s", name);
	return 0;
}

/*
 * Makes @name, with the noise @m, larger by the factor @change: it must be found worse in
 * the part @least of @reports.
 */
static void check_found(const char *name, const struct sim_metric *m, double change, size_t runs,
			unsigned int reports, double least)
{
	size_t at = metric_index(name);
	unsigned int hits = 0, round;
	struct err err;

	reports = sim_quick() ? reports / 10 : reports;
	for (round = 0; round < reports; round++) {
		sim_init(&sim, round * 99991UL + at);
		sim.metric[at] = *m;
		sim.change[at] = change;
		sim_fill(&sim, runs);
		assert_int_equal(compare_metrics(sim.pair, SIM_METRICS, NULL, result, &err), 0);
		hits += result[at].verdict == COMPARE_WORSE;
	}
	print_message("# %s times %g, %zu runs a side: worse in %.1f %% of %u reports\n", name,
		      change, runs, 100. * hits / reports, reports);
	assert_true(sim_quick() || hits >= least * reports);
}

static void five_percent_of_a_time_with_ten_runs(void **state)
{
	static const struct sim_metric m = { .noise = SIM_LOGNORMAL, .level = 1e9, .sd = 0.02 };

	(void)state;
	check_found("time.wall", &m, 1.05, 10, 1000, 0.95);
	check_found("time.user", &m, 1.05, 10, 1000, 0.95);
	/* Without a row in the table: a sixth of the share of time.wall. */
	check_found("time.other", &m, 1.05, 10, 500, 0.8);
	check_found("time.other", &m, 1.10, 10, 200, 0.99);
}

static void large_changes_of_what_varies_much(void **state)
{
	static const struct sim_metric m = { .noise = SIM_LOGNORMAL, .level = 1e8, .sd = 0.05 };

	(void)state;
	check_found("thread.cost_p99", &m, 1.5, 10, 200, 0.99);
	check_found("lock.wait_p99", &m, 1.5, 10, 200, 0.99);
	check_found("time.blocked", &m, 1.25, 10, 200, 0.95);
}

static void one_more_call_an_item_with_three_runs(void **state)
{
	static const struct {
		const char *name;
		struct sim_metric m;
		double change;
		double least;
	} rows[] = {
		{ "futex.wait", { .noise = SIM_CONSTANT, .level = 3000 }, 4. / 3, 0.99 },
		{ "syscall.futex", { .noise = SIM_CONSTANT, .level = 2e6 }, 1.5, 0.99 },
		{ "syscall.futex", { .noise = SIM_JITTER, .level = 300 }, 4. / 3, 0.99 },
		{ "futex.wake", { .noise = SIM_CONSTANT, .level = 100 }, 2, 0.99 },
		{ "thread.created", { .noise = SIM_CONSTANT, .level = 8 }, 2, 0.99 },
		{ "syscall.read", { .noise = SIM_JITTER, .level = 200 }, 2, 0.99 },
		{ "syscall.poll", { .noise = SIM_POISSON, .level = 30000 }, 4. / 3, 0.85 },
		/* What three runs find of counts that vary by half a percent, or by one. */
		{ "futex.wait", { .noise = SIM_CONTENTION, .level = 30000, .sd = 0.005 },
		  4. / 3, 0.9 },
		{ "futex.wait", { .noise = SIM_CONTENTION, .level = 30000, .sd = 0.01 }, 2, 0.9 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_found(rows[i].name, &rows[i].m, rows[i].change, 3, 200, rows[i].least);
}

struct plan {
	const char *name;
	struct sim_metric m;
	double change;
	size_t runs;		/* a side, at first */
};

/* @n new runs a side of the metric alone; @alpha as it has it in a report of fifty. */
static const struct metric_result *compare_fresh(const struct plan *p, size_t n, double alpha,
						 struct rng *r)
{
	static double value[2][20000];
	const struct compare_opts opts = { .fdr = alpha, .level = 0.95 };
	struct metric_pair pair = { .name = p->name, .rule = *metric_find(p->name),
				    .base = { value[0], n }, .now = { value[1], n } };
	struct err err;
	size_t side, i;

	for (side = 0; side < 2; side++)
		for (i = 0; i < n; i++)
			value[side][i] = rint(sim_value(r, &p->m, 0, 1) * (side ? p->change : 1));
	assert_int_equal(compare_metrics(&pair, 1, &opts, result, &err), 0);
	return result;
}

/*
 * Of the comparisons that are inconclusive at first, 80 % must be decided with as many
 * runs as were said to be needed.
 */
static void check_decided(const struct plan *p, double alpha)
{
	unsigned int rounds = sim_quick() ? 15 : 150, open = 0, decisions = 0, round;
	double needed = 0;
	struct rng r;

	rng_seed(&r, p->runs);
	for (round = 0; round < rounds; round++) {
		uint64_t n = compare_fresh(p, p->runs, alpha, &r)->runs_needed;

		if (!n)
			continue;
		open++;
		needed += (double)n;
		compare_fresh(p, n < 20000 ? n : 20000, alpha, &r);
		decisions += result->verdict != COMPARE_INCONCLUSIVE;
	}
	assert_true(open > rounds / 8);
	print_message("# %s times %g, %zu runs a side: %u of %u inconclusive, %.0f runs needed in "
		      "the mean, with which %.0f %% are decided\n", p->name, p->change, p->runs,
		      open, rounds, needed / open, 100. * decisions / open);
	assert_true(sim_quick() || decisions >= 0.8 * open);
}

static void as_many_runs_as_it_says_decide(void **state)
{
	static const struct sim_metric t2 = { .noise = SIM_LOGNORMAL, .level = 1e9, .sd = 0.02 };
	static const struct sim_metric t5 = { .noise = SIM_LOGNORMAL, .level = 1e9, .sd = 0.05 };
	static const struct sim_metric heavy = { .noise = SIM_HEAVY, .level = 1e9, .sd = 0.02 };
	static const struct sim_metric lock = { .noise = SIM_CONTENTION, .level = 3000,
						.sd = 0.1 };
	static const struct sim_metric poisson = { .noise = SIM_POISSON, .level = 1000 };
	const struct plan plans[] = {
		{ "time.wall", t2, 1, 3 }, { "time.wall", t2, 1, 5 }, { "time.wall", t2, 1, 10 },
		{ "time.wall", t5, 1, 10 }, { "time.wall", t5, 1.05, 10 },
		{ "time.wall", t5, 1.1, 5 }, { "time.wall", t5, 1.15, 3 },
		{ "time.wall", heavy, 1, 5 }, { "time.wall", heavy, 1.06, 5 },
	};
	const struct plan counts[] = {
		{ "futex.wait", lock, 1, 3 }, { "futex.wait", lock, 1, 10 },
		{ "futex.wait", lock, 1.33, 5 }, { "syscall.poll", poisson, 1, 5 },
		{ "syscall.poll", poisson, 1.1, 5 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(plans) / sizeof(plans[0]); i++)
		check_decided(&plans[i], 0.006);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		check_decided(&counts[i], 0.00015);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(five_percent_of_a_time_with_ten_runs),
		cmocka_unit_test(large_changes_of_what_varies_much),
		cmocka_unit_test(one_more_call_an_item_with_three_runs),
		cmocka_unit_test(as_many_runs_as_it_says_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
