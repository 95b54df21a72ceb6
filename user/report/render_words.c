/* SPDX-License-Identifier: MIT */
/* The sentences of a report; the figures in them are render_figures.c's. */
#include "report/render_words.h"

#include <string.h>

const struct words_note words_note_rows[] = {
	{ COMPARE_FEW_RUNS, "few-runs", "too few runs for any difference to show" },
	{ COMPARE_DRIFT_HIDES, "drift-hides", "the change may be drift" },
	{ COMPARE_DRIFT_BASE, "drift-base", "the base drifts from run to run" },
	{ COMPARE_DRIFT_NOW, "drift-new", "the new side drifts from run to run" },
	{ COMPARE_OUTLIERS_BASE, "outliers-base", "outliers in the base" },
	{ COMPARE_OUTLIERS_NOW, "outliers-new", "outliers in the new side" },
	{ COMPARE_ZERO_BASE, "zero-base", NULL },
	{ COMPARE_CONSTANT, "constant", NULL },
};
const size_t words_note_nrows = sizeof(words_note_rows) / sizeof(words_note_rows[0]);

static void add_sep(const struct words *w, struct buf *b, size_t start)
{
	if (b->len > start)
		buf_adds(b, w->sep);
}

static bool known(const char *s)
{
	return s && *s;
}

size_t words_count(const struct regress *r, enum compare_verdict v)
{
	size_t i, n = 0;

	for (i = 0; i < r->nmetric; i++)
		n += r->metric[i].result.verdict == v;
	return n;
}

static const struct regress_metric *first_of(const struct regress *r, enum compare_verdict v)
{
	size_t i;

	for (i = 0; i < r->nmetric; i++)
		if (r->metric[i].result.verdict == v)
			return &r->metric[i];
	return NULL;
}

void words_metric(const struct words *w, struct buf *b, const struct regress_metric *m)
{
	words_name(w, b, m->name);
	buf_adds(b, " ");
	words_value(w, b, m->result.base, m->unit);
	buf_addf(b, " %s ", w->arrow);
	words_value(w, b, m->result.now, m->unit);
	buf_adds(b, " (");
	words_ratio(w, b, m->result.ratio);
	buf_addc(b, ')');
}

static void add_needed(const struct words *w, struct buf *b, uint64_t runs)
{
	if (!runs) {
		buf_adds(b, "more runs would not decide");
		return;
	}
	buf_adds(b, "about ");
	words_things(w, b, runs, "run", "runs");
	buf_adds(b, " a side would decide");
}

void words_headline(const struct words *w, struct buf *b, const struct regress *r)
{
	const size_t n = words_count(r, r->verdict);
	const struct regress_metric *first = first_of(r, r->verdict);

	if (!r->nmetric) {
		buf_adds(b, "the sides have no metric in common");
		return;
	}
	if (r->verdict == COMPARE_SAME || !first) {
		buf_adds(b, "none of ");
		words_things(w, b, r->nmetric, "metric", "metrics");
		buf_adds(b, " changed");
		return;
	}
	buf_addf(b, "%zu of ", n);
	words_things(w, b, r->nmetric, "metric", "metrics");
	if (r->verdict == COMPARE_INCONCLUSIVE) {
		buf_adds(b, "; ");
		add_needed(w, b, r->runs_needed);
		return;
	}
	buf_adds(b, n > 1 ? "; the largest: " : ": ");
	words_metric(w, b, first);
}

void words_counts(const struct words *w, struct buf *b, const struct regress *r)
{
	static const struct { enum compare_verdict v; const char *word; } rows[] = {
		{ COMPARE_WORSE, "worse" }, { COMPARE_INCONCLUSIVE, "inconclusive" },
		{ COMPARE_BETTER, "better" }, { COMPARE_SAME, "the same" },
	};
	const size_t start = b->len;
	size_t i, n;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		n = words_count(r, rows[i].v);
		if (!n)
			continue;
		add_sep(w, b, start);
		words_things(w, b, n, rows[i].word, rows[i].word);
	}
}

static void add_commit(const struct words *w, struct buf *b, const struct regress_side *s)
{
	size_t at, n = strlen(s->commit);

	w->name(b, s->commit, n < WORDS_COMMIT ? n : WORDS_COMMIT);
	at = b->len;
	if (s->dirty)
		buf_adds(b, " with changes");
	words_blanks(w, b, at);
}

void words_side(const struct words *w, struct buf *b, const struct regress_side *s)
{
	const size_t start = b->len;

	words_name(w, b, s->name);
	if (known(s->label) && (!s->name || strcmp(s->label, s->name))) {
		add_sep(w, b, start);
		words_name(w, b, s->label);
	}
	if (known(s->commit)) {
		add_sep(w, b, start);
		add_commit(w, b, s);
	}
	add_sep(w, b, start);
	words_things(w, b, s->runs, "run", "runs");
	if (s->when_ns) {
		add_sep(w, b, start);
		words_when(w, b, s->when_ns);
	}
	if (known(s->source) && strcmp(s->source, "bench")) {
		add_sep(w, b, start);
		buf_adds(b, "from ");
		words_name(w, b, s->source);
	}
	if (known(s->command)) {
		add_sep(w, b, start);
		words_name(w, b, s->command);
	}
}

void words_machine(const struct words *w, struct buf *b, const struct store_machine *m)
{
	const char *const names[] = { m->cpu_model, m->kernel, m->governor, m->vendor };
	const size_t start = b->len;
	size_t i;

	if (m->cores)
		words_things(w, b, m->cores, "core", "cores");
	if (m->memory_bytes) {
		add_sep(w, b, start);
		words_value(w, b, (double)m->memory_bytes, "B");
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!known(names[i]))
			continue;
		add_sep(w, b, start);
		words_name(w, b, names[i]);
	}
}

void words_notes(const struct words *w, struct buf *b, const struct regress_metric *m)
{
	const size_t start = b->len;
	size_t i;

	if (m->result.verdict == COMPARE_INCONCLUSIVE)
		add_needed(w, b, m->result.runs_needed);
	for (i = 0; i < words_note_nrows; i++) {
		if (!(m->result.notes & words_note_rows[i].note) || !words_note_rows[i].words)
			continue;
		add_sep(w, b, start);
		buf_adds(b, words_note_rows[i].words);
	}
}

struct words_stack words_stack(const char *folded)
{
	return (struct words_stack){ .folded = folded, .left = strlen(folded), .done = !*folded };
}

bool words_stack_next(struct words_stack *s)
{
	size_t begin = s->left;

	if (s->done)
		return false;
	while (begin && s->folded[begin - 1] != ';')
		begin--;
	s->frame = begin < s->left ? s->folded + begin : "?";
	s->n = begin < s->left ? s->left - begin : 1;
	s->done = !begin;
	s->left = begin ? begin - 1 : 0;
	return true;
}
