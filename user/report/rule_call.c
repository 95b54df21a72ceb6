/* SPDX-License-Identifier: MIT */
/* Rules over the table of system calls. */
#include "report/rule.h"

#include <errno.h>
#include <string.h>

#include "base/errname.h"
#include "stats/units.h"

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

static const char *errno_words(const struct sum_errno *e)
{
	const char *name = e ? errname(e->err) : NULL;

	return name ? name : "an unknown error";
}

/* --- failing-calls --- */

/* Failures that are an answer and not a mistake; name NULL: of any call. */
static const struct { const char *name; int err; } expected[] = {
	{ NULL, EINTR },		/* a signal came: the call is made again */
	{ NULL, ENODATA },		/* no such attribute: what getxattr asks about */
	{ "connect", EINPROGRESS },	/* how a non-blocking connect begins */
	{ "wait4", ECHILD },		/* how a shell learns that all children are gone */
	{ "waitid", ECHILD },
};

/* Calls with a rule of their own, or whose failure is their purpose. */
static const char *const skipped[] = {
	"futex", "futex_wait", "futex_waitv", "poll", "ppoll", "epoll_wait", "epoll_pwait",
	"epoll_pwait2", "select", "pselect6", "restart_syscall", "rt_sigtimedwait",
};

static const struct { int err; const char *advice; } by_errno_advice[] = {
	{ EAGAIN, "Wait for readiness with epoll or poll before the call, and leave the loop "
		  "when it says EAGAIN instead of trying again." },
	{ ENOENT, "See which paths are tried (strace -e %file): shorten the search path, or keep "
		  "the answer of the first search." },
	{ EINVAL, "The kernel or the file does not know this request: learn it at the first "
		  "failure and take the other way from then on." },
	{ ENOTTY, "The file is no terminal: ask once with isatty(3) and keep the answer." },
};

static bool call_is_skipped(const char *name)
{
	size_t i;

	for (i = 0; i < ROWS(skipped); i++)
		if (!strcmp(skipped[i], name))
			return true;
	return false;
}

static bool error_is_expected(const char *name, int err)
{
	size_t i;

	for (i = 0; i < ROWS(expected); i++)
		if (expected[i].err == err &&
		    (!expected[i].name || !strcmp(expected[i].name, name)))
			return true;
	return false;
}

/* Errors that nobody expects; *worst is the most frequent of them, NULL: none is known. */
static uint64_t call_failures(const struct sum_syscall *call, const struct sum_errno **worst)
{
	uint64_t n = call->errors;
	size_t i;

	*worst = NULL;
	for (i = 0; i < call->nby_errno; i++) {
		const struct sum_errno *e = &call->by_errno[i];

		if (error_is_expected(call->name, e->err))
			n -= e->count < n ? e->count : n;
		else if (!*worst || e->count > (*worst)->count)
			*worst = e;
	}
	return n;
}

static const char *failing_advice(const struct sum_errno *e)
{
	size_t i;

	for (i = 0; e && i < ROWS(by_errno_advice); i++)
		if (by_errno_advice[i].err == e->err)
			return by_errno_advice[i].advice;
	return NULL;
}

/* A system call that fails most of the time, again and again. */
int rule_failing_calls(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < s->nsyscall && !ret; i++) {
		const struct sum_syscall *call = &s->syscall[i];
		const struct sum_errno *worst;
		uint64_t failures = call_failures(call, &worst);
		double part = rule_part((double)failures, (double)call->calls);
		double cost = (double)failures * rule_call_ns(s, call->name);

		if (call_is_skipped(call->name) || failures < r->limit.count ||
		    part < r->limit.part || !rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "calls", (double)call->calls },
			{ "failures", (double)failures },
			{ "failed_part", part },
			{ "errno", worst ? (double)worst->err : 0 },
			{ "cost_ns", cost },
		};
		const struct rule_case c = { cost, call->calls, RULE_EVIDENCE(evidence),
					     failing_advice(worst) };

		ret = verdict_add(v, r, &c, "%s fails %s of %s times (%s), mostly with %s: about "
				  "%s", call->name, units_count(failures).s,
				  units_count(call->calls).s, units_percent(part).s,
				  errno_words(worst), units_time(cost).s);
	}
	return ret;
}

/* --- busy-poll --- */

/* Calls that can be a way of waiting without sleeping. */
static const struct poll_row {
	const char *name;
	/*
	 * Half of the calls must be shorter. A poll that finds something or has no
	 * timeout comes back within a few microseconds; a sleep lasts at least the
	 * 50 µs of timer slack, so one under 200 asked for next to nothing.
	 */
	uint64_t short_ns;
	bool io;	/* legitimate when I/O follows */
	const char *advice;
} polls[] = {
	{ "sched_yield", UINT64_MAX, false,
	  "sched_yield does not wait for anything: block on a futex, a condition variable or an "
	  "eventfd that the other side signals." },
	{ "nanosleep", 200000, false,
	  "A loop of short sleeps is a poll: let the other side signal a condition variable or an "
	  "eventfd, or sleep for as long as there is nothing to do." },
	{ "clock_nanosleep", 200000, false,
	  "A loop of short sleeps is a poll: let the other side signal a condition variable or an "
	  "eventfd, or sleep for as long as there is nothing to do." },
	{ "poll", 10000, true, NULL },
	{ "ppoll", 10000, true, NULL },
	{ "epoll_wait", 10000, true, NULL },
	{ "epoll_pwait", 10000, true, NULL },
	{ "epoll_pwait2", 10000, true, NULL },
	{ "select", 10000, true, NULL },
	{ "pselect6", 10000, true, NULL },
};

/* What an event loop does with the readiness it asked for. */
static const char *const transfers[] = {
	"read", "readv", "pread64", "write", "writev", "pwrite64", "recvfrom", "recvmsg",
	"recvmmsg", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "sendfile", "splice",
};

static uint64_t transfers_done(const struct summary *s)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < ROWS(transfers); i++) {
		const struct sum_syscall *call = rule_call(s, transfers[i]);

		n += call && call->calls > call->errors ? call->calls - call->errors : 0;
	}
	return n;
}

/* Waiting by asking again and again. */
int rule_busy_poll(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const uint64_t io = transfers_done(s);
	size_t i;
	int ret = 0;

	for (i = 0; i < ROWS(polls) && !ret; i++) {
		const struct sum_syscall *call = rule_call(s, polls[i].name);
		double cost = call ? (double)call->cpu_ns : 0;
		uint64_t p50 = call ? hist_quantile(&call->wall, 0.5) : 0;

		/* A sleep costs the switches, too. */
		if (call && !polls[i].io && polls[i].short_ns != UINT64_MAX)
			cost += (double)call->calls * rule_switch_ns(s);
		if (!call || call->calls < r->limit.count || p50 >= polls[i].short_ns ||
		    (polls[i].io && (double)call->calls < r->limit.ratio * (double)io) ||
		    !rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "calls", (double)call->calls },
			{ "p50_ns", (double)p50 },
			{ "transfers", (double)io },
			{ "cost_ns", cost },
			{ "cpu_part", rule_part(cost, rule_cpu_ns(s)) },
		};
		const struct rule_case c = { cost, call->calls, RULE_EVIDENCE(evidence),
					     polls[i].advice };

		ret = verdict_add(v, r, &c, "%s is called %s times and returns after %s (median): "
				  "about %s, %s of the CPU time used, goes into asking",
				  call->name, units_count(call->calls).s,
				  units_time((double)p50).s, units_time(cost).s,
				  units_percent(rule_part(cost, rule_cpu_ns(s))).s);
	}
	return ret;
}

/* --- tiny-io --- */

static const struct { const char *name; bool reads, writes; } file_calls[] = {
	{ "read", true, false },
	{ "write", false, true },
	{ "pread64", false, false },
	{ "pwrite64", false, false },
	{ "readv", false, false },
	{ "writev", false, false },
	{ "lseek", false, false },
};

/* Chunks that went through pipes by read or write: those have rules of their own. */
static uint64_t piped_chunks(const struct summary *s, bool reads, bool writes)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->npipe; i++)
		n += (reads ? s->pipe[i].chunks_read : 0) +
		     (writes ? s->pipe[i].chunks_written : 0);
	return n;
}

/* Very many short calls on files: a buffer is missing. */
int rule_tiny_io(const struct rule *r, const struct summary *s, struct verdict *v)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < ROWS(file_calls) && !ret; i++) {
		const struct sum_syscall *call = rule_call(s, file_calls[i].name);
		uint64_t piped = piped_chunks(s, file_calls[i].reads, file_calls[i].writes);
		uint64_t calls = call && call->calls > piped ? call->calls - piped : 0;
		double cost = (double)calls * rule_call_ns(s, file_calls[i].name);
		uint64_t p50 = call ? hist_quantile(&call->wall, 0.5) : 0;

		if (calls < r->limit.count || p50 >= r->limit.ns || !rule_worth(r, s, cost))
			continue;
		const struct sum_evidence evidence[] = {
			{ "calls", (double)calls },
			{ "p50_ns", (double)p50 },
			{ "cost_ns", cost },
			{ "cpu_part", rule_part(cost, rule_cpu_ns(s)) },
		};
		const struct rule_case c = { cost, calls, RULE_EVIDENCE(evidence), NULL };

		ret = verdict_add(v, r, &c, "%s is called %s times and takes %s (median), so it "
				  "moves hardly anything: about %s, %s of the CPU time used",
				  call->name, units_count(calls).s, units_time((double)p50).s,
				  units_time(cost).s,
				  units_percent(rule_part(cost, rule_cpu_ns(s))).s);
	}
	return ret;
}

/* --- memory-churn --- */

static const char *const memory_calls[] = {
	"mmap", "munmap", "madvise", "brk", "mremap", "mprotect",
};

/* Calls that a dynamic loader makes to map a program with a dozen libraries. */
#define LOADER_CALLS 60

/* And that a thread's stack costs: mmap, mprotect, madvise and munmap. */
#define STACK_CALLS 4

/* Memory calls that others have to answer for. */
static uint64_t spoken_for(const struct summary *s)
{
	const struct sum_syscall *exec = rule_call(s, "execve");

	return (exec ? exec->calls : 0) * LOADER_CALLS + s->threads.created * STACK_CALLS;
}

/* Memory taken from the kernel and given back, again and again. */
int rule_memory_churn(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct sum_syscall *call, *worst = NULL;
	uint64_t all = 0, calls;
	double cost = 0;
	size_t i;

	for (i = 0; i < ROWS(memory_calls); i++) {
		call = rule_call(s, memory_calls[i]);
		if (!call)
			continue;
		all += call->calls;
		cost += (double)call->cpu_ns;
		if (!worst || call->cpu_ns > worst->cpu_ns)
			worst = call;
	}
	calls = all > spoken_for(s) ? all - spoken_for(s) : 0;
	cost *= rule_part((double)calls, (double)all);
	if (!worst || calls < r->limit.count || !rule_worth(r, s, cost))
		return 0;
	const struct sum_evidence evidence[] = {
		{ "calls", (double)calls },
		{ "cost_ns", cost },
		{ "cpu_part", rule_part(cost, rule_cpu_ns(s)) },
	};
	const struct rule_case c = { cost, calls, RULE_EVIDENCE(evidence), NULL };

	return verdict_add(v, r, &c, "memory is taken from the kernel and given back in %s calls, "
			   "most time in %s: %s, %s of the CPU time used, and the page faults "
			   "after it",
			   units_count(calls).s, worst->name, units_time(cost).s,
			   units_percent(rule_part(cost, rule_cpu_ns(s))).s);
}
