/* SPDX-License-Identifier: MIT */
#include "report/metrics.h"

#include <string.h>

#define MS 1e6
#define US 1e3
#define KIB 1024.

/*
 * Minima are what a run of the same program moves by for reasons of the machine's: a
 * scheduler's counts and tail percentiles much, system calls hardly. The share of
 * time.wall is large since it is what people wait for; those of counts are small
 * because a count that did change is far beyond any threshold.
 */
#define COUNT(r, d, u) { METRIC_COUNT, u, .min_ratio = r, .min_delta = d, .weight = 0.125 }
#define TIME(r, d, w) { METRIC_TIME, "ns", .min_ratio = r, .min_delta = d, .weight = w }

const struct metric_row metric_rows[] = {
	{ "time.wall", TIME(0.025, 100 * US, 6) },
	{ "time.user", TIME(0.025, 1 * MS, 5) },
	{ "time.system", TIME(0.05, 1 * MS, 1) },
	{ "time.blocked", TIME(0.10, 1 * MS, 0.25) },
	{ "thread.cost_p50", TIME(0.10, 1 * US, 0.25) },
	{ "thread.cost_p99", TIME(0.25, 5 * US, 0.25) },
	/* The mean of one of a thread's stages, such as thread.stage_stack. */
	{ "thread.stage_*", TIME(0.10, 1 * US, 0.25) },
	{ "lock.wait_p50", TIME(0.10, 1 * US, 0.25) },
	{ "lock.wait_p99", TIME(0.25, 5 * US, 0.25) },
	{ "pipe.blocked", TIME(0.10, 1 * MS, 0.25) },
	{ "cpu.instructions", COUNT(0.01, 100000, "") },
	/* How often a lock is waited for depends on who meets whom. */
	{ "syscall.futex", COUNT(0.05, 16, "") },
	{ "syscall.*", COUNT(0.02, 4, "") },
	{ "futex.wake_wasted", COUNT(0.10, 16, "") },
	{ "futex.eagain", COUNT(0.10, 16, "") },
	{ "futex.*", COUNT(0.05, 16, "") },
	{ "thread.created", COUNT(0.01, 2, "") },
	{ "process.created", COUNT(0.01, 2, "") },
	{ "pipe.chunks", COUNT(0.02, 4, "") },
	{ "pipe.bytes_per_chunk", { METRIC_COUNT, "B", .min_ratio = 0.02, .min_delta = 16,
				    .weight = 0.125, .more_is_better = true } },
	/* These three also count what the machine's other work does to the program. */
	{ "sched.switches", COUNT(0.10, 64, "") },
	{ "sched.migrations", COUNT(0.25, 64, "") },
	{ "mem.page_faults", COUNT(0.05, 64, "") },
	{ "mem.mmap_bytes", COUNT(0.02, 64 * KIB, "B") },
	{ "mem.max_rss", COUNT(0.05, 512 * KIB, "B") },
	/* Of Go's benchmarks (import_gobench.c): amounts an operation, and rates. */
	{ "go.cost.allocs/op *", COUNT(0.01, 0.5, "") },
	{ "go.cost.B/op *", COUNT(0.02, 8, "B") },
	{ "go.cost.*", TIME(0.03, 0, 1) },
	{ "go.rate.*", { METRIC_TIME, "", .min_ratio = 0.03, .weight = 1,
			 .more_is_better = true } },
};
const size_t metric_nrows = sizeof(metric_rows) / sizeof(metric_rows[0]);

static const struct metric_rule defaults[] = {
	[METRIC_COUNT] = COUNT(0.02, 4, ""),
	[METRIC_TIME] = TIME(0.03, 0, 1),
};

static bool pattern_fits(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return !strncmp(pattern, name, n - 1);
	return !strcmp(pattern, name);
}

const struct metric_rule *metric_find(const char *name)
{
	size_t i;

	for (i = 0; i < metric_nrows; i++)
		if (pattern_fits(metric_rows[i].pattern, name))
			return &metric_rows[i].rule;
	return NULL;
}

const struct metric_rule *metric_default(enum metric_kind kind)
{
	return &defaults[kind];
}
