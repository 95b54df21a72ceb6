/* SPDX-License-Identifier: MIT */
/* What each key does: one table for doing it and for the help. */
#include "tui/tui_impl.h"

#include <string.h>

#include "base/clock.h"

static void act_help(struct tui *t, int key)
{
	(void)key;
	tui_help_build(t);
	t->help_top = 0;
	t->mode = TUI_HELP;
}

static void act_totals(struct tui *t, int key)
{
	(void)key;
	t->totals = !t->totals;
	/* Columns have other widths, and some have nothing to say. */
	memset(t->per[tui_level(t)->tab].wide, 0, sizeof(t->per[0].wide));
	tui_level_build(t, t->follow ? TUI_FIND : TUI_STAY);
	tui_say(t, t->totals ? "figures since tracing began" : "figures of the last interval");
}

static void act_search(struct tui *t, int key)
{
	if (key == TUI_FN(KEY_F(3)) && *t->found)
		tui_line_next(t, false);
	else
		tui_line_open(t, TUI_ASK_SEARCH);
}

static void act_next(struct tui *t, int key)
{
	if (*t->found)
		tui_line_next(t, key == TUI_FN(KEY_F(15)));
	else
		tui_line_open(t, TUI_ASK_SEARCH);
}

static void act_filter(struct tui *t, int key)
{
	(void)key;
	tui_line_open(t, TUI_ASK_FILTER);
}

static bool on_threads(struct tui *t)
{
	const struct tui_level *l = tui_level(t);

	if (l->tab == NOW_THREADS && !l->tgid)
		return true;
	tui_say(t, "this is for the tab of threads: 1 shows it");
	return false;
}

static void act_tree(struct tui *t, int key)
{
	(void)key;
	if (!on_threads(t))
		return;
	t->tree = !t->tree;
	t->hide = false;
	tui_level_build(t, TUI_FIND);
}

static void act_hide(struct tui *t, int key)
{
	(void)key;
	if (!on_threads(t))
		return;
	t->hide = !t->hide;
	tui_level_build(t, TUI_FIND);
}

static void act_menu(struct tui *t, int key)
{
	(void)key;
	tui_menu_open(t);
}

static void act_invert(struct tui *t, int key)
{
	(void)key;
	tui_sort_by(t, tui_sort_col(t));
}

static void act_quick(struct tui *t, int key)
{
	static const struct { int key; const char *head[3]; } quick[] = {
		{ 'M', { "MAX", "FOR", "AGE" } },
		{ 'W', { "BLOCK%", "WAIT%", "W-WAIT%" } },
	};
	const struct now_tab_desc *d = tui_desc(t);
	size_t col = key == 'P' ? d->sort : key == 'N' ? 0 : d->ncol, i, j;

	for (i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		for (j = 0; j < 3 && quick[i].key == key && col == d->ncol; j++)
			col = now_col_find(d, quick[i].head[j]);
	if (col == d->ncol || !tui_col_shown(t, &d->col[col]))
		tui_say(t, "this tab has no such column");
	else if (tui_sort_col(t) != col)
		tui_sort_by(t, col);
}

/* Delays that - and + go through. */
static const uint64_t delays[] = {
	100000000, 200000000, 500000000, 1000000000, 2000000000, 5000000000, 10000000000,
	30000000000, 60000000000,
};

static void step_delay(struct tui *t, bool up)
{
	size_t n = sizeof(delays) / sizeof(delays[0]), i;
	uint64_t to = t->delay_ns;

	for (i = 0; i < n; i++) {
		if (up && delays[i] > t->delay_ns) {
			to = delays[i];
			break;
		}
		if (!up && delays[n - 1 - i] < t->delay_ns) {
			to = delays[n - 1 - i];
			break;
		}
	}
	tui_delay_set(t, to);
}

static void act_delay(struct tui *t, int key)
{
	if (key == 's' || key == 'd')
		tui_line_open(t, TUI_ASK_DELAY);
	else
		step_delay(t, key == TUI_FN(KEY_F(8)));
}

/* Opens or closes the process at the cursor. */
static void act_fold(struct tui *t, int key)
{
	const struct now_thread *row = tui_list_row(t, tui_level(t)->sel);
	struct tui_level *l = tui_level(t);
	size_t i;

	if (!t->closed)
		t->closed = map_new(sizeof(pid_t), 1);
	if (!t->rows.tree || !row || !t->closed) {
		tui_say(t, "this is for the tree: t shows it");
		return;
	}
	if (key == '*' && map_count(t->closed)) {
		map_clear(t->closed);
	} else if (key == '*') {
		for (i = 0; i < t->nsums; i++)
			map_put(t->closed, &t->sums[i].row.tgid);
	} else if (key == '+') {
		map_del(t->closed, &row->tgid);
	} else {
		map_put(t->closed, &row->tgid);
	}
	/* A thread that is no longer seen leaves the cursor to its process. */
	l->sel_id = tui_row_id(t, row);
	tui_level_build(t, TUI_FIND);
}

static void act_open(struct tui *t, int key)
{
	(void)key;
	if (t->now)
		tui_level_open(t);
}

static void act_back(struct tui *t, int key)
{
	struct tui_level *l = tui_level(t);

	(void)key;
	if (t->follow && tui_is_list(t)) {
		t->follow = false;
	} else if (!tui_level_back(t) && *l->filter) {
		l->filter[0] = '\0';
		tui_level_build(t, TUI_FIND);
	}
}

static void act_quit(struct tui *t, int key)
{
	(void)key;
	t->quit = true;
}

static void act_tab(struct tui *t, int key)
{
	int tab = (int)t->tab;

	if (key >= '1' && key < '1' + NOW_TABS)
		tab = key - '1';
	else if (key == TUI_FN(KEY_BTAB) || key == TUI_FN(KEY_LEFT))
		tab = (tab + NOW_TABS - 1) % NOW_TABS;
	else
		tab = (tab + 1) % NOW_TABS;
	tui_level_tab(t, (enum now_tab)tab);
}

/* Names of C++ and Rust have hundreds of letters. */
#define ASIDE_COLUMNS 8
#define ASIDE_MOST 2000

/* The text of a page goes aside; beside a list is the next tab. */
static void act_aside(struct tui *t, int key)
{
	struct tui_level *l = tui_level(t);

	if (tui_is_list(t))
		act_tab(t, key);
	else if (key == TUI_FN(KEY_LEFT))
		l->left -= l->left < ASIDE_COLUMNS ? l->left : ASIDE_COLUMNS;
	else if (l->left + (size_t)COLS < ASIDE_MOST)
		l->left += ASIDE_COLUMNS;
}

static void tag(struct tui *t, const void *row, bool toggle)
{
	struct map *m = t->per[tui_level(t)->tab].tagged;
	struct tui_id id = tui_row_id(t, row);

	if (toggle && map_get(m, &id))
		map_del(m, &id);
	else if (!map_put(m, &id))
		tui_say(t, "no memory for another tag");
}

static void act_tag(struct tui *t, int key)
{
	const void *row = tui_list_row(t, tui_level(t)->sel);

	(void)key;
	if (!row)
		return;
	tag(t, row, true);
	tui_list_move(t, tui_level(t)->sel + 1);
}

/* All rows of the process, and the line of its sums. */
static void act_tag_process(struct tui *t, int key)
{
	const void *row = tui_list_row(t, tui_level(t)->sel);
	size_t i, n = 0;
	pid_t tgid;

	(void)key;
	if (!row || tui_level(t)->tab != NOW_THREADS) {
		if (row)
			tui_say(t, "this is for the tab of threads: 1 shows it");
		return;
	}
	tgid = ((const struct now_thread *)row)->tgid;
	for (i = 0; i < t->now->nthread; i++) {
		if (t->now->thread[i].tgid != tgid)
			continue;
		tag(t, &t->now->thread[i], false);
		n++;
	}
	if (tui_is_sums(t, row))
		tag(t, row, false);
	tui_say(t, "tagged %zu thread%s of process %d", n, n == 1 ? "" : "s", (int)tgid);
}

static void act_untag(struct tui *t, int key)
{
	struct tui_tab *per = &t->per[tui_level(t)->tab];

	(void)key;
	map_clear(per->tagged);
	per->only_tagged = false;
	tui_level_build(t, TUI_FIND);
}

static void act_only_tagged(struct tui *t, int key)
{
	struct tui_tab *per = &t->per[tui_level(t)->tab];

	(void)key;
	if (!per->only_tagged && !map_count(per->tagged)) {
		tui_say(t, "no row is tagged: the space bar tags one");
		return;
	}
	per->only_tagged = !per->only_tagged;
	tui_level_build(t, TUI_FIND);
}

static void act_follow(struct tui *t, int key)
{
	(void)key;
	t->follow = !t->follow;
	tui_say(t, t->follow ? "the cursor follows its row" : "the cursor stays on its line");
}

static void act_pause(struct tui *t, int key)
{
	(void)key;
	t->paused = !t->paused;
	t->refresh = !t->paused;
}

static void act_redraw(struct tui *t, int key)
{
	(void)key;
	(void)t;
	clearok(stdscr, TRUE);
}

static void act_move(struct tui *t, int key)
{
	size_t sel = tui_level(t)->sel;

	tui_scroll_key(key, &sel, tui_count(t), tui_lines(t));
	tui_list_move(t, sel);
}

static const char show[] = "What is shown", rows[] = "Rows", moving[] = "Moving about",
	other[] = "Else";

#define F(n) TUI_FN(KEY_F(n))
#define FN(name) TUI_FN(KEY_##name)

/* Those with a label are F1 to F10, in this order. */
const struct tui_key tui_keys[] = {
	{ { F(1), '?', 'h' }, "F1 ? h", "this help", "Help", show, false, act_help },
	{ { F(2), 'T' }, "F2 T", "figures since tracing began, or of the last interval", "Totals",
	  show, false, act_totals },
	{ { F(3), '/' }, "F3 /", "search for text as it is typed; F3 or n: the next one", "Search",
	  show, false, act_search },
	{ { F(4), '\\' }, "F4 \\", "only rows that have this text; a|b: one of them", "Filter",
	  show, true, act_filter },
	{ { F(5), 't' }, "F5 t", "threads below their processes", "Tree", show, true, act_tree },
	{ { F(6), '<', '>', '.' }, "F6 < >", "choose the column to sort by; a click on its "
	  "heading does", "SortBy", show, true, act_menu },
	{ { F(7) }, "F7", "refresh more often", "Delay-", show, false, act_delay },
	{ { F(8) }, "F8", "refresh less often", "Delay+", show, false, act_delay },
	{ { F(9), '\r', '\n', FN(ENTER) }, "F9 Enter", "open: a lock's waiters, wakers and "
	  "stacks, a process's threads, a pipe's ends", "Detail", show, false, act_open },
	{ { F(10), 'q' }, "F10 q", "quit", "Quit", show, false, act_quit },
	{ { TUI_ESC, FN(BACKSPACE), 127, TUI_CTRL('h') }, "Esc Backspace",
	  "back from what was opened; at the list: show all rows", NULL, show, false, act_back },
	{ { 'H' }, "H", "a row a process, its threads added up, or threads", NULL, show, true,
	  act_hide },
	{ { 'I', 'i' }, "I", "the other way round; a second click on the heading does", NULL, show,
	  true, act_invert },
	{ { 'P' }, "P", "sort by what the tab is sorted by at first: CPU, waits, bytes, time",
	  NULL, show, true, act_quick },
	{ { 'M' }, "M", "sort by the longest: MAX, or FOR, or AGE", NULL, show, true, act_quick },
	{ { 'W' }, "W", "sort by time blocked: BLOCK%, WAIT% or W-WAIT%", NULL, show, true,
	  act_quick },
	{ { 'N' }, "N", "sort by the first column", NULL, show, true, act_quick },
	{ { 'Z', 'z', 'p' }, "Z z p", "pause, and go on; all keys work meanwhile", NULL, show,
	  false, act_pause },
	{ { 's', 'd' }, "s d", "ask for the delay between refreshes", NULL, show, false,
	  act_delay },
	{ { '+', '-', '*' }, "+ - *", "in the tree: open, close the process; all of them", NULL,
	  rows, true, act_fold },
	{ { ' ' }, "Space", "tag the row", NULL, rows, true, act_tag },
	{ { 'c' }, "c", "tag all threads of the row's process", NULL, rows, true,
	  act_tag_process },
	{ { 'U' }, "U", "untag all", NULL, rows, true, act_untag },
	{ { 'v' }, "v", "only tagged rows, or all", NULL, rows, true, act_only_tagged },
	{ { 'F' }, "F", "the cursor follows its row wherever that goes", NULL, rows, true,
	  act_follow },
	{ { 'n', F(15) }, "n, Shift-F3", "the next, the last row with the text searched for", NULL,
	  rows, false, act_next },
	{ { FN(UP), FN(DOWN), TUI_CTRL('p'), TUI_CTRL('n') }, "Up Down",
	  "a line; for some seconds the cursor then stays on its row", NULL, moving, false,
	  act_move },
	{ { FN(PPAGE), FN(NPAGE), FN(HOME), FN(END) }, "PgUp PgDn",
	  "a page; Home and End: the first, the last line", NULL, moving, false, act_move },
	{ { '\t', FN(BTAB) }, "Tab Shift-Tab", "the next tab, the one before", NULL, moving,
	  false, act_tab },
	{ { FN(RIGHT), FN(LEFT) }, "Right Left", "the same; in what was opened: long lines aside",
	  NULL, moving, false, act_aside },
	{ { '1', '2', '3', '4' }, "1 to 5", "the tab of that number", NULL, moving, false,
	  act_tab },
	{ { TUI_CTRL('l') }, "Ctrl-L", "draw the screen anew", NULL, other, false, act_redraw },
};
const size_t tui_nkeys = sizeof(tui_keys) / sizeof(tui_keys[0]);

bool tui_scroll_key(int key, size_t *sel, size_t n, size_t page)
{
	size_t last = n ? n - 1 : 0, at = *sel;

	if (key == FN(UP) || key == TUI_CTRL('p'))
		at -= at > 0;
	else if (key == FN(DOWN) || key == TUI_CTRL('n'))
		at++;
	else if (key == FN(PPAGE))
		at = at > page ? at - page : 0;
	else if (key == FN(NPAGE))
		at += page;
	else if (key == FN(HOME))
		at = 0;
	else if (key == FN(END))
		at = last;
	else
		return false;
	*sel = at < last ? at : last;
	return true;
}

static void take_help(struct tui *t, int key)
{
	size_t lines = LINES > 4 ? (size_t)LINES - 4 : 1;
	size_t n = t->help.n > lines ? t->help.n - lines + 1 : 1;

	if (!tui_scroll_key(key == ' ' ? FN(NPAGE) : key, &t->help_top, n, lines))
		t->mode = TUI_NORMAL;
}

static const struct tui_key *find(int key)
{
	size_t i, j;

	if (key >= '1' && key < '1' + NOW_TABS)
		key = '1';
	for (i = 0; i < tui_nkeys; i++)
		for (j = 0; j < 4 && tui_keys[i].key[j]; j++)
			if (tui_keys[i].key[j] == key)
				return &tui_keys[i];
	return NULL;
}

static void take_normal(struct tui *t, int key)
{
	const struct tui_key *k = find(key);

	if (!k)
		return;
	if (k->list && !tui_is_list(t))
		tui_say(t, "this is for lists: Esc goes back to one");
	else if (!t->now && k->list)
		tui_say(t, "no figures yet");
	else
		k->act(t, key);
}

void tui_keys_take(struct tui *t, int key)
{
	t->message[0] = '\0';
	if (key == TUI_FN(KEY_RESIZE))
		return;
	if (key == TUI_FN(KEY_MOUSE)) {
		tui_mouse_take(t);
		return;
	}
	/* So that there is a way out of a screen that shows nothing else. */
	if (key == 'q' && (COLS < TUI_MIN_COLS || LINES < TUI_MIN_LINES)) {
		t->quit = true;
		return;
	}
	switch (t->mode) {
	case TUI_INPUT:
		tui_line_take(t, key);
		break;
	case TUI_MENU:
		tui_menu_take(t, key);
		break;
	case TUI_HELP:
		take_help(t, key);
		break;
	default:
		take_normal(t, key);
	}
}
