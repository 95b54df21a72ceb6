/* SPDX-License-Identifier: MIT */
/* Help is the table of keys and the columns of the tab, written out. */
#include "tui/tui_impl.h"

#include <string.h>

static void pair(struct tui *t, const char *what, int width, const char *text)
{
	buf_addf(&t->text, "  %s%*s %s", what, width - tui_width(what, strlen(what)), "", text);
	tui_page_add(&t->help, &t->text, TUI_PLAIN, NULL);
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
		pair(t, k->names, 16, k->help);
	}
	buf_addf(&t->text, " Columns of the tab %s", d->title);
	tui_page_adds(&t->help, "", TUI_PLAIN);
	tui_page_add(&t->help, &t->text, TUI_TITLE, NULL);
	for (i = 0; i < d->ncol; i++)
		pair(t, d->col[i].head, 16, d->col[i].help);
}
