/* SPDX-License-Identifier: MIT */
/* A list on the screen: which columns there is room for, the heading, the rows. */
#include "tui/tui_impl.h"

#include <string.h>

/* What a left column may grow to, and be cut to. */
#define WIDE_MAX 60
#define LEFT_MIN 4

struct place { size_t col; int x, width; };

struct layout {
	struct place place[TUI_COLS_MAX];
	size_t n;
	size_t name;		/* column before whose text the tree stands */
};

bool tui_col_shown(const struct tui *t, const struct now_col *c)
{
	struct now_view v = tui_view(t);

	return t->now && now_col_shown(&v, c);
}

size_t tui_sort_col(struct tui *t)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t sort = t->per[tui_level(t)->tab].sort, i;

	/* Else the next figure behind it. */
	for (i = sort; i < d->ncol; i++)
		if (tui_col_shown(t, &d->col[i]) && (i == sort || !d->col[i].left))
			return i;
	for (i = 0; i < d->ncol && !tui_col_shown(t, &d->col[i]); i++)
		;
	return i < d->ncol ? i : sort;
}

/* Columns that all take; @least: with texts cut as short as can be. */
static int sum_width(struct tui *t, const struct layout *l, bool least)
{
	const struct now_tab_desc *d = tui_desc(t);
	struct now_view v = tui_view(t);
	int sum = -1;
	size_t i;

	for (i = 0; i < l->n; i++) {
		const struct now_col *c = &d->col[l->place[i].col];

		sum += 1 + (least && c->left ? LEFT_MIN : (int)now_col_width(&v, c));
	}
	return sum;
}

static void drop(struct layout *l, size_t i)
{
	memmove(&l->place[i], &l->place[i + 1], (l->n - i - 1) * sizeof(l->place[0]));
	l->n--;
}

/* Takes away the column of the highest rank, but not the one that is sorted by. */
static bool drop_ranked(struct tui *t, struct layout *l)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t i, worst = l->n;
	unsigned int rank = 0;

	for (i = 0; i < l->n; i++) {
		const struct now_col *c = &d->col[l->place[i].col];

		if (c->rank > rank && l->place[i].col != t->rows.sort) {
			rank = c->rank;
			worst = i;
		}
	}
	if (worst < l->n)
		drop(l, worst);
	return rank > 0;
}

/* Where even the others have no room: from the right. */
static bool drop_last(struct tui *t, struct layout *l)
{
	size_t i = l->n;

	while (i-- > 1) {
		if (l->place[i].col == t->rows.sort)
			continue;
		drop(l, i);
		return true;
	}
	return false;
}

/* The cell of @line in the scratch buffer. */
static void cell(struct tui *t, const struct layout *l, size_t col, size_t line, const void *row)
{
	struct now_view v = tui_view(t);

	buf_reset(&t->cell);
	if (t->rows.tree && col == l->name)
		tui_tree_prefix(t, &t->cell, line);
	tui_desc(t)->col[col].put(&t->cell, &v, row);
}

/* Where no column can go any more, texts are cut shorter. */
static void narrow(struct tui *t, struct layout *l, int room)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t i;

	for (i = l->n; i-- > 0 && room < 0;) {
		int less = l->place[i].width - LEFT_MIN;

		if (!d->col[l->place[i].col].left || less <= 0)
			continue;
		if (less > -room)
			less = -room;
		l->place[i].width -= less;
		room += less;
	}
}

/* Left columns get what their cells have needed so far, as far as there is room. */
static void widen(struct tui *t, struct layout *l, size_t lines, int room)
{
	const struct now_tab_desc *d = tui_desc(t);
	struct tui_tab *per = &t->per[tui_level(t)->tab];
	const struct tui_level *level = tui_level(t);
	struct now_view v = tui_view(t);
	size_t i, j;

	for (i = 0; i < l->n; i++) {
		size_t col = l->place[i].col;
		unsigned int *wide = &per->wide[col];
		int more;

		l->place[i].width = (int)now_col_width(&v, &d->col[col]);
		if (!d->col[col].left)
			continue;
		for (j = level->top; j < level->top + lines && j < t->rows.n; j++) {
			int w;

			cell(t, l, col, j, tui_list_row(t, j));
			w = tui_width(t->cell.data ? t->cell.data : "", t->cell.len);
			if (w > (int)*wide && w <= WIDE_MAX)
				*wide = (unsigned int)w;
		}
		more = (int)*wide - l->place[i].width;
		if (more > room)
			more = room;
		if (more > 0) {
			l->place[i].width += more;
			room -= more;
		}
	}
}

static void lay_out(struct tui *t, struct layout *l, size_t lines)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t i;
	int x = 0;

	memset(l, 0, sizeof(*l));
	l->name = d->ncol;
	for (i = 0; i < d->ncol && i < TUI_COLS_MAX; i++) {
		if (d->col[i].left && l->name == d->ncol)
			l->name = i;
		if (tui_col_shown(t, &d->col[i]))
			l->place[l->n++].col = i;
	}
	while (sum_width(t, l, false) > COLS && drop_ranked(t, l))
		;
	while (sum_width(t, l, true) > COLS && drop_last(t, l))
		;
	widen(t, l, lines, COLS - sum_width(t, l, false));
	narrow(t, l, COLS - sum_width(t, l, false));
	for (i = 0; i < l->n; i++) {
		l->place[i].x = x;
		x += l->place[i].width + 1;
	}
}

static void draw_header(struct tui *t, const struct layout *l, int y)
{
	const struct now_tab_desc *d = tui_desc(t);
	const struct tui_tab *per = &t->per[tui_level(t)->tab];
	struct now_view v = tui_view(t);
	size_t i;

	tui_fill(t, y, 0, COLS, TUI_HEADER);
	for (i = 0; i < l->n; i++) {
		const struct place *p = &l->place[i];
		const struct now_col *c = &d->col[p->col];
		bool sorted = p->col == t->rows.sort;
		enum tui_style style = sorted ? TUI_HEADER_SORT : TUI_HEADER;
		const char *head = now_col_head(&v, c);
		int end = p->x + (c->left ? tui_width(head, strlen(head)) : p->width);

		tui_cell(t, y, p->x, p->width, c->left, style, head, strlen(head));
		/* In the blank behind: the heading's own place may have no room. */
		if (sorted && t->ascii)
			tui_puts(t, y, end, 1, style, per->reverse ? "^" : "v");
		else if (sorted)
			tui_puts(t, y, end, 1, style, per->reverse ? "△" : "▽");
		tui_zone_add(t, y, p->x, p->x + p->width + 1, TUI_ZONE_COL, (int)p->col);
	}
}

/* Words of a thread's state in their colours, and what is nothing out of the way. */
static enum tui_style style_of(const struct now_tab_desc *d, const struct now_col *c,
			       const struct buf *b)
{
	static const enum tui_style states[NOW_STATES] = {
		[NOW_RUNNING] = TUI_GOOD, [NOW_RUNNABLE] = TUI_WARN, [NOW_BLOCKED] = TUI_PLAIN,
	};
	int i;

	if (!b->len || !strcmp(b->data, "0") || !strcmp(b->data, "0.0") || !strcmp(b->data, "-"))
		return TUI_DIM;
	if (!strcmp(c->head, "PAST"))
		return TUI_GOOD;
	if (d == &now_tabs[NOW_THREADS] && c->left)
		for (i = 0; i < NOW_STATES; i++)
			if (!strcmp(b->data, now_state_name(i)))
				return states[i];
	return TUI_PLAIN;
}

static void draw_row(struct tui *t, const struct layout *l, int y, size_t line, const void *row)
{
	const struct now_tab_desc *d = tui_desc(t);
	const struct tui_level *level = tui_level(t);
	struct tui_id id = tui_row_id(t, row);
	enum tui_style whole = TUI_PLAIN;
	size_t i;

	if (map_get(t->per[level->tab].tagged, &id))
		whole = TUI_TAGGED;
	if (line == level->sel)
		whole = TUI_CURSOR;
	tui_fill(t, y, 0, COLS, whole);
	for (i = 0; i < l->n; i++) {
		const struct place *p = &l->place[i];
		const struct now_col *c = &d->col[p->col];

		cell(t, l, p->col, line, row);
		if (!t->cell.len)
			continue;
		tui_cell(t, y, p->x, p->width, c->left,
			 whole == TUI_PLAIN ? style_of(d, c, &t->cell) : whole, t->cell.data,
			 t->cell.len);
	}
	/* Without colours a tag needs a sign. */
	if (whole != TUI_TAGGED && map_get(t->per[level->tab].tagged, &id))
		tui_puts(t, y, COLS - 1, 1, whole, "*");
	tui_zone_add(t, y, 0, COLS, TUI_ZONE_ROW, (int)line);
}

/* Names of the locks that the lines on the screen show. */
static void name_locks(struct tui *t, size_t from, size_t to)
{
	enum now_tab tab = tui_level(t)->tab;
	size_t i;

	for (i = from; i < to && i < t->rows.n; i++) {
		const void *row = tui_list_row(t, i);
		const struct now_thread *n = row;
		const struct now_lock *l = NULL;

		if (tab == NOW_LOCKS)
			l = row;
		else if (tab == NOW_THREADS && n->lock_addr)
			l = tui_lock_find(t, n->lock_addr, n->space);
		if (l)
			tui_lock_name(t, l);
	}
}

static const char *why_empty(struct tui *t)
{
	const struct tui_level *level = tui_level(t);

	if (!t->now)
		return "no figures yet";
	if (!t->rows.all)
		return "nothing has been seen yet";
	if (*level->filter)
		return "no row passes the filter: Esc clears it";
	if (t->per[level->tab].only_tagged)
		return "no tagged row is left: v shows all";
	return "none of its threads is left";
}

void tui_table_draw(struct tui *t, int y, size_t lines)
{
	const struct tui_level *level = tui_level(t);
	struct layout l;
	size_t i;

	name_locks(t, level->top, level->top + lines);
	lay_out(t, &l, lines);
	draw_header(t, &l, y);
	for (i = 0; i < lines && level->top + i < t->rows.n; i++)
		draw_row(t, &l, y + 1 + (int)i, level->top + i,
			 tui_list_row(t, level->top + i));
	if (!t->rows.n)
		tui_puts(t, y + 1, 1, COLS - 1, TUI_DIM, why_empty(t));
}
