/* SPDX-License-Identifier: MIT */
#include "out/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/utf8.h"

#define TABLE_GAP 2

/* Cells of all rows in one buffer; .end[i] is where cell i ends. */
struct cells {
	struct buf text;
	size_t *end;
	size_t n;
};

struct layout {
	unsigned int width[TABLE_COLS_MAX];
	unsigned int shown;	/* bits */
};

static void format_cell(const struct view *v, const struct table_col *c, const void *row,
			struct buf *b)
{
	char tmp[HUMAN_BYTES];
	uint64_t n;

	if (c->unit == TABLE_TEXT) {
		c->text(v, row, b);
		return;
	}
	n = c->num(v, row);
	if (!n && c->blank_zero)
		return;
	switch (c->unit) {
	case TABLE_INT:
		buf_addf(b, "%" PRIu64, n);
		break;
	case TABLE_COUNT:
		buf_adds(b, human_count(tmp, n));
		break;
	case TABLE_NS:
		buf_adds(b, human_ns(tmp, n, v->ascii));
		break;
	case TABLE_BYTES:
		buf_adds(b, human_bytes(tmp, n));
		break;
	case TABLE_TEXT:
		break;
	}
}

static void add_row(const struct view *v, const struct table *t, const void *row,
		    struct cells *cells)
{
	unsigned int c;

	for (c = 0; c < t->ncol; c++) {
		if (t->cell)
			t->cell(t, c, row, &cells->text);
		else
			format_cell(v, &t->col[c], row, &cells->text);
		cells->end[cells->n++] = cells->text.len;
	}
}

static const char *cell_at(const struct cells *cells, size_t i, size_t *len)
{
	size_t start = i ? cells->end[i - 1] : 0;

	*len = cells->end[i] - start;
	return *len ? cells->text.data + start : "";
}

static unsigned int total_width(const struct table *t, const struct layout *l)
{
	unsigned int c, sum = TABLE_INDENT, n = 0;

	for (c = 0; c < t->ncol; c++) {
		if (!(l->shown & 1u << c))
			continue;
		sum += l->width[c] + (n++ ? TABLE_GAP : 0);
	}
	return sum;
}

/* No text says anything in fewer columns. */
#define TABLE_LEAST 4

/*
 * Takes what is too much from the columns that may shrink, the widest first; @most:
 * also what is below their .min.
 */
static void shrink(const struct table *t, struct layout *l, unsigned int want, bool most)
{
	unsigned int c, widest;

	while (total_width(t, l) > want) {
		widest = t->ncol;
		for (c = 0; c < t->ncol; c++) {
			unsigned int least = most ? TABLE_LEAST : t->col[c].min;

			if (!(l->shown & 1u << c) || !t->col[c].min || l->width[c] <= least)
				continue;
			if (widest == t->ncol || l->width[c] > l->width[widest])
				widest = c;
		}
		if (widest == t->ncol)
			return;
		l->width[widest]--;
	}
}

static void lay_out(const struct view *v, const struct table *t, const struct cells *cells,
		    struct layout *l)
{
	struct layout natural;
	unsigned int c, worst;
	size_t i, len;

	memset(l, 0, sizeof(*l));
	for (c = 0; c < t->ncol; c++) {
		size_t w = utf8_width(t->col[c].head, strlen(t->col[c].head));
		bool empty = true;

		for (i = c; i < cells->n; i += t->ncol) {
			const char *cell = cell_at(cells, i, &len);
			size_t cw = utf8_width(cell, len);

			w = cw > w ? cw : w;
			empty = empty && !len;
		}
		w = t->col[c].wide > w ? t->col[c].wide : w;
		if (t->col[c].max && w > t->col[c].max)
			w = t->col[c].max;
		l->width[c] = (unsigned int)w;
		if (!empty || !t->col[c].drop || t->col[c].wide)
			l->shown |= 1u << c;
	}
	natural = *l;
	for (;;) {
		memcpy(l->width, natural.width, sizeof(l->width));
		shrink(t, l, v->width, false);
		if (total_width(t, l) <= v->width)
			return;
		worst = t->ncol;
		for (c = 0; c < t->ncol; c++)
			if ((l->shown & 1u << c) && t->col[c].drop &&
			    (worst == t->ncol || t->col[c].drop > t->col[worst].drop))
				worst = c;
		if (worst == t->ncol) {
			shrink(t, l, v->width, true);
			return;
		}
		l->shown &= ~(1u << worst);
	}
}

/* Pads and cuts one cell; no blanks behind the last one. */
static void print_cell(struct view *v, const struct table_col *c, const char *text, size_t len,
		       unsigned int width, enum view_style style, bool last)
{
	size_t used, fit = utf8_fit(text, len, width, &used);
	bool cut = fit < len;

	if (cut)
		fit = utf8_fit(text, len, width - 1, &used);
	if (cut)
		used++;
	if (c->align == TABLE_RIGHT)
		out_pad(v->out, ' ', width - used);
	if (style != VIEW_PLAIN && len)
		view_style(v, style);
	view_put(v, text, fit);
	if (cut)
		out_puts(v->out, v->g->ellipsis);
	if (style != VIEW_PLAIN && len)
		view_style(v, VIEW_PLAIN);
	if (c->align == TABLE_LEFT && !last)
		out_pad(v->out, ' ', width - used);
}

static unsigned int last_shown(const struct table *t, const struct layout *l,
			       const struct cells *cells, size_t first)
{
	unsigned int c, last = 0;

	for (c = 0; c < t->ncol; c++) {
		size_t len = strlen(t->col[c].head);

		if (cells)
			cell_at(cells, first + c, &len);
		if ((l->shown & 1u << c) && len)
			last = c;
	}
	return last;
}

static enum view_style cell_style(const struct table_col *c, const void *row)
{
	if (!row)
		return VIEW_DIM;
	return c->style_of ? c->style_of(row) : c->style;
}

/* @row NULL: the header. @first is the row's first cell. */
static void print_row(struct view *v, const struct table *t, const struct layout *l,
		      const void *row, const struct cells *cells, size_t first)
{
	unsigned int c, last = last_shown(t, l, cells, first), n = 0;

	out_pad(v->out, ' ', TABLE_INDENT);
	for (c = 0; c <= last; c++) {
		const struct table_col *col = &t->col[c];
		const char *text = col->head;
		size_t len = strlen(col->head);

		if (!(l->shown & 1u << c))
			continue;
		if (n++)
			out_pad(v->out, ' ', TABLE_GAP);
		if (cells)
			text = cell_at(cells, first + c, &len);
		print_cell(v, col, text, len, l->width[c], cell_style(col, row), c == last);
	}
	out_putc(v->out, '\n');
}

static void print_rule(struct view *v, const struct table *t, const struct layout *l)
{
	unsigned int c, i, n = 0;

	view_style(v, VIEW_DIM);
	out_pad(v->out, ' ', TABLE_INDENT);
	for (c = 0; c < t->ncol; c++) {
		if (!(l->shown & 1u << c))
			continue;
		if (n++)
			out_pad(v->out, ' ', TABLE_GAP);
		for (i = 0; i < l->width[c]; i++)
			out_puts(v->out, v->g->rule);
	}
	view_style(v, VIEW_PLAIN);
	out_putc(v->out, '\n');
}

static void print_more(struct view *v, const struct table *t, size_t more)
{
	view_style(v, VIEW_DIM);
	out_pad(v->out, ' ', TABLE_INDENT);
	out_printf(v->out, "%s %zu more (%s shows all)", v->g->dots, more,
		   t->all ? t->all : "-n 0");
	view_style(v, VIEW_PLAIN);
	out_putc(v->out, '\n');
}

/* The line of a group where one begins; returns the row's group. */
static const char *print_group(struct view *v, const struct table *t, size_t i, const char *last)
{
	const char *group = t->group ? t->group(t->row[i]) : NULL;
	struct buf b = BUF_INIT;

	if (!group || group == last)
		return group;
	buf_adds(&b, group);
	view_wrap(v, TABLE_INDENT, "", VIEW_PLAIN, &b);
	buf_release(&b);
	return group;
}

static void print_below(struct view *v, const struct table *t, size_t i, unsigned int shown)
{
	if (t->detail && (!t->ndetail || i < t->ndetail))
		t->detail(v, t->row[i], shown);
	else if (t->brief)
		t->brief(v, t->row[i]);
}

unsigned int table_print(struct view *v, const struct table *t)
{
	size_t i, rows = v->opts->rows && v->opts->rows < t->nrow ? v->opts->rows : t->nrow;
	struct cells cells = { .text = BUF_INIT };
	struct layout l = { .shown = 0 };
	const char *group = NULL;

	cells.end = calloc((rows + 1) * t->ncol, sizeof(*cells.end));
	if (!cells.end) {
		v->failed = true;
		return 0;
	}
	for (i = 0; i < rows; i++)
		add_row(v, t, t->row[i], &cells);
	if (t->total)
		add_row(v, t, t->total, &cells);
	if (cells.text.failed) {
		v->failed = true;
		goto out;
	}
	lay_out(v, t, &cells, &l);
	print_row(v, t, &l, NULL, NULL, 0);
	for (i = 0; i < rows; i++) {
		group = print_group(v, t, i, group);
		print_row(v, t, &l, t->row[i], &cells, i * t->ncol);
		print_below(v, t, i, l.shown);
	}
	if (rows < t->nrow || t->nmore)
		print_more(v, t, t->nrow - rows + t->nmore);
	if (t->total) {
		print_rule(v, t, &l);
		print_row(v, t, &l, t->total, &cells, rows * t->ncol);
	}
out:
	buf_release(&cells.text);
	free(cells.end);
	return l.shown;
}

const void **table_rows(struct view *v, const void *base, size_t n, size_t size)
{
	const void **rows = calloc(n + 1, sizeof(*rows));
	size_t i;

	if (!rows) {
		v->failed = true;
		return NULL;
	}
	for (i = 0; i < n; i++)
		rows[i] = (const char *)base + i * size;
	return rows;
}
