/* SPDX-License-Identifier: MIT */
#ifndef DIAGNOSE_FIXTURE_H
#define DIAGNOSE_FIXTURE_H

/*
 * Summaries made by hand for the diagnosis rules. A case is a function that
 * puts one problem into a quiet summary, exactly on the thresholds; a knob
 * turns one figure to the other side, after which the finding must be gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/diagnose.h"

#define MS UINT64_C(1000000)
#define SEC UINT64_C(1000000000)

/* Takes what follows from the heap as summary_release expects. */
#define FIX_ARRAY(n, type) ((type *)fix_calloc((n), sizeof(type)))

static inline void *fix_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

static inline char *fix_string(const char *s)
{
	char *copy = strdup(s);

	assert_non_null(copy);
	return copy;
}

/* @n values @v. */
static inline struct hist fix_hist(uint64_t v, uint64_t n)
{
	struct hist h = { .count = n, .sum = v * n, .max = n ? v : 0 };

	h.bucket[hist_bucket(v)] = n;
	return h;
}

/* One second of a program that uses one CPU and has no problem. */
static inline void fix_quiet(struct summary *s)
{
	summary_init(s);
	s->mode = SUM_EXACT;
	s->collected = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED;
	s->duration_ns = SEC;
	s->threads.live_peak = 2;
	s->sched.oncpu_ns = SEC;
	s->sched.runnable_ns = 0;
	s->sched.switches = 100000;
}

/* Adds a system call whose every call takes @ns on the CPU; returns it. */
static inline struct sum_syscall *fix_call(struct summary *s, const char *name, uint64_t calls,
					   uint64_t ns)
{
	struct sum_syscall *call;

	s->syscall = realloc(s->syscall, (s->nsyscall + 1) * sizeof(*s->syscall));
	assert_non_null(s->syscall);
	call = &s->syscall[s->nsyscall++];
	memset(call, 0, sizeof(*call));
	call->name = name;
	call->calls = calls;
	call->wall = fix_hist(ns, calls);
	call->cpu_ns = calls * ns;
	return call;
}

/* Adds a thread that lived all the time. */
static inline struct sum_thread *fix_thread(struct summary *s, pid_t tid, uint64_t oncpu_ns)
{
	struct sum_threads *t = &s->threads;
	struct sum_thread *row;

	t->by_thread = realloc(t->by_thread, (t->nby_thread + 1) * sizeof(*t->by_thread));
	assert_non_null(t->by_thread);
	row = &t->by_thread[t->nby_thread++];
	memset(row, 0, sizeof(*row));
	row->tid = tid;
	row->tgid = 1;
	strcpy(row->comm, "stage");
	row->lifetime_ns = s->duration_ns;
	row->oncpu_ns = oncpu_ns;
	row->blocked_ns = s->duration_ns - oncpu_ns;
	return row;
}

/* Diagnoses and returns the finding of that id, NULL when there is none. */
static inline const struct sum_finding *fix_judge(struct summary *s, const char *id)
{
	struct err err = { 0 };
	size_t i;

	assert_int_equal(diagnose(s, &err), 0);
	for (i = 0; i < s->nfinding; i++)
		if (!strcmp(s->finding[i].id, id))
			return &s->finding[i];
	return NULL;
}

struct fix_knob {
	const char *what;
	void (*turn)(struct summary *s);
};

/* The case is found, and with any one of the knobs turned it is not. */
static inline void fix_both_sides(const char *id, void (*make)(struct summary *s),
				  const struct fix_knob *knob, size_t nknob)
{
	struct summary s;
	size_t i;

	fix_quiet(&s);
	make(&s);
	if (!fix_judge(&s, id))
		fail_msg("%s is not found on its thresholds", id);
	summary_release(&s);
	for (i = 0; i < nknob; i++) {
		fix_quiet(&s);
		make(&s);
		knob[i].turn(&s);
		if (fix_judge(&s, id))
			fail_msg("%s is found in spite of %s", id, knob[i].what);
		summary_release(&s);
	}
}

/* The case is still found with the knob turned: what must not matter. */
static inline void fix_still(const char *id, void (*make)(struct summary *s),
			     void (*turn)(struct summary *s))
{
	struct summary s;

	fix_quiet(&s);
	make(&s);
	turn(&s);
	assert_non_null(fix_judge(&s, id));
	summary_release(&s);
}

#define FIX_BOTH_SIDES(id, make, knobs) \
	fix_both_sides(id, make, knobs, sizeof(knobs) / sizeof((knobs)[0]))

/* The value of a finding's evidence; fails when it has none of that name. */
static inline double fix_evidence(const struct sum_finding *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->nevidence; i++)
		if (!strcmp(f->evidence[i].name, name))
			return f->evidence[i].value;
	fail_msg("%s has no evidence %s", f->id, name);
	return 0;
}

#endif
