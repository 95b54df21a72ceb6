/* SPDX-License-Identifier: MIT */
#ifndef REPORT_RULE_H
#define REPORT_RULE_H

/*
 * What diagnosis rules are made of. A rule is a row of the table in rules.c:
 * what it needs, its thresholds, its advice, and the function that judges.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "out/summary.h"

/* A rule's thresholds; what a rule does not use is 0. */
struct rule_limit {
	uint64_t count;		/* fewest events */
	uint64_t ns;		/* a time */
	uint64_t bytes;		/* a size */
	double cost;		/* smallest cost, as a part of the CPU time used */
	double part;		/* smallest part that is bad */
	double other;		/* largest part that speaks against it */
	double ratio;
};

struct verdict;

struct rule {
	const char *id;
	const char *title;
	const char *advice;
	unsigned int needs;	/* SUM_* collectors, all of them */
	bool exact;		/* needs counts that wait mode does not take */
	struct rule_limit limit;
	/* Calls verdict_add for each case found. 0 or -ENOMEM. */
	int (*judge)(const struct rule *r, const struct summary *s, struct verdict *v);
};

/* The table, in the order of docs/findings.md. */
extern const struct rule rule_table[];
extern const size_t rule_count;

/* One case of a rule. */
struct rule_case {
	double cost_ns;		/* thread time lost */
	uint64_t basis;		/* how many counted events it rests on */
	const struct sum_evidence *evidence;	/* copied; names are static */
	size_t nevidence;
	const char *advice;	/* NULL: the rule's own */
};

/* Adds a finding, or counts it as withheld when losses may have changed it. 0 or -ENOMEM. */
int verdict_add(struct verdict *v, const struct rule *r, const struct rule_case *c,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The fields .evidence and .nevidence of a case from an array. */
#define RULE_EVIDENCE(e) .evidence = (e), .nevidence = sizeof(e) / sizeof((e)[0])

/* --- figures that rules share --- */

/* CPU time used by all traced threads; without SUM_SCHED the most they can have used. */
double rule_cpu_ns(const struct summary *s);
/* As rule_cpu_ns, with the time spent runnable: what the threads wanted to run. */
double rule_active_ns(const struct summary *s);
/*
 * Whether @cost_ns matters: r->limit.cost of the CPU time used, and 1 % of the
 * time traced, so that a daemon's few busy milliseconds an hour stay silent.
 */
bool rule_worth(const struct rule *r, const struct summary *s, double cost_ns);
/* The row of a system call by name; NULL: not made, or not collected. */
const struct sum_syscall *rule_call(const struct summary *s, const char *name);
/* Mean CPU time of one call of @name, entry and exit included; a guess where not measured. */
double rule_call_ns(const struct summary *s, const char *name);
/* What it costs to put a thread to sleep and run it again. */
double rule_switch_ns(const struct summary *s);
/*
 * The row of a thread; of several with one tid the longest-lived. NULL: none,
 * or no memory for the index, which diagnose then reports.
 */
const struct sum_thread *verdict_thread(struct verdict *v, const struct summary *s, pid_t tid);

/* part / whole, 0 when whole is 0. */
double rule_part(double part, double whole);

/* --- words --- */

struct rule_text { char s[208]; };
struct rule_comm { char s[40]; };

/* "COMM (TID)", or "thread TID" when the name is not known. */
struct rule_comm rule_comm(const char *comm, pid_t tid);

/* --- locks --- */

/* What a futex is used for, judged from the sampled stacks and else from who wakes whom. */
enum rule_wait { RULE_WAIT_UNKNOWN, RULE_WAIT_LOCK, RULE_WAIT_CONDITION, RULE_WAIT_BARRIER,
		 RULE_WAIT_JOIN };
enum rule_wait rule_wait_kind(const struct sum_lock *l);
/* Distinct waiters among the lock's most frequent edges. */
size_t rule_waiters(const struct sum_lock *l);
/* "private lock NAME" or "private lock 0x7f… of COMM". */
struct rule_text rule_lock_name(const struct sum_lock *l);

/* --- the judges; what each finds is said where it is defined --- */

int rule_tiny_chunks(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_futex_per_chunk(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_starved_reader(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_blocked_writer(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_fd_ping_pong(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_contended_lock(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_stuck_lock(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_convoy(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_lock_step(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_thundering_herd(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_wasted_wakes(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_futex_eagain(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_short_lived_threads(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_thread_stack_churn(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_slow_wakeup(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_cpu_starved(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_failing_calls(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_busy_poll(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_tiny_io(const struct rule *r, const struct summary *s, struct verdict *v);
int rule_memory_churn(const struct rule *r, const struct summary *s, struct verdict *v);

#endif
