/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: every rule whose collectors ran judges the summary and adds its cases
 * to one verdict. The verdict keeps back what losses may have changed, sorts
 * the rest by severity, keeps the RULE_KEEP worst of each rule (a program with
 * 500 bad pipes has one problem, not 500) and hands them to the summary.
 */
#include "report/diagnose.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "report/rule.h"
#include "stats/units.h"

/* Cases of one rule that are kept: the worst, and one to see whether it stands alone. */
#define RULE_KEEP 2
/* The part of a finding's events that may be missing. */
#define RULE_LOSS 0.01

struct candidate {
	struct sum_finding f;
	const struct rule *rule;
	size_t order;		/* keeps equal severities in the order they were found */
};

struct verdict {
	struct candidate *c;
	size_t n, cap;
	uint64_t lost;		/* events that could not be counted */
	struct map *threads;	/* tid to row; made when first asked for */
	bool no_memory;		/* for the map */
	size_t withheld;
	double withheld_ns;	/* the largest cost among the withheld */
	uint64_t withheld_basis;	/* of that one */
};

static const struct rule incomplete_rule = {
	.id = "counts-incomplete",
	.title = "Too many events were lost to judge",
	.advice = "Trace again with a larger --ring, with fewer collectors (--collect), or a "
		  "narrower choice of processes; the loss ledger says what was full.",
};

static void finding_release(struct sum_finding *f)
{
	free(f->text);
	free(f->advice);
	free(f->evidence);
}

static void verdict_release(struct verdict *v)
{
	size_t i;

	for (i = 0; i < v->n; i++)
		finding_release(&v->c[i].f);
	free(v->c);
	map_free(v->threads);
}

/* NULL: no memory. */
static struct map *index_threads(const struct summary *s)
{
	struct map *m = map_new(sizeof(pid_t), sizeof(const struct sum_thread *));
	size_t i;

	for (i = 0; m && i < s->threads.nby_thread; i++) {
		const struct sum_thread *t = &s->threads.by_thread[i], **row;

		row = map_put(m, &t->tid);
		if (!row) {
			map_free(m);
			return NULL;
		}
		if (!*row || t->lifetime_ns > (*row)->lifetime_ns)
			*row = t;
	}
	return m;
}

const struct sum_thread *verdict_thread(struct verdict *v, const struct summary *s, pid_t tid)
{
	const struct sum_thread **row;

	if (!v->threads && !v->no_memory) {
		v->threads = index_threads(s);
		v->no_memory = !v->threads;
	}
	row = v->threads ? map_get(v->threads, &tid) : NULL;
	return row ? *row : NULL;
}

static struct candidate *verdict_slot(struct verdict *v)
{
	if (v->n == v->cap) {
		size_t cap = v->cap ? v->cap * 2 : 16;
		struct candidate *c = realloc(v->c, cap * sizeof(*c));

		if (!c)
			return NULL;
		v->c = c;
		v->cap = cap;
	}
	memset(&v->c[v->n], 0, sizeof(v->c[v->n]));
	return &v->c[v->n];
}

/* Takes @text's memory, also when it fails. */
static int verdict_push(struct verdict *v, const struct rule *r, const struct rule_case *c,
			char *text)
{
	struct candidate *slot = text ? verdict_slot(v) : NULL;
	/* Room for what diagnose itself adds: lost and similar. */
	size_t room = c->nevidence + 2;
	struct sum_finding *f;

	if (!slot) {
		free(text);
		return -ENOMEM;
	}
	f = &slot->f;
	f->text = text;
	f->advice = strdup(c->advice ? c->advice : r->advice);
	f->evidence = calloc(room, sizeof(*f->evidence));
	if (!f->advice || !f->evidence) {
		finding_release(f);
		return -ENOMEM;
	}
	f->id = r->id;
	f->severity = c->cost_ns / 1e9;
	if (c->nevidence)
		memcpy(f->evidence, c->evidence, c->nevidence * sizeof(*f->evidence));
	f->nevidence = c->nevidence;
	if (v->lost)
		f->evidence[f->nevidence++] =
			(struct sum_evidence){ "lost", (double)v->lost };
	slot->rule = r;
	slot->order = v->n++;
	return 0;
}

int verdict_add(struct verdict *v, const struct rule *r, const struct rule_case *c,
		const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	if ((double)v->lost > RULE_LOSS * (double)c->basis) {
		if (!v->withheld++ || c->cost_ns > v->withheld_ns) {
			v->withheld_ns = c->cost_ns;
			v->withheld_basis = c->basis;
		}
		return 0;
	}
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (text.failed) {
		buf_release(&text);
		return -ENOMEM;
	}
	return verdict_push(v, r, c, text.data);
}

/* The finding that stands for all withheld ones. */
static int verdict_own_up(struct verdict *v)
{
	const struct sum_evidence evidence[] = {
		{ "withheld", (double)v->withheld },
		{ "basis", (double)v->withheld_basis },
	};
	const struct rule_case c = { .cost_ns = v->withheld_ns, RULE_EVIDENCE(evidence) };
	struct buf text = BUF_INIT;

	if (!v->withheld)
		return 0;
	buf_addf(&text, "%zu finding%s withheld: %s events were lost, more than 1 %% of the %s "
		 "that %s on", v->withheld, v->withheld == 1 ? " is" : "s are",
		 units_count(v->lost).s, units_count(v->withheld_basis).s,
		 v->withheld == 1 ? "it rests" : "the worst rests");
	if (text.failed) {
		buf_release(&text);
		return -ENOMEM;
	}
	return verdict_push(v, &incomplete_rule, &c, text.data);
}

static int by_severity(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->f.severity != y->f.severity)
		return x->f.severity < y->f.severity ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Says on the last kept case of a rule how many more there were. */
static int candidate_similar(struct candidate *c, size_t more)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%s (and %zu more like it)", c->f.text, more);
	if (text.failed) {
		buf_release(&text);
		return -ENOMEM;
	}
	free(c->f.text);
	c->f.text = text.data;
	c->f.evidence[c->f.nevidence++] = (struct sum_evidence){ "similar", (double)more };
	return 0;
}

/* Sorts, and drops all but the worst cases of each rule. */
static int verdict_settle(struct verdict *v)
{
	size_t i, j, seen, more, kept = 0;
	int r = 0;

	if (v->n)
		qsort(v->c, v->n, sizeof(*v->c), by_severity);
	for (i = 0; i < v->n; i++) {
		seen = more = 0;
		for (j = 0; j < kept; j++)
			seen += v->c[j].rule == v->c[i].rule;
		if (seen >= RULE_KEEP) {
			finding_release(&v->c[i].f);
			continue;
		}
		for (j = i + 1; seen + 1 == RULE_KEEP && j < v->n; j++)
			more += v->c[j].rule == v->c[i].rule;
		if (more && !r)
			r = candidate_similar(&v->c[i], more);
		v->c[kept++] = v->c[i];
	}
	v->n = kept;
	return r;
}

/* Moves the verdict's findings into the summary. */
static int verdict_hand_over(struct verdict *v, struct summary *s)
{
	struct sum_finding *f = NULL;
	size_t i;

	if (v->n) {
		f = calloc(v->n, sizeof(*f));
		if (!f)
			return -ENOMEM;
		for (i = 0; i < v->n; i++)
			f[i] = v->c[i].f;
	}
	for (i = 0; i < s->nfinding; i++)
		finding_release(&s->finding[i]);
	free(s->finding);
	s->finding = f;
	s->nfinding = v->n;
	v->n = 0;
	return 0;
}

/* Whether what @r needs was collected; counts what was not, by what would give it. */
static bool rule_applies(const struct rule *r, const struct summary *s, struct sum_judged *n)
{
	const bool collected = (s->collected & r->needs) == r->needs;
	const bool exact = !r->exact || s->mode == SUM_EXACT;

	n->rules++;
	n->judged += collected && exact;
	n->by_collect += !collected;
	n->by_mode += !exact;
	return collected && exact;
}

int diagnose(struct summary *s, struct err *err)
{
	struct verdict v = { 0 };
	size_t i;
	int r = 0;

	/* A stack that was not read leaves every count as it is. */
	s->judged = (struct sum_judged){ 0 };
	v.lost = s->loss.total > s->loss.stacks ? s->loss.total - s->loss.stacks : 0;
	for (i = 0; i < rule_count && !r; i++)
		if (rule_applies(&rule_table[i], s, &s->judged))
			r = rule_table[i].judge(&rule_table[i], s, &v);
	if (!r && v.no_memory)
		r = -ENOMEM;
	if (!r)
		r = verdict_own_up(&v);
	if (!r)
		r = verdict_settle(&v);
	if (!r)
		r = verdict_hand_over(&v, s);
	verdict_release(&v);
	return r ? err_sys(err, -r, "cannot judge the trace") : 0;
}

static const struct rule *rule_row(size_t i)
{
	if (i < rule_count)
		return &rule_table[i];
	return i == rule_count ? &incomplete_rule : NULL;
}

const char *diagnose_id(size_t i)
{
	const struct rule *r = rule_row(i);

	return r ? r->id : NULL;
}

const char *diagnose_title(size_t i)
{
	const struct rule *r = rule_row(i);

	return r ? r->title : NULL;
}
