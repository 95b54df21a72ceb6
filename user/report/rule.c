/* SPDX-License-Identifier: MIT */
#include "report/rule.h"

#include <stdio.h>
#include <string.h>

#include "stats/units.h"

/*
 * What a short system call costs where none was measured: entry, exit and a
 * little work, with the mitigations that today's kernels switch on.
 */
#define GUESS_CALL_NS 500
/*
 * Two context switches and the waker's inter-processor interrupt, without the
 * time on a run queue: 1.5 to 3 µs on machines of the last ten years.
 */
#define GUESS_SWITCH_NS 2000
/* The part of the traced time below which nothing is worth a sentence. */
#define LEAST_WALL_PART 0.01

double rule_part(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static double most_cpu_ns(const struct summary *s)
{
	uint64_t live = s->threads.live_peak ? s->threads.live_peak : 1;

	return (double)s->duration_ns * (double)live;
}

double rule_cpu_ns(const struct summary *s)
{
	if (s->collected & SUM_SCHED && s->sched.oncpu_ns)
		return (double)s->sched.oncpu_ns;
	return most_cpu_ns(s);
}

double rule_active_ns(const struct summary *s)
{
	if (s->collected & SUM_SCHED && s->sched.oncpu_ns)
		return (double)s->sched.oncpu_ns + (double)s->sched.runnable_ns;
	return most_cpu_ns(s);
}

bool rule_worth(const struct rule *r, const struct summary *s, double cost_ns)
{
	return cost_ns > 0 && cost_ns >= r->limit.cost * rule_cpu_ns(s) &&
	       cost_ns >= LEAST_WALL_PART * (double)s->duration_ns;
}

const struct sum_syscall *rule_call(const struct summary *s, const char *name)
{
	size_t i;

	if (!(s->collected & SUM_SYSCALLS))
		return NULL;
	for (i = 0; i < s->nsyscall; i++)
		if (!strcmp(s->syscall[i].name, name))
			return &s->syscall[i];
	return NULL;
}

double rule_call_ns(const struct summary *s, const char *name)
{
	const struct sum_syscall *call = rule_call(s, name);

	if (!call || !call->calls || !call->cpu_ns || s->mode != SUM_EXACT)
		return GUESS_CALL_NS;
	return (double)call->cpu_ns / (double)call->calls;
}

double rule_switch_ns(const struct summary *s)
{
	double queued = 0;

	if (s->collected & SUM_SCHED)
		queued = (double)hist_quantile(&s->sched.runq, 0.5);
	return GUESS_SWITCH_NS + queued;
}

struct rule_comm rule_comm(const char *comm, pid_t tid)
{
	struct rule_comm t;

	if (comm && comm[0])
		snprintf(t.s, sizeof(t.s), "%.*s (%d)", SUM_COMM, comm, (int)tid);
	else
		snprintf(t.s, sizeof(t.s), "thread %d", (int)tid);
	return t;
}
