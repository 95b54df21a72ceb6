/* SPDX-License-Identifier: MIT */
#include "tui/tui_impl.h"

#define WHEEL_LINES 3

static void wheel(struct tui *t, bool up)
{
	struct tui_level *l = tui_level(t);
	size_t i;

	for (i = 0; i < WHEEL_LINES; i++) {
		if (t->mode == TUI_HELP)
			tui_keys_take(t, TUI_FN(up ? KEY_UP : KEY_DOWN));
		else if (t->mode == TUI_MENU)
			tui_menu_take(t, TUI_FN(up ? KEY_UP : KEY_DOWN));
		else if (up && l->sel)
			tui_list_move(t, l->sel - 1);
		else if (!up)
			tui_list_move(t, l->sel + 1);
	}
}

static void click_row(struct tui *t, size_t line)
{
	/* The second click on a row opens it. */
	if (line == tui_level(t)->sel)
		tui_level_open(t);
	else
		tui_list_move(t, line);
}

static void click(struct tui *t, const struct tui_zone *z)
{
	if (t->mode == TUI_MENU && z->what == TUI_ZONE_ITEM) {
		t->menu_sel = (size_t)z->arg;
		tui_menu_take(t, '\r');
		return;
	}
	t->mode = TUI_NORMAL;
	switch (z->what) {
	case TUI_ZONE_KEY:
		tui_keys_take(t, z->arg);
		break;
	case TUI_ZONE_TAB:
		tui_level_tab(t, (enum now_tab)z->arg);
		break;
	case TUI_ZONE_COL:
		tui_sort_by(t, (size_t)z->arg);
		break;
	case TUI_ZONE_ROW:
		click_row(t, (size_t)z->arg);
		break;
	default:
		break;
	}
}

void tui_mouse_take(struct tui *t)
{
	MEVENT e;
	size_t i;

	if (getmouse(&e) != OK)
		return;
	if (e.bstate & (BUTTON4_PRESSED | BUTTON5_PRESSED)) {
		wheel(t, (e.bstate & BUTTON4_PRESSED) != 0);
		return;
	}
	if (!(e.bstate & BUTTON1_PRESSED))
		return;
	for (i = 0; i < t->nzone; i++) {
		struct tui_zone z = t->zone[i];

		if (e.y == z.y && e.x >= z.x0 && e.x < z.x1) {
			click(t, &z);
			return;
		}
	}
	if (t->mode == TUI_MENU)
		t->mode = TUI_NORMAL;
}
