/* SPDX-License-Identifier: MIT */
/* The frame: what stands above and below lists and pages, and who draws these. */
#include "tui/tui_impl.h"

#include <stdio.h>
#include <string.h>

#include "out/human.h"
#include "stats/units.h"

void tui_zone_add(struct tui *t, int y, int x0, int x1, enum tui_zone_kind what, int arg)
{
	if (t->nzone == TUI_ZONES)
		return;
	t->zone[t->nzone++] = (struct tui_zone){ .y = y, .x0 = x0, .x1 = x1, .what = what,
						 .arg = arg };
}

/* Whom this is about may take a third of the line. */
static int draw_whom(struct tui *t, int y)
{
	int width;

	if (!*t->whom)
		return 0;
	buf_reset(&t->cell);
	tui_esc(t, &t->cell, t->whom);
	width = tui_width(t->cell.data, t->cell.len);
	if (width > COLS / 3)
		width = COLS / 3;
	tui_cell(t, y, 0, width, true, TUI_BOLD, t->cell.data, t->cell.len);
	return width + tui_puts(t, y, width, COLS - width, TUI_PLAIN, t->ascii ? " | " : " · ");
}

static void draw_head(struct tui *t)
{
	struct now_view v = tui_view(t);
	struct buf one = BUF_INIT, two = BUF_INIT, rest = BUF_INIT;
	int x = draw_whom(t, 0);

	if (!t->now)
		return;
	now_head(&one, &rest, &v, (unsigned int)(COLS - x));
	if (one.len)
		tui_put(t, 0, x, COLS - x, TUI_PLAIN, one.data, one.len);
	buf_reset(&one);
	now_head(&one, &two, &v, (unsigned int)COLS);
	if (two.len)
		tui_put(t, 1, 0, COLS, t->now->loss.total ? TUI_BAD : TUI_PLAIN, two.data, two.len);
	buf_release(&one);
	buf_release(&two);
	buf_release(&rest);
}

/* Appends an item and two blanks; false: it does not fit. */
static bool item(struct tui *t, int room, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static bool item(struct tui *t, int room, const char *fmt, ...)
{
	char text[TUI_TITLE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (tui_width(t->text.data ? t->text.data : "", t->text.len) +
	    tui_width(text, strlen(text)) + 2 > room)
		return false;
	buf_addf(&t->text, "%s%s", t->text.len ? "  " : "", text);
	return true;
}

/*
 * What is not as at the start, the weightiest first, and where the cursor is, in
 * the scratch text. False when more than the latter does not fit.
 */
static bool make_status(struct tui *t, int room)
{
	const struct tui_level *l = tui_level(t);
	bool list = tui_is_list(t), fits = true;

	buf_reset(&t->text);
	if (t->paused)
		fits &= item(t, room, "PAUSED");
	if (list && *l->filter) {
		buf_reset(&t->cell);
		tui_esc(t, &t->cell, l->filter);
		fits &= item(t, room, "filter: %s", t->cell.data);
	}
	if (list && t->per[l->tab].only_tagged)
		fits &= item(t, room, "tagged");
	if (t->totals)
		fits &= item(t, room, "totals");
	if (list && l->tab == NOW_THREADS && !l->tgid && t->hide)
		fits &= item(t, room, "by process");
	else if (list && t->rows.tree)
		fits &= item(t, room, "tree");
	if (list && t->follow)
		fits &= item(t, room, "follow");
	item(t, room, "%zu/%zu", tui_count(t) ? l->sel + 1 : 0, tui_count(t));
	return fits;
}

/* " 1 Threads ", or " 1" for those that there is no room for. */
static int tab_text(struct tui *t, int i, bool narrow, char *text, size_t size)
{
	if (narrow && i != (int)t->tab)
		return snprintf(text, size, " %d", i + 1);
	return snprintf(text, size, " %d %s ", i + 1, now_tabs[i].title);
}

static int tabs_width(struct tui *t, bool narrow)
{
	char text[64];
	int i, sum = 0;

	for (i = 0; i < NOW_TABS; i++)
		sum += tab_text(t, i, narrow, text, sizeof(text));
	return sum;
}

static void draw_tabs(struct tui *t, int y)
{
	bool narrow = !make_status(t, COLS - tabs_width(t, false));
	int x = 0, i, w;

	if (narrow || tabs_width(t, false) > COLS) {
		narrow = true;
		make_status(t, COLS - tabs_width(t, true));
	}
	for (i = 0; i < NOW_TABS; i++) {
		char text[64];

		tab_text(t, i, narrow, text, sizeof(text));
		w = tui_puts(t, y, x, COLS - x, i == (int)t->tab ? TUI_TAB_ON : TUI_TAB, text);
		tui_zone_add(t, y, x, x + w, TUI_ZONE_TAB, i);
		x += w;
	}
	w = tui_width(t->text.data ? t->text.data : "", t->text.len);
	if (w)
		tui_put(t, y, COLS - w, w, TUI_STATUS, t->text.data, t->text.len);
}

/* The way to here: "Processes › threads of app (42) › lock queue_lock of app (42)". */
static void draw_path(struct tui *t, int y)
{
	const char *sep = t->ascii ? " > " : " › ";
	size_t i;
	int w;

	buf_reset(&t->text);
	buf_adds(&t->text, now_tabs[t->tab].title);
	for (i = 0; i < t->depth; i++)
		buf_addf(&t->text, "%s%s", sep, t->level[i].title);
	if (tui_level(t)->gone)
		buf_adds(&t->text, "  (gone)");
	if (t->text.failed)
		return;
	/* The end of a long one tells more than its start. */
	w = tui_width(t->text.data, t->text.len);
	for (i = 0; w > COLS - 2 && i < t->depth; i++) {
		buf_reset(&t->text);
		buf_adds(&t->text, t->ascii ? "..." : "…");
		for (size_t j = i; j < t->depth; j++)
			buf_addf(&t->text, "%s%s", sep, t->level[j].title);
		w = tui_width(t->text.data, t->text.len);
	}
	tui_cell(t, y, 0, COLS, true, TUI_TITLE, t->text.data, t->text.len);
}

static void draw_keys(struct tui *t, int y)
{
	size_t i, n = 0;
	int x = 0;

	for (i = 0; i < tui_nkeys && n < 10; i++) {
		const struct tui_key *k = &tui_keys[i];
		char name[16];
		int w, label = n < 9 ? 6 : 4;

		if (!k->label)
			continue;
		n++;
		w = snprintf(name, sizeof(name), "F%zu", n);
		if (x + w + label > COLS)
			break;
		tui_puts(t, y, x, w, TUI_KEY, name);
		tui_cell(t, y, x + w, label, true, TUI_LABEL, k->label, strlen(k->label));
		tui_zone_add(t, y, x, x + w + label, TUI_ZONE_KEY, TUI_FN(KEY_F(n)));
		x += w + label;
	}
	tui_fill(t, y, x, COLS - x, TUI_LABEL);
}

static void draw_bottom(struct tui *t, int y)
{
	if (t->mode == TUI_INPUT)
		tui_line_draw(t, y);
	else if (*t->message)
		tui_cell(t, y, 0, COLS, true, TUI_STATUS, t->message, strlen(t->message));
	else
		draw_keys(t, y);
}

static void draw_small(struct tui *t)
{
	char text[64];

	snprintf(text, sizeof(text), "%dx%d at least", TUI_MIN_COLS, TUI_MIN_LINES);
	tui_puts(t, 0, 0, COLS, TUI_BOLD, "too small:");
	tui_puts(t, 1, 0, COLS, TUI_PLAIN, text);
	tui_puts(t, 2, 0, COLS, TUI_PLAIN, "q quits");
}

static void draw_middle(struct tui *t)
{
	size_t lines = tui_lines(t);
	int y = 2;

	draw_tabs(t, y++);
	if (t->mode == TUI_HELP) {
		tui_page_draw(t, &t->help, y, (size_t)(LINES - y - 1), &(struct tui_level){
				.top = t->help_top, .sel = SIZE_MAX });
		return;
	}
	if (t->depth)
		draw_path(t, y++);
	if (tui_is_list(t))
		tui_table_draw(t, y, lines);
	else
		tui_page_draw(t, &t->page, y, lines, tui_level(t));
	if (t->mode == TUI_MENU)
		tui_menu_draw(t, y, (size_t)(LINES - y - 1));
}

/* Either we or ncurses' own handler has taken the new size over. */
static void take_size(struct tui *t)
{
	size_t i;

	if (t->lines == LINES && t->cols == COLS)
		return;
	t->lines = LINES;
	t->cols = COLS;
	for (i = 0; i < NOW_TABS; i++)
		memset(t->per[i].wide, 0, sizeof(t->per[i].wide));
	tui_term_sized();
	if (t->mode == TUI_HELP)
		tui_help_build(t);
}

void tui_draw(struct tui *t)
{
	t->nzone = 0;
	take_size(t);
	erase();
	curs_set(t->mode == TUI_INPUT);
	if (COLS < TUI_MIN_COLS || LINES < TUI_MIN_LINES) {
		draw_small(t);
	} else {
		tui_list_settle(t);
		draw_head(t);
		draw_middle(t);
		draw_bottom(t, LINES - 1);
	}
	refresh();
}

void tui_draw_note(struct tui *t, const char *text)
{
	if (COLS < TUI_MIN_COLS || LINES < TUI_MIN_LINES)
		return;
	tui_cell(t, LINES - 1, 0, COLS, true, TUI_STATUS, text, strlen(text));
	refresh();
}
