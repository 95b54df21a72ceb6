/* SPDX-License-Identifier: MIT */
/* A tab of a live view as a table for logs and pipes: a block a refresh. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "out/now_cell.h"
#include "out/table.h"
#include "out/utf8.h"

/* Columns of a name, of which any number may be wide: more are for JSON. */
#define TEXT_LEFT_MOST 60

/* The columns that the table has, in its order. */
struct text {
	struct now_view view;
	const struct now_tab_desc *tab;
	size_t sort;
	const struct now_col *from[TABLE_COLS_MAX];
	struct table_col col[TABLE_COLS_MAX];
	unsigned int ncol;
};

static void put_cell(const struct table *t, unsigned int col, const void *row, struct buf *cell)
{
	const struct text *x = t->ctx;
	const size_t start = cell->len;

	x->from[col]->put(cell, &x->view, row);
	/* A sparkline may end in blanks, and a line must not. */
	while (cell->len > start && cell->data[cell->len - 1] == ' ')
		cell->len--;
}

static void choose_columns(struct text *x)
{
	bool named = false;
	size_t i;

	for (i = 0; i < x->tab->ncol && x->ncol < TABLE_COLS_MAX; i++) {
		const struct now_col *c = &x->tab->col[i];
		const unsigned char width = (unsigned char)now_col_width(&x->view, c);
		enum view_style style = VIEW_PLAIN;

		if (!now_col_shown(&x->view, c))
			continue;
		if (i == x->sort)
			style = VIEW_BOLD;
		else if (c->left && !named)
			style = VIEW_CYAN;
		named = named || c->left;
		x->from[x->ncol] = c;
		x->col[x->ncol++] = (struct table_col){
			.head = now_col_head(&x->view, c), .style = style,
			.align = c->left ? TABLE_LEFT : TABLE_RIGHT,
			.min = c->left ? width : 0, .max = c->left ? TEXT_LEFT_MOST : 0,
			/* What it is sorted by is always to be seen. */
			.wide = width, .drop = i == x->sort ? 0 : (unsigned char)c->rank,
		};
	}
}

static void put_line(struct view *v, struct buf *b, enum view_style style)
{
	size_t n = utf8_fit(b->data, b->len, v->width, NULL);

	while (n && b->data[n - 1] == ' ')
		n--;
	view_style(v, style);
	out_write(v->out, b->data, n);
	view_style(v, VIEW_PLAIN);
	out_putc(v->out, '\n');
	v->failed |= b->failed;
	buf_reset(b);
}

static void add_time(struct buf *b, uint64_t realtime_ns)
{
	const time_t seconds = (time_t)(realtime_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%F %T", &tm))
		buf_adds(b, text);
	else
		buf_addf(b, "%" PRIu64, realtime_ns / 1000000000);
}

/* "2026-11-30 05:48:08  Threads by CPU%, the last 1.00 s". */
static void put_title(struct view *v, const struct text *x, struct buf *b)
{
	const struct now *n = x->view.now;
	const struct now_col *sort = &x->tab->col[x->sort];

	add_time(b, n->realtime_ns);
	buf_addf(b, "  %s", x->tab->title);
	if (now_col_shown(&x->view, sort))
		buf_addf(b, " by %s", now_col_head(&x->view, sort));
	if (x->view.totals) {
		buf_adds(b, ", all since tracing began ");
		now_put_ns(b, &x->view, n->since_ns);
		buf_adds(b, " ago");
	} else {
		buf_adds(b, ", the last ");
		now_put_ns(b, &x->view, n->interval_ns);
	}
	put_line(v, b, VIEW_BOLD);
}

static void put_head(struct view *v, const struct text *x)
{
	struct buf one = BUF_INIT, two = BUF_INIT;

	put_title(v, x, &one);
	now_head(&one, &two, &x->view, v->width);
	put_line(v, &one, VIEW_PLAIN);
	put_line(v, &two, x->view.now->loss.total ? VIEW_RED : VIEW_DIM);
	buf_release(&one);
	buf_release(&two);
}

static void put_rows(struct view *v, const struct text *x, size_t most)
{
	const void *base, **row;
	size_t n, shown;

	base = x->tab->rows(x->view.now, &n);
	if (!n) {
		out_printf(v->out, "  %s\n", x->tab->none);
		return;
	}
	row = table_rows(v, base, n, x->tab->row_bytes);
	if (!row)
		return;
	shown = most && most < n ? most : n;
	now_sort(&x->view, x->tab, x->sort, false, row, n, shown);
	table_print(v, &(struct table){
		.col = x->col, .ncol = x->ncol, .row = row, .nrow = shown, .nmore = n - shown,
		.all = "--rows 0", .cell = put_cell, .ctx = x,
	});
	free(row);
}

int now_text(const struct now *n, const struct now_text_opts *opts, struct out_stream *o,
	     struct err *err)
{
	const struct out_opts out = { .width = opts->width, .color = opts->color,
				      .charset = opts->charset };
	struct text x = { .tab = &now_tabs[opts->tab] };
	struct view v;

	view_init(&v, NULL, &out, o);
	/* Who asks for a narrow one has it. */
	if (opts->width && opts->width < v.width)
		v.width = opts->width;
	x.view = (struct now_view){ .now = n, .totals = opts->totals, .ascii = v.ascii };
	x.sort = opts->sort < x.tab->ncol ? opts->sort : x.tab->sort;
	choose_columns(&x);
	put_head(&v, &x);
	put_rows(&v, &x, opts->rows);
	out_putc(o, '\n');
	return v.failed ? err_sys(err, ENOMEM, "cannot print the table") : 0;
}
