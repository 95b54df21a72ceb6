/* SPDX-License-Identifier: MIT */
/* Rules over all futex calls together. */
#include "report/rule.h"

#include <stdio.h>

#include "stats/units.h"

/* ", most on LOCK" when one lock has at least half of @all. */
static struct rule_text most_on(const struct sum_lock *l, uint64_t of_lock, uint64_t all)
{
	struct rule_text t = { "" };

	if (l && of_lock >= all - of_lock)
		snprintf(t.s, sizeof(t.s), ", most on %.150s", rule_lock_name(l).s);
	return t;
}

static uint64_t lock_wasted(const struct sum_lock *l)
{
	return l->wasted_wakes;
}

static uint64_t lock_eagain(const struct sum_lock *l)
{
	return l->eagain;
}

static const struct sum_lock *worst(const struct summary *s,
				    uint64_t (*of)(const struct sum_lock *))
{
	const struct sum_lock *l = NULL;
	size_t i;

	for (i = 0; i < s->nlock; i++)
		if (!l || of(&s->lock[i]) > of(l))
			l = &s->lock[i];
	return l;
}

/* Wakes where nobody waits: system calls that a look at a counter would save. */
int rule_wasted_wakes(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct sum_futex *f = &s->futex;
	const struct sum_lock *l = worst(s, lock_wasted);
	const double cost = (double)f->wasted_wakes * rule_call_ns(s, "futex");
	const double part = rule_part((double)f->wasted_wakes, (double)f->wakes);
	const struct sum_evidence evidence[] = {
		{ "wakes", (double)f->wakes },
		{ "wasted_wakes", (double)f->wasted_wakes },
		{ "wasted_part", part },
		{ "cost_ns", cost },
	};
	const struct rule_case c = { cost, f->wakes, RULE_EVIDENCE(evidence), NULL };

	if (f->wasted_wakes < r->limit.count || part < r->limit.part || !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s of %s futex wakes (%s) wake nobody%s: about %s in calls "
			   "for nothing", units_count(f->wasted_wakes).s, units_count(f->wakes).s,
			   units_percent(part).s,
			   most_on(l, l ? l->wasted_wakes : 0, f->wasted_wakes).s,
			   units_time(cost).s);
}

/* Waits that find the word changed: the kernel is asked, and says try again. */
int rule_futex_eagain(const struct rule *r, const struct summary *s, struct verdict *v)
{
	const struct sum_futex *f = &s->futex;
	const struct sum_lock *l = worst(s, lock_eagain);
	const double cost = (double)f->eagain * rule_call_ns(s, "futex");
	const double part = rule_part((double)f->eagain, (double)(f->waits + f->eagain));
	const struct sum_evidence evidence[] = {
		{ "eagain", (double)f->eagain },
		{ "waits", (double)f->waits },
		{ "eagain_part", part },
		{ "cost_ns", cost },
	};
	const struct rule_case c = { cost, f->eagain + f->waits, RULE_EVIDENCE(evidence), NULL };

	if (f->eagain < r->limit.count || part < r->limit.part || !rule_worth(r, s, cost))
		return 0;
	return verdict_add(v, r, &c, "%s of %s futex waits (%s) return at once with EAGAIN%s: the "
			   "word changes between the look and the call, about %s in calls",
			   units_count(f->eagain).s, units_count(f->waits + f->eagain).s,
			   units_percent(part).s, most_on(l, l ? l->eagain : 0, f->eagain).s,
			   units_time(cost).s);
}
