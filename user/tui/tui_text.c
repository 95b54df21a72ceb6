/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Each cell is put at its own column, and widths are those of wcwidth(),
 * which ncurses asks too: a character that the terminal takes to be of another
 * width shifts its own cell and no other.
 */
#include "tui/tui_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "base/clock.h"
#include "out/escape.h"
#include "out/utf8.h"

/* The next character and its columns; one that this locale cannot show becomes "?". */
static unsigned int next(const char *s, size_t n, wchar_t *wc, int *columns)
{
	uint32_t cp = 0;
	unsigned int len = utf8_decode(s, n, &cp);

	*wc = (wchar_t)cp;
	*columns = len ? wcwidth((wchar_t)cp) : -1;
	if (*columns < 0) {
		*wc = '?';
		*columns = 1;
	}
	return len ? len : 1;
}

int tui_width(const char *s, size_t n)
{
	size_t i = 0;
	int sum = 0, w;
	wchar_t wc;

	while (i < n) {
		i += next(s + i, n - i, &wc, &w);
		sum += w;
	}
	return sum;
}

size_t tui_skip(const char *s, size_t n, int columns)
{
	size_t i = 0;
	wchar_t wc;
	int w;

	while (i < n && columns > 0) {
		i += next(s + i, n - i, &wc, &w);
		columns -= w;
	}
	return i;
}

int tui_put(struct tui *t, int y, int x, int width, enum tui_style style, const char *s, size_t n)
{
	wchar_t line[256];
	size_t i = 0;
	int used = 0, count = 0, at = x, w;

	if (y < 0 || y >= LINES || x < 0)
		return 0;
	if (width > COLS - x)
		width = COLS - x;
	attrset(t->style[style]);
	while (i < n) {
		size_t len = next(s + i, n - i, &line[count], &w);

		if (used + w > width)
			break;
		i += len;
		/* A mark without its letter would be put on the cell to the left. */
		if (!w && !used)
			continue;
		used += w;
		count++;
		/* A part ends before a letter, so that its marks stay with it. */
		if (count > 200 && w) {
			mvaddnwstr(y, at, line, count - 1);
			at = x + used - w;
			line[0] = line[count - 1];
			count = 1;
		} else if (count == 255) {
			count--;
		}
	}
	if (count)
		mvaddnwstr(y, at, line, count);
	return used;
}

int tui_puts(struct tui *t, int y, int x, int width, enum tui_style style, const char *s)
{
	return tui_put(t, y, x, width, style, s, strlen(s));
}

void tui_fill(struct tui *t, int y, int x, int width, enum tui_style style)
{
	if (y < 0 || y >= LINES || x >= COLS || width <= 0)
		return;
	attrset(t->style[style]);
	mvhline(y, x, ' ' | t->style[style], width < COLS - x ? width : COLS - x);
}

void tui_cell(struct tui *t, int y, int x, int width, bool left, enum tui_style style,
	      const char *s, size_t n)
{
	const char *more = t->ascii ? "~" : "…";
	int w = tui_width(s, n), used;

	if (width <= 0)
		return;
	tui_fill(t, y, x, width, style);
	if (w <= width) {
		tui_put(t, y, left ? x : x + width - w, width, style, s, n);
		return;
	}
	used = tui_put(t, y, x, width - 1, style, s, n);
	tui_puts(t, y, x + used, 1, style, more);
}

void tui_esc(const struct tui *t, struct buf *b, const char *s)
{
	escape_term(b, s, strlen(s), t->ascii);
}

void tui_copy(char *out, size_t size, const struct buf *b)
{
	size_t n = b->data ? b->len : 0;

	if (n >= size) {
		n = size - 1;
		while (n && ((unsigned char)b->data[n] & 0xc0) == 0x80)
			n--;
	}
	if (n)
		memcpy(out, b->data, n);
	out[n] = '\0';
}

void tui_say(struct tui *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(t->message, sizeof(t->message), fmt, ap);
	va_end(ap);
	t->said_ns = clock_mono_ns();
}
