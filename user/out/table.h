/* SPDX-License-Identifier: MIT */
#ifndef OUT_TABLE_H
#define OUT_TABLE_H

#include "base/buf.h"
#include "out/view.h"

/*
 * Tables are const arrays of columns. Widths come from the cells; when the
 * whole is wider than the terminal, columns with room between .min and their
 * width shrink, then columns are left out, highest .drop first, and at last
 * those that may shrink do so below .min. One that may be left out and has
 * nothing in any row is.
 */
enum table_align { TABLE_RIGHT, TABLE_LEFT };

enum table_unit {
	TABLE_TEXT,	/* .text writes the cell */
	TABLE_INT,	/* .num, all digits */
	TABLE_COUNT,	/* .num, "12.3k" */
	TABLE_NS,	/* .num, "1.23 ms" */
	TABLE_BYTES,	/* .num, "4.5 MiB" */
};

struct table_col {
	const char *head;
	enum table_align align;
	enum table_unit unit;
	enum view_style style;
	enum view_style (*style_of)(const void *row);	/* in place of .style; NULL: that */
	unsigned char min;	/* columns it may be shrunk to; 0: never shrunk */
	unsigned char max;	/* most columns; 0: no limit */
	unsigned char wide;	/* least columns, and an empty one stays: tables that come again */
	unsigned char drop;	/* 0: never left out */
	bool blank_zero;	/* 0 prints as nothing */
	uint64_t (*num)(const struct view *v, const void *row);
	void (*text)(const struct view *v, const void *row, struct buf *cell);	/* escaped */
};

#define TABLE_COLS_MAX 16
#define TABLE_INDENT 2

struct table {
	const struct table_col *col;
	unsigned int ncol;
	const void *const *row;		/* .nrow pointers */
	size_t nrow;
	size_t nmore;			/* further rows that are not among them */
	const char *all;		/* the option that shows them; NULL: "-n 0" */
	/* Writes the cells in place of the columns' own functions; escaped. NULL: they do. */
	void (*cell)(const struct table *t, unsigned int col, const void *row, struct buf *cell);
	const void *ctx;		/* for .cell */
	const void *total;		/* a last row below a line, NULL: none */
	/* Lines below the first .ndetail rows (0: all); @shown: a bit per column kept. */
	void (*detail)(struct view *v, const void *row, unsigned int shown);
	size_t ndetail;
	void (*brief)(struct view *v, const void *row);	/* below the rows behind those; NULL */
	/* Our words for a run of rows, printed before its first; NULL: none for this row. */
	const char *(*group)(const void *row);
};

/*
 * Prints header, rows up to opts->rows, "… 37 more (-n 0 shows all)", the
 * total. Returns a bit per column that was shown. Memory: v->failed.
 */
unsigned int table_print(struct view *v, const struct table *t);

/* The addresses of @n elements of @size bytes from @base; NULL: no memory (v->failed). */
const void **table_rows(struct view *v, const void *base, size_t n, size_t size);

#endif
