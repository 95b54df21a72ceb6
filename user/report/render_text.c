/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A report for a terminal, in the order in which it is read: the verdict in a
 * line, what was compared, what makes the comparison doubtful, the metrics with counts
 * first, and what changed in the program with the stacks of both sides.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "out/table.h"
#include "out/utf8.h"
#include "report/render.h"
#include "report/render_cols.h"

#define SIDE_INDENT 8
#define DETAIL_INDENT 6
#define STACK_INDENT 13
#define LEGEND_INDENT 12
#define STACK_FRAMES 8		/* shown by default */
#define VALUE_COLUMNS 16	/* units may be others' */
#define STRIP_BINS 24
#define STRIP_RUNS 3		/* fewer runs have no shape */

static void term_utf8(struct buf *b, const char *s, size_t n)
{
	escape_term(b, s, n, false);
}

static void term_ascii(struct buf *b, const char *s, size_t n)
{
	escape_term(b, s, n, true);
}

static const struct words words_utf8 = {
	.name = term_utf8, .sentence = term_utf8, .blank = VIEW_GLUE, .sep = VIEW_GLUE "· ",
	.arrow = "→", .times = "×", .to = "…", .less = "<", .infinity = "∞", .unknown = "–",
	.local = true,
};

static const struct words words_ascii = {
	.name = term_ascii, .sentence = term_ascii, .blank = VIEW_GLUE, .sep = VIEW_GLUE "| ",
	.arrow = "->", .times = "x", .to = "..", .less = "<", .infinity = "inf", .unknown = "-",
	.ascii = true, .local = true,
};

static const struct words *words_of(const struct view *v)
{
	return v->ascii ? &words_ascii : &words_utf8;
}

static enum view_style verdict_style(enum compare_verdict verdict)
{
	static const enum view_style styles[] = {
		[COMPARE_SAME] = VIEW_PLAIN, [COMPARE_BETTER] = VIEW_GREEN,
		[COMPARE_INCONCLUSIVE] = VIEW_YELLOW, [COMPARE_WORSE] = VIEW_RED,
	};

	return styles[verdict];
}

/* --- head ---------------------------------------------------------------- */

static void put_headline(struct view *v, const struct regress *r)
{
	struct buf b = BUF_INIT;
	char label[32];

	snprintf(label, sizeof(label), "%s: ", compare_word(r->verdict));
	words_headline(words_of(v), &b, r);
	view_wrap(v, (unsigned int)strlen(label), label, verdict_style(r->verdict), &b);
	buf_release(&b);
}

static bool same_machine(const struct regress *r)
{
	return !strcmp(r->base.machine.hash, r->now.machine.hash);
}

static void put_sides(struct view *v, const struct regress *r)
{
	const struct { const char *label; const struct regress_side *side; } rows[] = {
		{ "  base", &r->base }, { "  new", &r->now },
	};
	const struct words *w = words_of(v);
	struct buf b = BUF_INIT;
	size_t i;

	out_putc(v->out, '\n');
	for (i = 0; i < 2; i++) {
		words_side(w, &b, rows[i].side);
		view_wrap(v, SIDE_INDENT, rows[i].label, VIEW_DIM, &b);
		if (i == 0 && same_machine(r))
			continue;
		words_machine(w, &b, &rows[i].side->machine);
		if (b.len)
			view_wrap(v, SIDE_INDENT, same_machine(r) ? "  on" : "", VIEW_DIM, &b);
	}
	for (i = 0; i < r->ndifference; i++) {
		w->sentence(&b, r->difference[i], strlen(r->difference[i]));
		view_wrap(v, SIDE_INDENT, "  !", VIEW_YELLOW, &b);
	}
	buf_release(&b);
}

/* --- metrics ------------------------------------------------------------- */

struct text_row {
	const struct regress_metric *m;
	bool strip;	/* its distribution is drawn */
};

static void bin_values(const struct series *s, double low, double high, size_t count[STRIP_BINS])
{
	size_t i, bin;

	for (i = 0; i < s->n; i++) {
		bin = high > low ? (size_t)((s->values[i] - low) / (high - low) * STRIP_BINS) : 0;
		count[bin < STRIP_BINS ? bin : STRIP_BINS - 1]++;
	}
}

static void widen(const struct series *s, double *low, double *high)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		*low = fmin(*low, s->values[i]);
		*high = fmax(*high, s->values[i]);
	}
}

/* How the runs of a side lie between @low and @high, which are those of both. */
static void put_strip(struct view *v, const struct regress_metric *m, const char *label,
		      const struct series *s, double low, double high)
{
	size_t count[STRIP_BINS] = { 0 }, most = 1, i;
	double from = INFINITY, to = -INFINITY;
	struct buf b = BUF_INIT;

	bin_values(s, low, high, count);
	for (i = 0; i < STRIP_BINS; i++)
		most = count[i] > most ? count[i] : most;
	for (i = 0; i < STRIP_BINS; i++)
		buf_adds(&b, count[i] ? v->g->bar[(count[i] * 8 - 1) / most] : VIEW_GLUE);
	buf_adds(&b, VIEW_GLUE VIEW_GLUE);
	widen(s, &from, &to);
	words_value(words_of(v), &b, from, m->unit);
	buf_addf(&b, " %s ", v->g->dots);
	words_value(words_of(v), &b, to, m->unit);
	view_wrap(v, STACK_INDENT, label, VIEW_DIM, &b);
	buf_release(&b);
}

static void metric_detail(struct view *v, const void *row, unsigned int shown)
{
	const struct text_row *t = row;
	double low = INFINITY, high = -INFINITY;
	struct buf b = BUF_INIT;

	(void)shown;
	words_notes(words_of(v), &b, t->m);
	if (b.len)
		view_wrap(v, DETAIL_INDENT, "", VIEW_PLAIN, &b);
	buf_release(&b);
	if (!t->strip)
		return;
	widen(&t->m->base, &low, &high);
	widen(&t->m->now, &low, &high);
	put_strip(v, t->m, "      base", &t->m->base, low, high);
	put_strip(v, t->m, "      new", &t->m->now, low, high);
}

static enum view_style style_of_metric(const void *row)
{
	return verdict_style(((const struct text_row *)row)->m->result.verdict);
}

enum text_col {
	TEXT_NAME, TEXT_BASE, TEXT_NOW, TEXT_CHANGE, TEXT_INTERVAL, TEXT_Q, TEXT_VERDICT, TEXT_COLS
};

static const struct table_col metric_cols[TEXT_COLS] = {
	[TEXT_NAME] = { .head = "metric", .align = TABLE_LEFT, .style = VIEW_BOLD, .min = 22,
			.max = 44 },
	[TEXT_BASE] = { .head = "base", .max = VALUE_COLUMNS, .drop = 1 },
	[TEXT_NOW] = { .head = "new", .max = VALUE_COLUMNS },
	[TEXT_CHANGE] = { .head = "change" },
	[TEXT_INTERVAL] = { .head = "interval", .drop = 2 },
	[TEXT_Q] = { .head = "q", .drop = 3 },
	[TEXT_VERDICT] = { .head = "verdict", .align = TABLE_LEFT, .style_of = style_of_metric },
};
static const enum render_metric_col metric_from[TEXT_COLS] = {
	METRIC_COL_NAME, METRIC_COL_BASE, METRIC_COL_NOW, METRIC_COL_CHANGE, METRIC_COL_INTERVAL,
	METRIC_COL_Q, METRIC_COL_VERDICT,
};

static void metric_cell(const struct table *t, unsigned int col, const void *row, struct buf *cell)
{
	render_metric_cols[metric_from[col]].put(t->ctx, cell, ((const struct text_row *)row)->m);
}

static void put_legend(struct view *v, const struct regress *r, unsigned int shown)
{
	struct buf b = BUF_INIT;

	if (!(shown & 1u << TEXT_INTERVAL))
		return;
	buf_addf(&b, "of the change, at %.0f %%", 100 * compare_defaults.level);
	if (shown & 1u << TEXT_Q) {
		buf_adds(&b, "; q: p, corrected for ");
		words_things(words_of(v), &b, r->nmetric, "metric", "metrics");
	}
	view_wrap(v, LEGEND_INDENT, "  interval", VIEW_DIM, &b);
	buf_release(&b);
}

static bool has_shape(const struct regress_metric *m)
{
	return m->kind == METRIC_TIME && m->result.verdict != COMPARE_SAME &&
	       m->base.n >= STRIP_RUNS && m->now.n >= STRIP_RUNS;
}

/* Those that are the same are counted only, unless they are asked for. */
static size_t fill_rows(const struct regress *r, const struct regress_metric **metric, bool all,
			struct text_row *row)
{
	size_t i, n = 0, strips = 0;

	for (i = 0; i < r->nmetric; i++) {
		if (!all && metric[i]->result.verdict == COMPARE_SAME)
			continue;
		row[n].m = metric[i];
		row[n].strip = has_shape(metric[i]) && (all || strips < VIEW_DETAILS);
		strips += row[n++].strip;
	}
	return n;
}

static void put_metrics(struct view *v, const struct regress *r, bool all)
{
	struct text_row *row = calloc(r->nmetric + 1, sizeof(*row));
	const struct regress_metric **metric = NULL;
	const void **rows = NULL;
	struct buf b = BUF_INIT;
	size_t n;

	if (!r->nmetric)
		goto out;
	if (!row || render_metric_rows(r, &metric)) {
		v->failed = true;
		goto out;
	}
	n = fill_rows(r, metric, all, row);
	words_counts(words_of(v), &b, r);
	view_heading(v, "METRICS", &b);
	rows = table_rows(v, row, n, sizeof(*row));
	if (!n || !rows)
		goto out;
	put_legend(v, r, table_print(v, &(struct table){
		.col = metric_cols, .ncol = TEXT_COLS, .row = rows, .nrow = n,
		.nmore = r->nmetric - n, .all = "--all", .detail = metric_detail,
		.cell = metric_cell, .ctx = words_of(v),
	}));
out:
	buf_release(&b);
	free(rows);
	free(metric);
	free(row);
}

/* --- what changed -------------------------------------------------------- */

static void add_frame(const struct view *v, struct buf *b, const char *s, size_t n)
{
	size_t i = b->len;

	escape_term(b, s, n, v->ascii);
	for (; i < b->len; i++)
		if (b->data[i] == ' ')
			b->data[i] = VIEW_GLUE[0];
}

/* Innermost first, as the summary's stacks: "futex_wait ← queue_pop ← main". */
static void put_stack(struct view *v, const char *label, const char *folded, size_t most)
{
	struct words_stack s = words_stack(folded);
	struct buf b = BUF_INIT;
	size_t shown = 0;

	if (s.done)
		return;
	while (words_stack_next(&s)) {
		if (shown++)
			buf_addf(&b, " %s" VIEW_GLUE, v->g->under);
		if (shown > most) {
			buf_adds(&b, v->g->dots);
			break;
		}
		add_frame(v, &b, s.frame, s.n);
	}
	view_wrap(v, STACK_INDENT, label, VIEW_DIM, &b);
	buf_release(&b);
}

static void part_detail(struct view *v, const void *row, unsigned int shown)
{
	const struct regress_contributor *c = row;
	const size_t most = v->opts->rows ? STACK_FRAMES : SIZE_MAX;

	(void)shown;
	if (c->stack_base && c->stack_now && !strcmp(c->stack_base, c->stack_now)) {
		put_stack(v, "      both", c->stack_now, most);
		return;
	}
	if (c->stack_base)
		put_stack(v, "      base", c->stack_base, most);
	if (c->stack_now)
		put_stack(v, "      new", c->stack_now, most);
}

static const struct table_col part_cols[PART_COLS] = {
	[PART_COL_PART] = { .head = "part", .align = TABLE_LEFT },
	[PART_COL_NAME] = { .head = "name", .align = TABLE_LEFT, .style = VIEW_BOLD, .min = 14,
			    .max = 44 },
	[PART_COL_WHAT] = { .head = "of it", .align = TABLE_LEFT },
	[PART_COL_BASE] = { .head = "base", .max = VALUE_COLUMNS },
	[PART_COL_NOW] = { .head = "new", .max = VALUE_COLUMNS },
	[PART_COL_CHANGE] = { .head = "change" },
};

static void part_cell(const struct table *t, unsigned int col, const void *row, struct buf *cell)
{
	render_part_cols[col].put(t->ctx, cell, row);
}

static void put_parts(struct view *v, const struct regress *r)
{
	struct buf b = BUF_INIT;
	const void **rows;

	if (!r->ncontributor)
		return;
	words_things(words_of(v), &b, r->ncontributor, "part of the program",
		     "parts of the program");
	buf_adds(&b, ", in figures a run; the largest change first");
	view_heading(v, "CHANGED", &b);
	buf_release(&b);
	rows = table_rows(v, r->contributor, r->ncontributor, sizeof(*r->contributor));
	if (!rows)
		return;
	table_print(v, &(struct table){
		.col = part_cols, .ncol = PART_COLS, .row = rows, .nrow = r->ncontributor,
		.all = "--all", .cell = part_cell, .ctx = words_of(v), .detail = part_detail,
		.ndetail = v->opts->rows ? VIEW_DETAILS : 0,
	});
	free(rows);
}

static int text_report(const struct regress *r, const struct render_opts *opts,
		       struct out_stream *o, struct err *err)
{
	const struct out_opts out = { .width = opts->width, .color = opts->color,
				      .charset = opts->charset,
				      .rows = opts->all ? 0 : opts->rows };
	struct view v;

	view_init(&v, NULL, &out, o);
	put_headline(&v, r);
	put_sides(&v, r);
	put_metrics(&v, r, opts->all);
	put_parts(&v, r);
	return v.failed ? err_sys(err, ENOMEM, "cannot print the report") : 0;
}

const struct render_format render_text = { "text", text_report };
