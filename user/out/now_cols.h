/* SPDX-License-Identifier: MIT */
#ifndef OUT_NOW_COLS_H
#define OUT_NOW_COLS_H

/*
 * The tabs of a live view and their columns, as tables: what top's screen and
 * its batch output are both made of. A row is a pointer to the tab's struct of
 * out/now.h.
 */
#include "base/buf.h"
#include "out/now.h"
#include "out/out.h"

/* In the order in which they stand on the screen; as enum top_tab of cmd/top_opts.h. */
enum now_tab { NOW_THREADS, NOW_LOCKS, NOW_PIPES, NOW_CALLS, NOW_PROCESSES, NOW_TABS };

/* How figures are shown. */
struct now_view {
	const struct now *now;
	bool totals;		/* since tracing began, not of the last interval */
	bool ascii;
};

struct now_col {
	const char *head;	/* as it stands over the column and as --sort takes it: "CPU%" */
	/*
	 * The same for totals, where .head would not be true of them: "CPU". "": says
	 * nothing of totals, and is not shown there; NULL: .head is true of both.
	 */
	const char *head_totals;
	const char *help;	/* a phrase for the help and the manual */
	unsigned int width;	/* columns of the screen, at least; a left one may get more */
	unsigned int width_totals;	/* the same for totals; 0: .width */
	unsigned int rank;	/* where there is no room, the highest rank goes first; 0 never */
	bool left;		/* text, aligned left */
	bool exact;		/* says nothing in wait mode, and is not shown there */
	/* Appends the cell, escaped for a terminal, not padded; nothing for what is not known. */
	void (*put)(struct buf *b, const struct now_view *v, const void *row);
	/* < 0: @a stands before @b, as people want it: figures falling, ids and text rising. */
	int (*order)(const struct now_view *v, const void *a, const void *b);
};

struct now_tab_desc {
	const char *name;	/* "threads", as --tab takes it */
	const char *title;	/* "Threads" */
	const struct now_col *col;
	size_t ncol;
	size_t sort;		/* index of the column that it is sorted by at first */
	size_t row_bytes;
	const void *(*rows)(const struct now *n, size_t *count);	/* the array */
	/* Rows of different moments are the same when both words are. */
	void (*key)(const void *row, uint64_t key[2]);
	const float *(*past)(const void *row);
	/* The row's text for filter and search: name, ids, symbol; unescaped. */
	void (*text)(struct buf *b, const void *row);
	const char *none;	/* what an empty table says: "nothing waited for a lock" */
};

extern const struct now_tab_desc now_tabs[NOW_TABS];

/* The column of that heading (of either), in any case; the tab's .ncol: there is none. */
size_t now_col_find(const struct now_tab_desc *tab, const char *head);
/* Whether the column has something to say: of this mode, and of totals or the interval. */
bool now_col_shown(const struct now_view *v, const struct now_col *col);
/* What stands over it, and the least width, in this view. */
const char *now_col_head(const struct now_view *v, const struct now_col *col);
unsigned int now_col_width(const struct now_view *v, const struct now_col *col);

/*
 * Sorts the first @want of @n row pointers to the front, by column @col and then
 * by key, @reverse or not: what is shown of 20,000 rows costs no full sort.
 */
void now_sort(const struct now_view *v, const struct now_tab_desc *tab, size_t col, bool reverse,
	      const void **row, size_t n, size_t want);
/* The same without an order among the first @want: what stands before a screen's rows. */
void now_choose(const struct now_view *v, const struct now_tab_desc *tab, size_t col, bool reverse,
		const void **row, size_t n, size_t want);

/*
 * A sparkline of @cells characters, newest right, of the row's past; @scale: what a
 * full cell stands for, 0: the most in this past. Eighths of a block, ASCII " .:-=+*#".
 */
void now_spark(struct buf *b, const struct now_view *v, const float *past, unsigned int cells,
	       float scale);

/*
 * Two lines for above the tables, without colour and newline, each cut at @width:
 * who, how long, CPU, threads by state, switches; then loss and own overhead,
 * always: "lost 0 · own 0.4 % of a CPU · a call +0 ns (wait mode) …".
 */
void now_head(struct buf *line1, struct buf *line2, const struct now_view *v, unsigned int width);

struct now_text_opts {
	enum now_tab tab;
	size_t sort;		/* column; now_tabs[].ncol: the tab's own */
	size_t rows;		/* most rows, 0: all */
	unsigned int width;	/* columns, 0: ask the terminal, COLUMNS, else 80 */
	enum out_color color;
	enum out_charset charset;
	bool totals;
};

/* One refresh as a table for --batch, with a line of the time before it; 0, -ENOMEM. */
int now_text(const struct now *n, const struct now_text_opts *opts, struct out_stream *o,
	     struct err *err);
/* One refresh as an object on a line (docs/formats/top-json.md); at most @rows of each table. */
int now_json(const struct now *n, size_t rows, struct out_stream *o, struct err *err);

#endif
