/* SPDX-License-Identifier: MIT */
#include "tui/tui.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "tui/tui_impl.h"

/* So long after it was moved the cursor stays on its row: one is about to press Enter. */
#define HOLD_NS 5000000000ull
/* And so long a message stands where the keys are. */
#define MESSAGE_NS 4000000000ull

struct tui *tui_new(const struct tui_opts *opts, struct err *err)
{
	struct tui *t = calloc(1, sizeof(*t));
	size_t i;

	if (!t) {
		err_sys(err, ENOMEM, "cannot open the screen");
		return NULL;
	}
	t->tab = opts->tab;
	t->source = opts->source;
	snprintf(t->whom, sizeof(t->whom), "%s", opts->whom ? opts->whom : "");
	t->delay_ns = opts->delay_ns;
	for (i = 0; i < NOW_TABS; i++) {
		t->base[i].tab = (enum now_tab)i;
		t->per[i].sort = now_tabs[i].sort;
		t->per[i].tagged = map_new(sizeof(struct tui_id), 1);
		if (!t->per[i].tagged) {
			err_sys(err, ENOMEM, "cannot open the screen");
			tui_free(t);
			return NULL;
		}
	}
	if (opts->sort < now_tabs[t->tab].ncol)
		t->per[t->tab].sort = opts->sort;
	if (tui_term_open(t, opts->color, err)) {
		tui_free(t);
		return NULL;
	}
	tui_draw(t);
	return t;
}

void tui_free(struct tui *t)
{
	size_t i;

	if (!t)
		return;
	tui_term_close(t);
	for (i = 0; i < NOW_TABS; i++)
		map_free(t->per[i].tagged);
	now_lock_detail_release(&t->lock);
	tui_page_release(&t->page);
	tui_page_release(&t->help);
	tui_list_free(t);
	buf_release(&t->cell);
	buf_release(&t->text);
	free(t);
}

void tui_show(struct tui *t, const struct now *n)
{
	enum tui_keep keep = t->follow ? TUI_FIND :
			     clock_mono_ns() - t->moved_ns < HOLD_NS ? TUI_HOLD : TUI_STAY;

	if (t->paused)
		return;
	if (clock_mono_ns() - t->said_ns > MESSAGE_NS)
		t->message[0] = '\0';
	t->now = n;
	t->names_left = TUI_NAMES;
	t->sums_made = false;
	tui_term_size();
	tui_level_build(t, keep);
	tui_draw(t);
}

bool tui_paused(const struct tui *t)
{
	return t->paused;
}

uint64_t tui_delay_ns(const struct tui *t)
{
	return t->delay_ns;
}

enum tui_wish tui_input(struct tui *t)
{
	enum tui_wish wish = TUI_NOTHING;
	bool changed = false;
	wint_t c;
	int r;

	tui_term_size();
	while (!t->quit && (r = get_wch(&c)) != ERR) {
		int key = r == KEY_CODE_YES ? TUI_FN(c) : (int)c;

		if (c == WEOF)
			break;
		/* A click is meant for what is seen, which the keys before it may have changed. */
		if (key == TUI_FN(KEY_MOUSE) && changed)
			tui_draw(t);
		tui_keys_take(t, key);
		changed = true;
	}
	if (t->quit || !tui_term_alive())
		wish = TUI_QUIT;
	else if (t->refresh)
		wish = TUI_REFRESH;
	t->refresh = false;
	tui_draw(t);
	return wish;
}
