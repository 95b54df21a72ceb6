/* SPDX-License-Identifier: MIT */
#ifndef OUT_OUT_H
#define OUT_OUT_H

/*
 * Output formats of a summary: a row of a table each. All of them take any
 * summary that is well formed (arrays of the stated lengths, terminated
 * strings), whatever its strings hold.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "out/outstream.h"
#include "out/summary.h"

enum out_color { OUT_COLOR_AUTO, OUT_COLOR_ALWAYS, OUT_COLOR_NEVER };
enum out_charset { OUT_CHARSET_AUTO, OUT_CHARSET_UTF8, OUT_CHARSET_ASCII };

/* Order of the system call table, in the order of -S's names (enum live_sort). */
enum out_sort {
	OUT_SORT_TIME,
	OUT_SORT_CPU,
	OUT_SORT_CALLS,
	OUT_SORT_ERRORS,
	OUT_SORT_MEAN,
	OUT_SORT_P50,
	OUT_SORT_P99,
	OUT_SORT_MAX,
	OUT_SORT_NAME,		/* A to Z; all others largest first */
	OUT_SORT_NOTHING,	/* by system call number */
	OUT_SORTS
};

/* What a folded stack is counted in. */
enum out_weight { OUT_WEIGHT_TIME, OUT_WEIGHT_WAITS, OUT_WEIGHT_SAMPLES };

struct out_opts {
	size_t rows;		/* most rows of a table, 0: all; table format only */
	bool stacks;		/* every site of a lock with all its frames */
	bool threads;		/* a row per thread */
	enum out_sort sort;	/* table and csv */
	unsigned int width;	/* terminal columns, 0: ask the terminal, COLUMNS, else 80 */
	enum out_color color;	/* AUTO: on a terminal, without NO_COLOR, TERM not dumb */
	enum out_charset charset;	/* AUTO: what LC_ALL, LC_CTYPE or LANG say */
	enum out_weight weight;	/* folded */
	const char *csv_table;	/* csv: only this table, without its "# table" line; NULL: all */
};

#define OUT_ROWS_DEFAULT 10
#define OUT_OPTS_INIT { .rows = OUT_ROWS_DEFAULT }

struct out_format {
	const char *name;
	/*
	 * Writes @s to @o. Returns 0, -ENOMEM, or -EINVAL for an option that
	 * makes no sense, with @err. Errors of writing stay on the stream:
	 * out_stream_close reports them.
	 */
	int (*summary)(const struct summary *s, const struct out_opts *opts,
		       struct out_stream *o, struct err *err);
};

extern const struct out_format out_format_table, out_format_json, out_format_csv,
	out_format_folded, out_format_pprof, out_format_perfetto;

/* "table", "json", "csv", "folded", "pprof", "perfetto"; NULL: there is none of that name. */
const struct out_format *out_format_find(const char *name);

/* What to call a lock: its symbol, else FILE+0xOFF, else its address. As it is: not escaped. */
void out_lock_name(struct buf *b, const struct sum_lock *l);

/*
 * A site's stack as a line of the folded format has it, without the figure: printable,
 * outermost first, frames parted by ';', the lock last. @site NULL: it is not known.
 */
void out_folded_stack(struct buf *b, const struct sum_lock *l, const struct sum_site *site);

/* Comparison of two system calls for qsort over pointers to them. */
typedef int (*out_sort_fn)(const void *a, const void *b);
/* For @sort; ties are by name. NULL when @sort is out of range. */
out_sort_fn out_sort_calls(enum out_sort sort);

/* "ENOENT", also the kernel's own ("ERESTARTSYS"); "E600" in @tmp for what has no name. */
const char *out_errno_name(int err, char tmp[24]);

#endif
