/* SPDX-License-Identifier: MIT */
/*
 * A report as a comment on a pull request, in GitHub's Markdown: what changed stands
 * open, all else is folded. Names are code, where nothing is a mention, a link or HTML.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out/escape.h"
#include "report/render.h"
#include "report/render_cols.h"

#define NO_BREAK "\xc2\xa0"
#define STACK_FRAMES 16

static const struct words words = {
	.name = escape_markdown_code, .sentence = escape_markdown, .blank = NO_BREAK,
	.sep = " · ", .arrow = "→", .times = "×", .to = "…", .less = "&lt;", .infinity = "∞",
	.unknown = "–",
};

static void put_head(struct buf *b, const struct regress *r)
{
	size_t i;

	buf_addf(b, "### tracer: %s\n\n", compare_word(r->verdict));
	words_headline(&words, b, r);
	buf_adds(b, ".\n\n- **base** ");
	words_side(&words, b, &r->base);
	buf_adds(b, "\n- **new** ");
	words_side(&words, b, &r->now);
	buf_addc(b, '\n');
	if (r->ndifference)
		buf_adds(b, "\n> [!WARNING]\n> The two sides are not alike.\n");
	for (i = 0; i < r->ndifference; i++) {
		buf_adds(b, "> - ");
		words.sentence(b, r->difference[i], strlen(r->difference[i]));
		buf_addc(b, '\n');
	}
}

static void put_table_head(struct buf *b, const struct render_col *col, size_t ncol)
{
	size_t i;

	buf_addc(b, '\n');
	for (i = 0; i < ncol; i++)
		if (col[i].in == RENDER_IN_ALL)
			buf_addf(b, "| %s ", col[i].head);
	buf_adds(b, "|\n");
	for (i = 0; i < ncol; i++)
		if (col[i].in == RENDER_IN_ALL)
			buf_adds(b, col[i].left ? "|:--" : "|--:");
	buf_adds(b, "|\n");
}

static void put_table_row(struct buf *b, const struct render_col *col, size_t ncol,
			  const void *row)
{
	size_t i;

	for (i = 0; i < ncol; i++) {
		if (col[i].in != RENDER_IN_ALL)
			continue;
		buf_adds(b, "| ");
		col[i].put(&words, b, row);
		buf_addc(b, ' ');
	}
	buf_adds(b, "|\n");
}

static void put_more(struct buf *b, size_t rows, size_t shown)
{
	if (rows > shown)
		buf_addf(b, "\n… %zu more\n", rows - shown);
}

static size_t at_most(size_t n, size_t rows)
{
	return rows && n > rows ? rows : n;
}

static void put_metric_rows(struct buf *b, const struct regress_metric **row, size_t n,
			    size_t rows)
{
	const size_t shown = at_most(n, rows);
	size_t i;

	put_table_head(b, render_metric_cols, METRIC_COLS);
	for (i = 0; i < shown; i++)
		put_table_row(b, render_metric_cols, METRIC_COLS, row[i]);
	put_more(b, n, shown);
}

static void put_notes(struct buf *b, const struct regress_metric **row, size_t n)
{
	struct buf notes = BUF_INIT;
	size_t i;

	buf_addc(b, '\n');
	for (i = 0; i < n; i++) {
		words_notes(&words, &notes, row[i]);
		if (!notes.len)
			continue;
		buf_adds(b, "- ");
		words_name(&words, b, row[i]->name);
		buf_addf(b, ": %s\n", notes.data);
		b->failed |= notes.failed;
		buf_reset(&notes);
	}
	buf_release(&notes);
}

static int put_metrics(struct buf *b, const struct regress *r, size_t rows)
{
	const size_t same = words_count(r, COMPARE_SAME), changed = r->nmetric - same;
	const struct regress_metric **row;

	if (render_metric_rows(r, &row))
		return -ENOMEM;
	if (changed) {
		put_metric_rows(b, row, changed, rows);
		put_notes(b, row, at_most(changed, rows));
	}
	if (same) {
		buf_adds(b, "\n<details><summary>");
		words_things(&words, b, same, "metric is the same", "metrics are the same");
		buf_adds(b, "</summary>\n");
		put_metric_rows(b, row + changed, same, rows);
		buf_adds(b, "\n</details>\n");
	}
	free(row);
	return 0;
}

static void put_stack(struct buf *b, const char *label, const char *folded)
{
	struct words_stack s = words_stack(folded ? folded : "");
	struct buf text = BUF_INIT;
	size_t shown = 0;

	while (words_stack_next(&s) && shown++ < STACK_FRAMES) {
		buf_adds(&text, shown > 1 ? " ← " : "");
		buf_add(&text, s.frame, s.n);
	}
	if (shown > STACK_FRAMES)
		buf_adds(&text, " ← …");
	if (text.len) {
		buf_addf(b, "  - %s: ", label);
		words.name(b, text.data, text.len);
		buf_addc(b, '\n');
	}
	b->failed |= text.failed;
	buf_release(&text);
}

static void put_stacks(struct buf *b, const struct regress_contributor *c)
{
	if (!c->stack_base && !c->stack_now)
		return;
	buf_addf(b, "- %s ", regress_part_name(c->part));
	words_name(&words, b, c->name);
	buf_addc(b, '\n');
	if (c->stack_base && c->stack_now && !strcmp(c->stack_base, c->stack_now)) {
		put_stack(b, "both", c->stack_now);
		return;
	}
	put_stack(b, "base", c->stack_base);
	put_stack(b, "new", c->stack_now);
}

static void put_parts(struct buf *b, const struct regress *r, size_t rows)
{
	const size_t shown = at_most(r->ncontributor, rows);
	size_t i;

	if (!shown)
		return;
	buf_adds(b, "\n<details><summary>What changed in the program: ");
	words_things(&words, b, r->ncontributor, "part", "parts");
	buf_adds(b, "</summary>\n");
	put_table_head(b, render_part_cols, PART_COLS);
	for (i = 0; i < shown; i++)
		put_table_row(b, render_part_cols, PART_COLS, &r->contributor[i]);
	put_more(b, r->ncontributor, shown);
	buf_addc(b, '\n');
	for (i = 0; i < shown; i++)
		put_stacks(b, &r->contributor[i]);
	buf_adds(b, "\n</details>\n");
}

static void put_machine(struct buf *b, const char *label, const struct store_machine *m)
{
	const size_t start = b->len;

	buf_addf(b, "- %s: ", label);
	words_machine(&words, b, m);
	if (b->len == start + strlen(label) + 4)
		buf_adds(b, "not known");
	buf_addc(b, '\n');
}

static void put_reading(struct buf *b, const struct regress *r)
{
	buf_adds(b, "\n<details><summary>Machines, and how to read this</summary>\n\n");
	put_machine(b, "base", &r->base.machine);
	put_machine(b, "new", &r->now.machine);
	buf_addf(b, "\nFigures are medians. The interval is of the change, at %.0f" NO_BREAK
		 "%%; q is p corrected for the number of metrics. A metric is inconclusive when "
		 "its runs can neither show nor rule out a change that matters.\n\n</details>\n",
		 100 * compare_defaults.level);
}

static int markdown_report(const struct regress *r, const struct render_opts *opts,
			   struct out_stream *o, struct err *err)
{
	struct buf b = BUF_INIT;
	int ret;

	put_head(&b, r);
	ret = put_metrics(&b, r, opts->rows);
	put_parts(&b, r, opts->rows);
	put_reading(&b, r);
	if (b.failed)
		ret = -ENOMEM;
	out_buf(o, &b);
	buf_release(&b);
	return ret ? err_sys(err, ENOMEM, "cannot print the report") : 0;
}

const struct render_format render_markdown = { "markdown", markdown_report };
