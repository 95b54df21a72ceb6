/* SPDX-License-Identifier: MIT */
#include "tui/tui_impl.h"

#include <stdlib.h>
#include <string.h>

void tui_page_reset(struct tui_page *p)
{
	buf_reset(&p->text);
	p->n = 0;
}

void tui_page_release(struct tui_page *p)
{
	buf_release(&p->text);
	free(p->line);
	p->line = NULL;
	p->n = p->cap = 0;
}

static struct tui_page_line *add(struct tui_page *p, const char *s, size_t n, enum tui_style style)
{
	struct tui_page_line *l;
	size_t at = p->text.len;

	if (p->n == p->cap) {
		l = realloc(p->line, (p->cap * 2 + 64) * sizeof(*l));
		if (!l)
			return NULL;
		p->line = l;
		p->cap = p->cap * 2 + 64;
	}
	if (buf_add(&p->text, s, n))
		return NULL;
	l = &p->line[p->n++];
	*l = (struct tui_page_line){ .at = at, .len = n, .style = style };
	return l;
}

void tui_page_add(struct tui_page *p, struct buf *b, enum tui_style style,
		  const struct tui_link *link)
{
	struct tui_page_line *l = add(p, b->data ? b->data : "", b->len, style);

	if (l && link)
		l->link = *link;
	buf_reset(b);
}

void tui_page_adds(struct tui_page *p, const char *s, enum tui_style style)
{
	add(p, s, strlen(s), style);
}

void tui_page_draw(struct tui *t, const struct tui_page *p, int y, size_t lines,
		   const struct tui_level *at)
{
	size_t i;

	for (i = 0; i < lines && at->top + i < p->n; i++) {
		const struct tui_page_line *l = &p->line[at->top + i];
		bool cursor = at->top + i == at->sel;
		enum tui_style style = cursor ? TUI_CURSOR : l->style;
		const char *text = p->text.data + l->at;
		/* The first two columns are for marks, and stay. */
		int x = at->left ? 2 : 0;
		size_t cut = tui_skip(text, l->len, (int)at->left + x);

		tui_fill(t, y + (int)i, 0, x, style);
		tui_cell(t, y + (int)i, x, COLS - x, true, style, text + cut, l->len - cut);
		if (l->link.is)
			tui_puts(t, y + (int)i, 0, 1, cursor ? TUI_CURSOR : TUI_LINK,
				 t->ascii ? ">" : "›");
		tui_zone_add(t, y + (int)i, 0, COLS, TUI_ZONE_ROW, (int)(at->top + i));
	}
}
