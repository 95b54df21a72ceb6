/* SPDX-License-Identifier: MIT */
/* The columns to sort by, beside the list, as htop has them. */
#include "tui/tui_impl.h"

#include <string.h>

/* The @i-th column that is shown in this mode; ncol: there are not so many. */
static size_t nth(struct tui *t, size_t i)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t c;

	for (c = 0; c < d->ncol; c++)
		if (tui_col_shown(t, &d->col[c]) && !i--)
			break;
	return c;
}

static size_t count(struct tui *t)
{
	size_t n = 0;

	while (nth(t, n) < tui_desc(t)->ncol)
		n++;
	return n;
}

void tui_sort_by(struct tui *t, size_t col)
{
	struct tui_tab *per = &t->per[tui_level(t)->tab];

	if (tui_sort_col(t) == col)
		per->reverse = !per->reverse;
	else
		per->reverse = false;
	per->sort = col;
	tui_level_build(t, t->follow ? TUI_FIND : TUI_STAY);
}

void tui_menu_open(struct tui *t)
{
	size_t i;

	t->mode = TUI_MENU;
	t->menu_sel = t->menu_top = 0;
	for (i = 0; i < count(t); i++)
		if (nth(t, i) == tui_sort_col(t))
			t->menu_sel = i;
}

void tui_menu_take(struct tui *t, int key)
{
	size_t n = count(t), col;

	if (key == '\r' || key == '\n' || key == TUI_FN(KEY_ENTER)) {
		t->mode = TUI_NORMAL;
		col = nth(t, t->menu_sel);
		/* Taking what is sorted by already is no wish to have it reversed. */
		if (col < tui_desc(t)->ncol && col != tui_sort_col(t))
			tui_sort_by(t, col);
	} else if (key == TUI_ESC || key == 'q' || key == TUI_FN(KEY_F(6)) ||
		   key == TUI_FN(KEY_F(10))) {
		t->mode = TUI_NORMAL;
	} else if (key == '>' || key == '.') {
		t->menu_sel = (t->menu_sel + 1) % (n ? n : 1);
	} else if (key == '<' || key == ',') {
		t->menu_sel = n ? (t->menu_sel + n - 1) % n : 0;
	} else if (key == 'I') {
		t->mode = TUI_NORMAL;
		tui_sort_by(t, tui_sort_col(t));
	} else {
		tui_scroll_key(key, &t->menu_sel, n, tui_lines(t));
	}
}

void tui_menu_draw(struct tui *t, int y, size_t lines)
{
	const struct now_tab_desc *d = tui_desc(t);
	size_t n = count(t), rows = lines > 1 ? lines - 1 : 1, i;
	int width = COLS < 50 ? COLS : 50;

	if (t->menu_sel >= n)
		t->menu_sel = n ? n - 1 : 0;
	if (t->menu_sel < t->menu_top)
		t->menu_top = t->menu_sel;
	if (t->menu_sel >= t->menu_top + rows)
		t->menu_top = t->menu_sel - rows + 1;
	/* Clicks are for what lies on top. */
	t->nzone = 0;
	tui_cell(t, y, 0, width, true, TUI_HEADER, "Sort by", 7);
	for (i = 0; i < rows; i++) {
		bool on = t->menu_top + i == t->menu_sel, there = t->menu_top + i < n;
		enum tui_style style = on ? TUI_CURSOR : TUI_PLAIN;
		const struct now_col *c;

		tui_fill(t, y + 1 + (int)i, 0, width, style);
		if (!there)
			continue;
		c = &d->col[nth(t, t->menu_top + i)];
		tui_puts(t, y + 1 + (int)i, 0, 10, style, c->head);
		tui_cell(t, y + 1 + (int)i, 11, width - 12, true, on ? style : TUI_DIM, c->help,
			 strlen(c->help));
		tui_zone_add(t, y + 1 + (int)i, 0, width, TUI_ZONE_ITEM, (int)(t->menu_top + i));
	}
}
