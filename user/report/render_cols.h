/* SPDX-License-Identifier: MIT */
#ifndef REPORT_RENDER_COLS_H
#define REPORT_RENDER_COLS_H

/*
 * The columns of a report's two tables, metrics and contributors: text, Markdown and
 * HTML show them in this order, each those that it has room for. Inside user/report.
 */
#include "report/render_words.h"

enum render_col_in { RENDER_IN_ALL, RENDER_IN_HTML };

struct render_col {
	const char *head;
	enum render_col_in in;
	bool left;		/* text, not figures */
	/* Appends the cell of @row, a struct regress_metric or regress_contributor. */
	void (*put)(const struct words *w, struct buf *b, const void *row);
	/* What it is sorted by as a number, NAN: nothing; NULL: by its text. */
	double (*key)(const void *row);
};

enum render_metric_col {
	METRIC_COL_NAME, METRIC_COL_BASE, METRIC_COL_NOW, METRIC_COL_CHANGE, METRIC_COL_INTERVAL,
	METRIC_COL_P, METRIC_COL_Q, METRIC_COL_VERDICT, METRIC_COLS
};
extern const struct render_col render_metric_cols[METRIC_COLS];

enum render_part_col {
	PART_COL_PART, PART_COL_NAME, PART_COL_WHAT, PART_COL_BASE, PART_COL_NOW,
	PART_COL_CHANGE, PART_COLS
};
extern const struct render_col render_part_cols[PART_COLS];

/*
 * The metrics in the order of the tables: worse, inconclusive, better, same, of each
 * counts before times; else as they are. *@rows is an array of r->nmetric, for free().
 * 0 or -ENOMEM.
 */
int render_metric_rows(const struct regress *r, const struct regress_metric ***rows);
/* A verdict's place in that order, from 0. */
unsigned int render_verdict_rank(enum compare_verdict v);

#endif
