/* SPDX-License-Identifier: MIT */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

/*
 * Reports made up: ten times and forty counts, each with a noise of its own that is
 * drawn for each report and the same for both sides. What is true of a metric stands
 * in a struct sim_metric; sim_fill draws the runs.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "draws.h"
#include "report/compare.h"

enum sim_noise {
	SIM_LOGNORMAL,		/* times */
	SIM_HEAVY,		/* Student's t, 3 degrees of freedom */
	SIM_OUTLIERS,		/* one run in 20 takes up to twice as long */
	SIM_TWO_MODES,		/* two levels, 3 to 15 % apart */
	SIM_DRIFT,		/* each side rises by 3 sd from its first run to its last */
	SIM_CONSTANT,		/* counts */
	SIM_JITTER,		/* one more or less in half of the runs */
	SIM_TWO_VALUES,		/* 1 to 8 % apart, or by one */
	SIM_POISSON,
	SIM_CONTENTION,		/* CV of 5 to 40 % */
	SIM_CORRELATED,		/* with each other, by a factor common to a run */
	SIM_RARE,		/* mostly 0 */
	SIM_BURST,		/* 0, and in one run of ten up to 200 */
};

struct sim_row { const char *name; enum sim_noise noise; };

static const struct sim_row sim_rows[] = {
	{ "time.wall", SIM_LOGNORMAL },
	{ "time.user", SIM_LOGNORMAL },
	{ "time.system", SIM_HEAVY },
	{ "time.blocked", SIM_OUTLIERS },
	{ "thread.cost_p50", SIM_LOGNORMAL },
	{ "thread.cost_p99", SIM_HEAVY },
	{ "lock.wait_p50", SIM_TWO_MODES },
	{ "lock.wait_p99", SIM_OUTLIERS },
	{ "pipe.blocked", SIM_DRIFT },
	{ "time.other", SIM_LOGNORMAL },
	{ "syscall.read", SIM_CONSTANT },
	{ "syscall.write", SIM_CONSTANT },
	{ "syscall.openat", SIM_CONSTANT },
	{ "syscall.close", SIM_CONSTANT },
	{ "syscall.mmap", SIM_CONSTANT },
	{ "syscall.clone3", SIM_CONSTANT },
	{ "syscall.fstat", SIM_CONSTANT },
	{ "syscall.lseek", SIM_CONSTANT },
	{ "syscall.ioctl", SIM_CONSTANT },
	{ "thread.created", SIM_CONSTANT },
	{ "pipe.chunks", SIM_CONSTANT },
	{ "pipe.bytes_per_chunk", SIM_CONSTANT },
	{ "syscall.mprotect", SIM_JITTER },
	{ "syscall.munmap", SIM_JITTER },
	{ "syscall.madvise", SIM_JITTER },
	{ "syscall.brk", SIM_JITTER },
	{ "syscall.getrandom", SIM_TWO_VALUES },
	{ "syscall.sigaltstack", SIM_TWO_VALUES },
	{ "syscall.epoll_wait", SIM_POISSON },
	{ "syscall.poll", SIM_POISSON },
	{ "syscall.recvfrom", SIM_POISSON },
	{ "syscall.sendto", SIM_POISSON },
	{ "syscall.nanosleep", SIM_POISSON },
	{ "syscall.getpid", SIM_POISSON },
	{ "mem.page_faults", SIM_POISSON },
	{ "futex.wait", SIM_CONTENTION },
	{ "futex.eagain", SIM_CONTENTION },
	{ "sched.switches", SIM_CONTENTION },
	{ "sched.migrations", SIM_CONTENTION },
	{ "syscall.sched_yield", SIM_CONTENTION },
	{ "mem.max_rss", SIM_CONTENTION },
	{ "syscall.futex", SIM_CORRELATED },
	{ "futex.wake", SIM_CORRELATED },
	{ "futex.wake_wasted", SIM_CORRELATED },
	{ "syscall.pread64", SIM_CORRELATED },
	{ "syscall.pwrite64", SIM_CORRELATED },
	{ "syscall.restart_syscall", SIM_RARE },
	{ "syscall.rt_sigreturn", SIM_RARE },
	{ "syscall.msync", SIM_BURST },
	{ "syscall.unlink", SIM_BURST },
};

#define SIM_METRICS (sizeof(sim_rows) / sizeof(sim_rows[0]))
#define SIM_RUNS 400

struct sim_metric {
	enum sim_noise noise;
	double level;
	double sd;		/* relative */
	double part, gap;	/* of the second mode */
};

struct sim_report {
	struct rng rng;
	struct sim_metric metric[SIM_METRICS];
	struct metric_pair pair[SIM_METRICS];
	double change[SIM_METRICS];	/* what the new side is multiplied by */
	double values[2][SIM_METRICS][SIM_RUNS];
	double common;		/* sd of the factor of SIM_CORRELATED */
	double drift;		/* of the machine: what a time grows by in all, 0.05 being 5 % */
	bool alternated;	/* runs take turns; else the drift begins anew for each side */
};

/*
 * In a sanitized build, which is slow and only looks for errors of memory, simulations
 * make a tenth of the rounds and check no rates.
 */
static inline bool sim_quick(void)
{
	const char *sanitized = getenv("TRACER_SANITIZED");

	return sanitized && *sanitized == '1';
}

/* One run: @place from 0, the first, to 1; @factor is that of correlated counts. */
static inline double sim_value(struct rng *r, const struct sim_metric *m, double place,
			       double factor)
{
	double level = m->level;

	switch (m->noise) {
	case SIM_LOGNORMAL:
		return level * draw_lognormal(r, m->sd);
	case SIM_HEAVY:
		return level * fmax(1 + m->sd * draw_heavy(r), 0.2);
	case SIM_OUTLIERS:
		level *= rng_unit(r) < 0.05 ? draw_between(r, 1.2, 2) : 1;
		return level * draw_lognormal(r, m->sd);
	case SIM_TWO_MODES:
		level *= rng_unit(r) < m->part ? 1 + m->gap : 1;
		return level * draw_lognormal(r, m->sd / 3);
	case SIM_DRIFT:
		return level * draw_lognormal(r, m->sd) * (1 + 3 * m->sd * place);
	case SIM_CONSTANT:
		return rint(level);
	case SIM_JITTER:
		return rint(level) + (double)rng_below(r, 2) + (double)rng_below(r, 2);
	case SIM_TWO_VALUES:
		return rint(level) + (rng_unit(r) < m->part ? ceil(level * m->gap / 2) : 0);
	case SIM_POISSON:
		return draw_poisson(r, level);
	case SIM_CONTENTION:
		return rint(level * draw_lognormal(r, m->sd));
	case SIM_CORRELATED:
		return rint(level * factor);
	case SIM_RARE:
		return draw_poisson(r, 0.1);
	case SIM_BURST:
		return rng_unit(r) < 0.1 ? 1 + rint(199 * rng_unit(r)) : 0;
	}
	return 0;
}

/* What is true of the metrics of a report; the changes are none. */
static inline void sim_init(struct sim_report *s, uint64_t seed)
{
	size_t i;

	memset(s, 0, sizeof(*s));
	rng_seed(&s->rng, seed);
	s->common = draw_between(&s->rng, 0.03, 0.2);
	for (i = 0; i < SIM_METRICS; i++) {
		enum sim_noise noise = sim_rows[i].noise;
		struct sim_metric *m = &s->metric[i];
		const struct metric_rule *rule = metric_find(sim_rows[i].name);

		m->noise = noise;
		m->level = noise < SIM_CONSTANT ? draw_scale(&s->rng, 1e8, 1e10)
			   : noise == SIM_CONTENTION ? draw_scale(&s->rng, 100, 1e6)
			   : draw_scale(&s->rng, 1, 1e6);
		m->sd = noise == SIM_CONTENTION ? draw_between(&s->rng, 0.05, 0.4)
			: draw_scale(&s->rng, 0.01, 0.1);
		m->part = draw_between(&s->rng, 0.2, 0.5);
		m->gap = draw_between(&s->rng, 0.03, 0.15);
		s->pair[i].name = sim_rows[i].name;
		s->pair[i].rule = rule ? *rule : *metric_default(noise < SIM_CONSTANT
								 ? METRIC_TIME : METRIC_COUNT);
		s->change[i] = 1;
	}
}

/* Draws @n runs a side, at most SIM_RUNS. */
static inline void sim_fill(struct sim_report *s, size_t n)
{
	size_t side, i, run;

	for (run = 0; run < n; run++) {
		for (side = 0; side < 2; side++) {
			double factor = draw_lognormal(&s->rng, s->common);
			double place = n > 1 ? (double)run / (double)(n - 1) : 0;
			double when = s->alternated ? ((double)(2 * run + side)) / (double)(2 * n)
				      : place;

			for (i = 0; i < SIM_METRICS; i++) {
				const struct sim_metric *m = &s->metric[i];
				double v = sim_value(&s->rng, m, place, factor);

				if (m->noise < SIM_CONSTANT)
					v *= 1 + s->drift * when;
				v *= side ? s->change[i] : 1;
				s->values[side][i][run] = m->noise < SIM_CONSTANT ? v : rint(v);
			}
		}
	}
	for (i = 0; i < SIM_METRICS; i++) {
		s->pair[i].base = (struct series){ s->values[0][i], n };
		s->pair[i].now = (struct series){ s->values[1][i], n };
	}
}

#endif
