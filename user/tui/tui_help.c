/* SPDX-License-Identifier: MIT */
/* Help is the table of keys and the columns of the tab, written out. */
#include "tui/tui_impl.h"

#include <string.h>

#include "out/utf8.h"

#define WHAT_COLUMNS 16

/* Bytes of @text that go on a line of @room columns: up to a blank, if there is one. */
static size_t fits(const char *text, size_t room)
{
	size_t n = utf8_fit(text, strlen(text), room, NULL), i = n;

	if (!text[n])
		return n;
	while (i && text[i] != ' ')
		i--;
	return i ? i : n;
}

static void pair(struct tui *t, const char *what, const char *text)
{
	size_t room = COLS > WHAT_COLUMNS + 20 ? (size_t)COLS - WHAT_COLUMNS - 4 : 16, n;

	buf_addf(&t->text, "  %-*s ", WHAT_COLUMNS, what);
	while (*text) {
		n = fits(text, room);
		buf_add(&t->text, text, n ? n : 1);
		tui_page_add(&t->help, &t->text, TUI_PLAIN, NULL);
		text += n ? n : 1;
		text += strspn(text, " ");
		if (*text)
			buf_addf(&t->text, "%*s", WHAT_COLUMNS + 3, "");
	}
}

static void title(struct tui *t, const char *text)
{
	tui_page_adds(&t->help, "", TUI_PLAIN);
	buf_addf(&t->text, " %s", text);
	tui_page_add(&t->help, &t->text, TUI_TITLE, NULL);
}

void tui_help_build(struct tui *t)
{
	const struct now_tab_desc *d = tui_desc(t);
	const char *group = NULL;
	size_t i;

	tui_page_reset(&t->help);
	buf_reset(&t->text);
	tui_page_adds(&t->help, " Any other key than those that scroll closes this help.", TUI_DIM);
	for (i = 0; i < tui_nkeys; i++) {
		const struct tui_key *k = &tui_keys[i];

		if (!group || strcmp(k->group, group))
			title(t, k->group);
		group = k->group;
		pair(t, k->names, k->help);
	}
	buf_addf(&t->text, " Columns of the tab %s", d->title);
	tui_page_adds(&t->help, "", TUI_PLAIN);
	tui_page_add(&t->help, &t->text, TUI_TITLE, NULL);
	for (i = 0; i < d->ncol; i++)
		pair(t, d->col[i].head, d->col[i].help);
}
