/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. One page that needs nothing else: what it says is in its tables, which are
 * there without scripts. Its script (render_html.js) makes them sortable and draws the
 * runs and the stacks from the report's JSON, which the page has in it. The policy in
 * its head lets this script and this style in by their hashes and forbids all else, so
 * that a name that got through as markup would still do nothing.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "render_page.h"
#include "report/render.h"
#include "report/render_cols.h"
#include "report/render_json.h"

#define NO_BREAK "\xc2\xa0"
#define STACK_ROWS 200		/* of the table: the graph and the JSON have all */

static const struct words words = {
	.name = escape_xml, .sentence = escape_xml, .blank = NO_BREAK, .sep = " · ",
	.arrow = "→", .times = "×", .to = "…", .less = "&lt;", .infinity = "∞", .unknown = "–",
};

static void put_head(struct buf *b, const struct regress *r)
{
	const char *verdict = compare_word(r->verdict);

	buf_adds(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		 "script-src 'sha256-" PAGE_JS_SHA256 "'; style-src 'sha256-" PAGE_CSS_SHA256 "'; "
		 "base-uri 'none'; form-action 'none'\">\n"
		 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
	buf_addf(b, "%s: ", verdict);
	words_name(&words, b, r->base.name);
	buf_adds(b, " → ");
	words_name(&words, b, r->now.name);
	buf_adds(b, "</title>\n<style>");
	buf_adds(b, PAGE_CSS);
	buf_addf(b, "</style>\n</head>\n<body>\n<header>\n<h1><span class=\"%s\">%s</span> ",
		 verdict, verdict);
	words_headline(&words, b, r);
	buf_adds(b, "</h1>\n<button type=\"button\" id=\"theme\" hidden>dark</button>\n"
		 "</header>\n<main>\n");
}

/* --- the sides ----------------------------------------------------------- */

static void put_name(struct buf *b, const struct regress_side *s)
{
	words_name(&words, b, s->name);
	if (s->label && *s->label && (!s->name || strcmp(s->label, s->name))) {
		buf_adds(b, " · ");
		words_name(&words, b, s->label);
	}
}

static void put_commit(struct buf *b, const struct regress_side *s)
{
	if (!s->commit || !*s->commit)
		return;
	words_name(&words, b, s->commit);
	buf_adds(b, s->dirty ? ", with changes" : "");
}

static void put_command(struct buf *b, const struct regress_side *s)
{
	words_name(&words, b, s->command);
}

static void put_runs(struct buf *b, const struct regress_side *s)
{
	words_value(&words, b, (double)s->runs, "");
}

static void put_when(struct buf *b, const struct regress_side *s)
{
	words_when(&words, b, s->when_ns);
}

static void put_source(struct buf *b, const struct regress_side *s)
{
	words_name(&words, b, s->source);
	if (s->tracer && *s->tracer) {
		buf_adds(b, " by tracer ");
		words_name(&words, b, s->tracer);
	}
}

static void put_machine(struct buf *b, const struct regress_side *s)
{
	words_machine(&words, b, &s->machine);
}

static void put_load(struct buf *b, const struct regress_side *s)
{
	if (isnan(s->load))
		return;
	words_value(&words, b, s->load, "");
	if (!isnan(s->steal))
		buf_addf(b, ", %.1f" NO_BREAK "%% stolen", 100 * s->steal);
}

static void put_sides(struct buf *b, const struct regress *r)
{
	static const struct {
		const char *head;
		void (*put)(struct buf *b, const struct regress_side *s);
		bool code;
	} rows[] = {
		{ "", put_name, true }, { "commit", put_commit, true },
		{ "command", put_command, true }, { "runs", put_runs, false },
		{ "when", put_when, false }, { "from", put_source, false },
		{ "machine", put_machine, false }, { "load", put_load, false },
	};
	const struct regress_side *side[] = { &r->base, &r->now };
	size_t i, k;

	buf_adds(b, "<section aria-label=\"Compared\">\n<table class=\"sides\">\n"
		 "<thead><tr><td></td><th scope=\"col\">base</th><th scope=\"col\">new</th></tr>"
		 "</thead>\n<tbody>\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_addf(b, "<tr><th scope=\"row\">%s</th>", *rows[i].head ? rows[i].head : "name");
		for (k = 0; k < 2; k++) {
			buf_adds(b, rows[i].code ? "<td><code>" : "<td>");
			rows[i].put(b, side[k]);
			buf_adds(b, rows[i].code ? "</code></td>" : "</td>");
		}
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</tbody>\n</table>\n");
	if (r->ndifference)
		buf_adds(b, "<ul class=\"warnings\">\n");
	for (i = 0; i < r->ndifference; i++) {
		buf_adds(b, "<li>");
		words.sentence(b, r->difference[i], strlen(r->difference[i]));
		buf_adds(b, "</li>\n");
	}
	buf_adds(b, r->ndifference ? "</ul>\n</section>\n" : "</section>\n");
}

/* --- tables -------------------------------------------------------------- */

static void put_table_head(struct buf *b, const char *id, const struct render_col *col,
			   size_t ncol)
{
	size_t i;

	buf_addf(b, "<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
		 "aria-labelledby=\"%s-head\">\n<table class=\"sortable\" id=\"%s\">\n"
		 "<thead><tr>", id, id);
	for (i = 0; i < ncol; i++)
		buf_addf(b, "<th scope=\"col\"%s>%s</th>", col[i].left ? "" : " class=\"n\"",
			 col[i].head);
	buf_adds(b, "</tr></thead>\n<tbody>\n");
}

/* data-key is what a column of figures is sorted by; data-head names it on a narrow screen. */
static void put_cell_tag(struct buf *b, const struct render_col *col, const void *row)
{
	const double key = col->key ? col->key(row) : NAN;

	buf_addf(b, "<td data-head=\"%s\"%s", col->head, col->left ? "" : " class=\"n\"");
	if (isinf(key))
		buf_addf(b, " data-key=\"%sInfinity\"", key < 0 ? "-" : "");
	else if (!isnan(key))
		buf_addf(b, " data-key=\"%.17g\"", key);
	buf_addc(b, '>');
}

static void put_cells(struct buf *b, const struct render_col *col, size_t from, size_t to,
		      const void *row)
{
	size_t i;

	for (i = from; i < to; i++) {
		put_cell_tag(b, &col[i], row);
		col[i].put(&words, b, row);
		buf_adds(b, "</td>");
	}
}

static void put_metric(struct buf *b, const struct regress *r, const struct regress_metric *m)
{
	const char *verdict = compare_word(m->result.verdict);
	struct buf notes = BUF_INIT;

	buf_addf(b, "<tr data-metric=\"%zu\" data-verdict=\"%s\"><th scope=\"row\"><code>",
		 (size_t)(m - r->metric), verdict);
	words_name(&words, b, m->name);
	buf_adds(b, "</code>");
	words_notes(&words, &notes, m);
	if (notes.len)
		buf_addf(b, "<small>%s</small>", notes.data);
	buf_adds(b, "</th>");
	put_cells(b, render_metric_cols, METRIC_COL_NAME + 1, METRIC_COL_VERDICT, m);
	put_cell_tag(b, &render_metric_cols[METRIC_COL_VERDICT], m);
	buf_addf(b, "<span class=\"%s\">%s</span></td></tr>\n", verdict, verdict);
	b->failed |= notes.failed;
	buf_release(&notes);
}

static void put_legend(struct buf *b)
{
	buf_addf(b, "<p class=\"legend\">Base and new are medians. The interval is of the change, "
		 "at %.0f" NO_BREAK "%%; q is p corrected for the number of metrics. Inconclusive: "
		 "the runs can neither show nor rule out a change that matters. In a distribution "
		 "each dot is a run, the line the median, and the band where the interval lets the "
		 "new median be.</p>\n", 100 * compare_defaults.level);
	buf_adds(b, "<noscript><p class=\"legend\">With scripts the tables can be sorted, and runs "
		 "and stacks are drawn.</p></noscript>\n</section>\n");
}

static int put_metrics(struct buf *b, const struct regress *r)
{
	const struct regress_metric **row;
	size_t i;

	if (render_metric_rows(r, &row))
		return -ENOMEM;
	buf_adds(b, "<section>\n<h2 id=\"metrics-head\">Metrics</h2>\n<p>");
	words_counts(&words, b, r);
	buf_adds(b, "</p>\n<p class=\"controls\" hidden><label>filter "
		 "<input type=\"search\" id=\"filter\" autocomplete=\"off\"></label> "
		 "<label><input type=\"checkbox\" id=\"same\"> show what is the same</label> "
		 "<span role=\"status\" id=\"shown\"></span></p>\n");
	put_table_head(b, "metrics", render_metric_cols, METRIC_COLS);
	for (i = 0; i < r->nmetric; i++)
		put_metric(b, r, row[i]);
	free(row);
	buf_adds(b, "</tbody>\n</table>\n</div>\n");
	put_legend(b);
	return 0;
}

static void put_stack(struct buf *b, const char *side, const char *folded)
{
	struct words_stack s = words_stack(folded ? folded : "");

	if (s.done)
		return;
	buf_addf(b, "<div><p>%s</p><ol>", side);
	while (words_stack_next(&s)) {
		buf_adds(b, "<li><code>");
		words.name(b, s.frame, s.n);
		buf_adds(b, "</code></li>");
	}
	buf_adds(b, "</ol></div>");
}

static void put_both_stacks(struct buf *b, const struct regress_contributor *c)
{
	const bool base = c->stack_base && *c->stack_base, now = c->stack_now && *c->stack_now;
	const bool both = base && now && !strcmp(c->stack_base, c->stack_now);

	if (!base && !now)
		return;
	buf_adds(b, "<details><summary>stack, innermost first</summary><div class=\"stacks\">");
	if (!both)
		put_stack(b, "base", c->stack_base);
	put_stack(b, both ? "both" : "new", c->stack_now);
	buf_adds(b, "</div></details>");
}

static void put_part(struct buf *b, const struct regress_contributor *c)
{
	buf_adds(b, "<tr>");
	put_cells(b, render_part_cols, PART_COL_PART, PART_COL_NAME, c);
	buf_adds(b, "<th scope=\"row\"><code>");
	words_name(&words, b, c->name);
	buf_adds(b, "</code>");
	put_both_stacks(b, c);
	buf_adds(b, "</th>");
	put_cells(b, render_part_cols, PART_COL_WHAT, PART_COLS, c);
	buf_adds(b, "</tr>\n");
}

static void put_parts(struct buf *b, const struct regress *r)
{
	size_t i;

	if (!r->ncontributor)
		return;
	buf_adds(b, "<section>\n<h2 id=\"parts-head\">What changed in the program</h2>\n"
		 "<p>Figures are of a run.</p>\n");
	put_table_head(b, "parts", render_part_cols, PART_COLS);
	for (i = 0; i < r->ncontributor; i++)
		put_part(b, &r->contributor[i]);
	buf_adds(b, "</tbody>\n</table>\n</div>\n</section>\n");
}

/* --- stacks -------------------------------------------------------------- */

static void put_stack_row(struct buf *b, const struct regress_stack *s)
{
	buf_adds(b, "<tr><th scope=\"row\"><code>");
	words_name(&words, b, s->folded);
	buf_adds(b, "</code></th>");
	buf_adds(b, "<td class=\"n\" data-head=\"base\">");
	words_value(&words, b, s->base, "ns");
	buf_adds(b, "</td><td class=\"n\" data-head=\"new\">");
	words_value(&words, b, s->now, "ns");
	buf_adds(b, "</td></tr>\n");
}

static void put_stacks(struct buf *b, const struct regress *r)
{
	size_t i;

	buf_adds(b, "<section>\n<h2 id=\"stacks-head\">Time waited, by stack</h2>\n");
	if (!r->nstack) {
		buf_adds(b, "<p>No stacks were stored with these runs.</p>\n</section>\n");
		return;
	}
	buf_adds(b, "<div id=\"flame\" hidden></div>\n<details id=\"stacks\">"
		 "<summary>as a table</summary>\n<table>\n<thead><tr>"
		 "<th scope=\"col\">stack, outermost first</th>"
		 "<th scope=\"col\" class=\"n\">base</th>"
		 "<th scope=\"col\" class=\"n\">new</th></tr></thead>\n<tbody>\n");
	for (i = 0; i < r->nstack && i < STACK_ROWS; i++)
		put_stack_row(b, &r->stack[i]);
	buf_adds(b, "</tbody>\n</table>\n");
	if (i < r->nstack)
		buf_addf(b, "<p>… %zu more</p>\n", r->nstack - i);
	buf_adds(b, "</details>\n</section>\n");
}

static int html_report(const struct regress *r, const struct render_opts *opts,
		       struct out_stream *o, struct err *err)
{
	struct buf b = BUF_INIT;
	struct json j;
	bool failed;

	(void)opts;
	put_head(&b, r);
	put_sides(&b, r);
	failed = put_metrics(&b, r) != 0;
	put_parts(&b, r);
	put_stacks(&b, r);
	buf_adds(&b, "</main>\n<script type=\"application/json\" id=\"report\">\n");
	failed = failed || b.failed;
	out_buf(o, &b);
	json_init_html(&j, o);
	render_json_document(&j, r);
	failed = json_finish(&j) || failed;
	out_puts(o, "</script>\n<script>");
	out_puts(o, PAGE_JS);
	out_puts(o, "</script>\n</body>\n</html>\n");
	buf_release(&b);
	return failed ? err_sys(err, ENOMEM, "cannot print the report") : 0;
}

const struct render_format render_html = { "html", html_report };
