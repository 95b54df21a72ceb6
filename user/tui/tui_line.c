/* SPDX-License-Identifier: MIT */
/* A line of input at the bottom: what to search for, to filter by, the delay. */
#include "tui/tui_impl.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "cli/value.h"
#include "out/utf8.h"
#include "stats/units.h"

#define DELAY_MIN_NS 100000000ull
#define DELAY_MAX_NS 3600000000000ull

static void next_match(struct tui *t, const char *word, size_t from, bool back)
{
	size_t n = tui_count(t), i;

	if (!n || !*word)
		return;
	if (tui_is_list(t))
		tui_list_order(t, 0, n);
	for (i = 0; i < n; i++) {
		size_t line = (back ? from + n - i % n : from + i) % n;

		if (!tui_line_matches(t, line, word))
			continue;
		tui_list_move(t, line);
		return;
	}
	if (t->mode != TUI_INPUT)
		tui_say(t, "nothing has this in it");
}

void tui_line_next(struct tui *t, bool back)
{
	size_t n = tui_count(t), sel = tui_level(t)->sel;
	const char *word = t->mode == TUI_INPUT ? t->input : t->found;

	if (n)
		next_match(t, word, back ? (sel + n - 1) % n : (sel + 1) % n, back);
}

void tui_line_open(struct tui *t, enum tui_ask ask)
{
	t->mode = TUI_INPUT;
	t->ask = ask;
	t->before_sel = tui_level(t)->sel;
	t->input[0] = '\0';
	if (ask == TUI_ASK_FILTER)
		strcpy(t->input, tui_level(t)->filter);
	t->input_len = strlen(t->input);
}

static void changed(struct tui *t)
{
	if (t->ask == TUI_ASK_SEARCH) {
		next_match(t, t->input, t->before_sel, false);
	} else if (t->ask == TUI_ASK_FILTER) {
		strcpy(tui_level(t)->filter, t->input);
		tui_level_build(t, TUI_FIND);
	}
}

static void take_delay(struct tui *t)
{
	uint64_t ns;

	if (!*t->input)
		return;
	if (cli_value_duration(t->input, &ns))
		tui_say(t, "not a delay: as in 2, 0.5 or 500ms");
	else if (ns < DELAY_MIN_NS || ns > DELAY_MAX_NS)
		tui_say(t, "the delay is 100ms at least and 1h at most");
	else
		tui_delay_set(t, ns);
}

void tui_delay_set(struct tui *t, uint64_t ns)
{
	t->delay_ns = ns < DELAY_MIN_NS ? DELAY_MIN_NS : ns > DELAY_MAX_NS ? DELAY_MAX_NS : ns;
	tui_say(t, "a refresh each %s", units_time((double)t->delay_ns).s);
}

static void take_enter(struct tui *t)
{
	t->mode = TUI_NORMAL;
	if (t->ask == TUI_ASK_DELAY)
		take_delay(t);
	else if (t->ask == TUI_ASK_SEARCH)
		strcpy(t->found, t->input);
}

/* As htop: of a filter Esc takes away what there is. */
static void take_escape(struct tui *t)
{
	t->mode = TUI_NORMAL;
	if (t->ask == TUI_ASK_SEARCH) {
		tui_list_move(t, t->before_sel);
	} else if (t->ask == TUI_ASK_FILTER) {
		tui_level(t)->filter[0] = '\0';
		tui_level_build(t, TUI_FIND);
	}
}

static void take_char(struct tui *t, uint32_t cp)
{
	char utf8[4];
	unsigned int n;

	if (cp > 0x10ffff || utf8_unsafe(cp) || wcwidth((wchar_t)cp) < 0)
		return;
	n = utf8_encode(cp, utf8);
	if (t->input_len + n >= sizeof(t->input))
		return;
	memcpy(t->input + t->input_len, utf8, n);
	t->input_len += n;
	t->input[t->input_len] = '\0';
	changed(t);
}

static void erase_char(struct tui *t)
{
	if (!t->input_len)
		return;
	do
		t->input_len--;
	while (t->input_len && ((unsigned char)t->input[t->input_len] & 0xc0) == 0x80);
	t->input[t->input_len] = '\0';
	changed(t);
}

void tui_line_take(struct tui *t, int key)
{
	if (key == '\r' || key == '\n' || key == TUI_FN(KEY_ENTER)) {
		take_enter(t);
	} else if (key == TUI_ESC || key == TUI_CTRL('g')) {
		take_escape(t);
	} else if (key == TUI_FN(KEY_BACKSPACE) || key == 127 || key == TUI_CTRL('h')) {
		erase_char(t);
	} else if (key == TUI_CTRL('u')) {
		t->input[t->input_len = 0] = '\0';
		changed(t);
	} else if (t->ask == TUI_ASK_SEARCH &&
		   (key == TUI_FN(KEY_F(3)) || key == TUI_FN(KEY_DOWN))) {
		tui_line_next(t, false);
	} else if (t->ask == TUI_ASK_SEARCH &&
		   (key == TUI_FN(KEY_F(15)) || key == TUI_FN(KEY_UP))) {
		tui_line_next(t, true);
	} else if (key >= ' ' && key < TUI_FN(0)) {
		take_char(t, (uint32_t)key);
	} else if (key >= TUI_FN(0) && t->ask != TUI_ASK_DELAY) {
		/* Any other key ends the input and means what it always does. */
		take_enter(t);
		tui_keys_take(t, key);
	}
}

void tui_line_draw(struct tui *t, int y)
{
	static const struct { const char *name, *hint; } asks[] = {
		[TUI_ASK_SEARCH] = { "Search: ", "  F3 next  Enter stay  Esc back" },
		[TUI_ASK_FILTER] = { "Filter: ", "  Enter keep  Esc clear" },
		[TUI_ASK_DELAY] = { "Delay: ", "  as in 2, 0.5 or 500ms" },
	};
	int x = tui_puts(t, y, 0, COLS, TUI_LABEL, asks[t->ask].name), cursor, w;
	bool none = t->ask == TUI_ASK_SEARCH && *t->input && tui_count(t) &&
		    !tui_line_matches(t, tui_level(t)->sel, t->input);

	w = tui_width(t->input, t->input_len);
	if (w > COLS - x - 1) {
		/* The end is where one types. */
		size_t cut = 0;

		while (cut < t->input_len &&
		       tui_width(t->input + cut, t->input_len - cut) > COLS - x - 1)
			cut++;
		x += tui_puts(t, y, x, COLS - x, TUI_PLAIN, t->input + cut);
	} else {
		x += tui_puts(t, y, x, COLS - x, none ? TUI_BAD : TUI_PLAIN, t->input);
	}
	cursor = x;
	tui_puts(t, y, x + 1, COLS - x - 1, TUI_DIM, none ? "  nothing has this in it" :
		 asks[t->ask].hint);
	move(y, cursor < COLS ? cursor : COLS - 1);
}
