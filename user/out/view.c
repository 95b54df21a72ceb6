/* SPDX-License-Identifier: MIT */
#include "out/view.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "out/escape.h"
#include "out/utf8.h"
#include "stats/units.h"

#define VIEW_WIDTH_DEFAULT 80
#define VIEW_WIDTH_MIN 40
#define VIEW_WIDTH_MAX 500

static const struct view_glyphs glyphs_utf8 = {
	.arrow = "→", .times = "×", .dot = "·", .ellipsis = "…", .dots = "…", .under = "←",
	.rule = "─",
	.bar = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
	.block = { "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" },
};

static const struct view_glyphs glyphs_ascii = {
	.arrow = "->", .times = "x", .dot = "|", .ellipsis = "~", .dots = "...", .under = "<-",
	.rule = "-",
	.bar = { "_", ".", ":", "-", "=", "+", "*", "#" },
	.block = { " ", " ", " ", "#", "#", "#", "#", "#" },
};

static const char *const styles[VIEW_STYLES] = {
	[VIEW_PLAIN] = "\x1b[0m",
	[VIEW_BOLD] = "\x1b[1m",
	[VIEW_DIM] = "\x1b[2m",
	[VIEW_RED] = "\x1b[1;31m",
	[VIEW_YELLOW] = "\x1b[33m",
	[VIEW_GREEN] = "\x1b[32m",
	[VIEW_CYAN] = "\x1b[36m",
};

static unsigned int find_width(int fd)
{
	struct winsize ws;
	const char *env = getenv("COLUMNS");
	long n;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &ws) && ws.ws_col)
		return ws.ws_col;
	n = env ? strtol(env, NULL, 10) : 0;
	return n > 0 && n <= VIEW_WIDTH_MAX ? (unsigned int)n : VIEW_WIDTH_DEFAULT;
}

static bool find_color(enum out_color color, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != OUT_COLOR_AUTO)
		return color == OUT_COLOR_ALWAYS;
	/* no-color.org: set and not empty. */
	if (no && *no)
		return false;
	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

/* The first of the variables that is set decides, as in setlocale(3). */
static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

void view_init(struct view *v, const struct summary *s, const struct out_opts *opts,
	       struct out_stream *o)
{
	memset(v, 0, sizeof(*v));
	v->s = s;
	v->opts = opts;
	v->out = o;
	v->width = opts->width ? opts->width : find_width(o->fd);
	if (v->width < VIEW_WIDTH_MIN)
		v->width = VIEW_WIDTH_MIN;
	if (v->width > VIEW_WIDTH_MAX)
		v->width = VIEW_WIDTH_MAX;
	v->color = find_color(opts->color, o->fd);
	v->ascii = opts->charset == OUT_CHARSET_AUTO ? !locale_is_utf8()
						     : opts->charset == OUT_CHARSET_ASCII;
	v->g = v->ascii ? &glyphs_ascii : &glyphs_utf8;
}

void view_style(struct view *v, enum view_style style)
{
	if (v->color)
		out_puts(v->out, styles[style]);
}

void view_put(struct view *v, const char *text, size_t len)
{
	const char *glue;

	while (len && (glue = memchr(text, VIEW_GLUE[0], len))) {
		size_t n = (size_t)(glue - text);

		out_write(v->out, text, n);
		out_putc(v->out, ' ');
		text += n + 1;
		len -= n + 1;
	}
	out_write(v->out, text, len);
}

static bool is_blank(char c)
{
	return c == ' ' || c == VIEW_GLUE[0];
}

static size_t without_blanks(const char *s, size_t n)
{
	while (n && is_blank(s[n - 1]))
		n--;
	return n;
}

/* Bytes of the next line: up to the last blank that fits, or as much as fits. */
static size_t line_fit(const char *s, size_t n, size_t columns)
{
	size_t fit = utf8_fit(s, n, columns, NULL), i;

	if (fit == n)
		return n;
	if (s[fit] == ' ')
		return fit;
	for (i = fit; i > 0; i--)
		if (s[i - 1] == ' ')
			return i - 1;
	/* One item longer than the line: at glue, or anywhere. */
	for (i = fit; i > 0; i--)
		if (s[i - 1] == VIEW_GLUE[0])
			return i;
	return fit ? fit : 1;
}

void view_wrap(struct view *v, unsigned int indent, const char *label, enum view_style style,
	       struct buf *text)
{
	size_t at = 0, used = utf8_width(label, strlen(label));

	v->failed |= text->failed;
	view_style(v, style);
	out_puts(v->out, label);
	view_style(v, VIEW_PLAIN);
	if (used < indent)
		out_pad(v->out, ' ', indent - used);
	used = used > indent ? used : indent;
	while (at < text->len) {
		size_t room = v->width > used ? v->width - used : 1;
		size_t n = line_fit(text->data + at, text->len - at, room);

		view_put(v, text->data + at, without_blanks(text->data + at, n));
		at += n;
		while (at < text->len && is_blank(text->data[at]))
			at++;
		if (at < text->len) {
			out_putc(v->out, '\n');
			out_pad(v->out, ' ', indent);
			used = indent;
		}
	}
	out_putc(v->out, '\n');
	buf_reset(text);
}

void view_heading(struct view *v, const char *title, struct buf *text)
{
	out_putc(v->out, '\n');
	view_wrap(v, (unsigned int)strlen(title) + 2, title, VIEW_BOLD, text);
}

void view_esc(const struct view *v, struct buf *b, const char *s)
{
	escape_term(b, s, strlen(s), v->ascii);
}

void view_esc_glued(const struct view *v, struct buf *b, const char *s)
{
	size_t i = b->len;

	view_esc(v, b, s);
	for (; i < b->len; i++)
		if (b->data[i] == ' ')
			b->data[i] = VIEW_GLUE[0];
}

void view_sep(const struct view *v, struct buf *b)
{
	if (b->len)
		buf_addf(b, VIEW_GLUE "%s ", v->g->dot);
}

void view_glued(struct buf *b, const char *s)
{
	for (; *s; s++)
		buf_addc(b, *s == ' ' ? VIEW_GLUE[0] : *s);
}

void view_ns(const struct view *v, struct buf *b, uint64_t ns)
{
	char tmp[HUMAN_BYTES];

	view_glued(b, human_ns(tmp, ns, v->ascii));
}

void view_bytes(const struct view *v, struct buf *b, uint64_t bytes)
{
	char tmp[HUMAN_BYTES];

	(void)v;
	view_glued(b, human_bytes(tmp, bytes));
}

void view_percent(const struct view *v, struct buf *b, uint64_t part, uint64_t whole)
{
	char tmp[HUMAN_BYTES];

	(void)v;
	view_glued(b, human_percent(tmp, part, whole));
}

void view_things(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_addf(b, "%s" VIEW_GLUE, units_count(n).s);
	view_glued(b, n == 1 ? one : many);
}

void view_bar(const struct view *v, struct buf *b, uint64_t part, uint64_t whole,
	      unsigned int columns)
{
	unsigned __int128 eighths;
	unsigned int n;

	if (!whole)
		return;
	if (part > whole)
		part = whole;
	eighths = (unsigned __int128)part * columns * 8;
	n = (unsigned int)((eighths + whole / 2) / whole);
	if (part && !n)
		n = 1;
	for (; n >= 8; n -= 8)
		buf_adds(b, v->g->block[7]);
	if (n)
		buf_adds(b, v->g->block[n - 1]);
}

void view_thread(const struct view *v, struct buf *b, pid_t tid, const char *comm)
{
	if (!tid) {
		buf_adds(b, "unseen");
		return;
	}
	if (!comm || !*comm) {
		buf_addf(b, "thread" VIEW_GLUE "%d", (int)tid);
		return;
	}
	view_esc_glued(v, b, comm);
	buf_addf(b, VIEW_GLUE "(%d)", (int)tid);
}
