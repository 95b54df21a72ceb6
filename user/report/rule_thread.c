/* SPDX-License-Identifier: MIT */
/* Rules over the making of threads and over the CPU they get. */
#include "report/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stats/units.h"

/* Creation and end of all threads against all that the threads wanted to run. */
static double cost_part(const struct summary *s, double cost_ns)
{
	return rule_part(cost_ns, rule_active_ns(s));
}

/* Threads that live hardly longer than it costs to make them. */
int rule_short_lived_threads(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct sum_threads *t = &s->threads;
	const double cost = (double)t->cost.sum;
	const uint64_t life = hist_quantile(&t->lifetime, 0.5);
	const uint64_t each = hist_quantile(&t->cost, 0.5);
	const struct sum_evidence evidence[] = {
		{ "created", (double)t->created },
		{ "lifetime_p50_ns", (double)life },
		{ "cost_p50_ns", (double)each },
		{ "cost_ns", cost },
		{ "active_part", cost_part(s, cost) },
	};
	const struct rule_case c = { cost, t->created, RULE_EVIDENCE(evidence), NULL };

	if (t->lifetime.count < r->limit.count || !each ||
	    (double)life >= r->limit.ratio * (double)each || !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s threads were created that live %s (median) and cost %s "
			   "each to make and to end: %s in all", units_count(t->created).s,
			   units_time((double)life).s, units_time((double)each).s,
			   units_time(cost).s);
}

/* Calls of @name that creating threads made on the way. */
static uint64_t way_calls(const struct summary *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->threads.nway; i++)
		if (!strcmp(s->threads.way[i].name, name))
			return s->threads.way[i].calls;
	return 0;
}

/*
 * Stacks mapped and unmapped for each thread instead of taken from the cache.
 * The unmapping, which frees the pages and is most of it, falls to whoever
 * joins and is in no stage: it is taken from the calls.
 */
int rule_thread_stack_churn(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct sum_threads *t = &s->threads;
	const struct sum_syscall *unmap = rule_call(s, "munmap");
	const uint64_t mapped = way_calls(s, "mmap");
	const uint64_t freed = !unmap ? 0 : unmap->calls < mapped ? unmap->calls : mapped;
	const double cost = (double)t->stage[SUM_STAGE_STACK].sum +
			    (double)freed * rule_call_ns(s, "munmap");
	const struct sum_evidence evidence[] = {
		{ "created", (double)t->created },
		{ "mapped", (double)mapped },
		{ "unmapped", (double)freed },
		{ "cost_ns", cost },
		{ "cpu_part", rule_part(cost, rule_cpu_ns(s)) },
	};
	const struct rule_case c = { cost, mapped, RULE_EVIDENCE(evidence), NULL };

	if (freed < r->limit.count || (double)mapped < r->limit.part * (double)t->created ||
	    !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s of %s new threads had their stack mapped anew, and as "
			   "many were unmapped: %s, %s of the CPU time used",
			   units_count(mapped).s, units_count(t->created).s, units_time(cost).s,
			   units_percent(rule_part(cost, rule_cpu_ns(s))).s);
}

/* New threads that wait for a CPU before their first instruction. */
int rule_slow_wakeup(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct hist *h = &s->threads.stage[SUM_STAGE_WAKEUP];
	const double cost = (double)h->sum;
	const double part = rule_part(cost, (double)s->threads.cost.sum);
	const uint64_t each = hist_quantile(h, 0.5);
	const struct sum_evidence evidence[] = {
		{ "created", (double)h->count },
		{ "wakeup_ns", cost },
		{ "wakeup_p50_ns", (double)each },
		{ "wakeup_part", part },
	};
	const struct rule_case c = { cost, h->count, RULE_EVIDENCE(evidence), NULL };

	if (h->count < r->limit.count || each < r->limit.ns || part < r->limit.part ||
	    !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s new threads wait %s (median) for a CPU before they begin, "
			   "%s of what they cost: %s in all", units_count(h->count).s,
			   units_time((double)each).s, units_percent(part).s, units_time(cost).s);
}

/* A program that wants no more than this cannot be what keeps its threads waiting. */
#define ONE_CPU 1.25

static const char others_advice[] =
	"The program wants one CPU and does not get it: look for another load on the machine "
	"(top), a CPU quota (cpu.max) or threads bound to one CPU (taskset).";

/* The same slack for a program that wants no more than all the machine has. */
#define CPU_SLACK (ONE_CPU - 1)

static const char enough_advice[] =
	"The program wants no more CPUs than the machine has and does not get them: look for "
	"another load on the machine (top), a CPU quota (cpu.max), threads bound to few CPUs "
	"(taskset), or threads that all become ready at once.";

/* What to do, when it is not to run fewer threads. */
static const char *starved_advice(double wanted, uint32_t cpus)
{
	if (wanted <= ONE_CPU)
		return others_advice;
	return wanted <= cpus + CPU_SLACK ? enough_advice : NULL;
}

/* Threads ready to run that get no CPU. */
int rule_cpu_starved(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const double waited = (double)s->sched.runnable_ns, ran = (double)s->sched.oncpu_ns;
	const double part = rule_part(waited, waited + ran), wall = (double)s->duration_ns;
	const double wanted = rule_part(waited + ran, wall), got = rule_part(ran, wall);
	char of[24] = "";
	const struct sum_evidence evidence[] = {
		{ "runnable_ns", waited },
		{ "oncpu_ns", ran },
		{ "runnable_part", part },
		{ "cpus_wanted", wanted },
		{ "cpus_got", got },
		{ "cpus", (double)s->sched.cpus },
		{ "runq_p99_ns", (double)hist_quantile(&s->sched.runq, 0.99) },
	};
	const struct rule_case c = {
		waited, s->sched.switches, RULE_EVIDENCE(evidence),
		.advice = starved_advice(wanted, s->sched.cpus),
	};

	if (s->sched.runnable_ns < r->limit.ns || part < r->limit.part ||
	    waited < r->limit.ratio * wall || !rule_worth(r, s, waited))
		return 0;
	if (s->sched.cpus)
		snprintf(of, sizeof(of), " of %" PRIu32, s->sched.cpus);
	return verdict_add(v, r, &c, "threads that are ready wait %s for a CPU, %s of the time "
			   "they want to run (p99 %s): %.1f CPUs wanted, %.1f got%s",
			   units_time(waited).s, units_percent(part).s,
			   units_time((double)hist_quantile(&s->sched.runq, 0.99)).s,
			   wanted, got, of);
}
