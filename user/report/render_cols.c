/* SPDX-License-Identifier: MIT */
#include "report/render_cols.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum compare_verdict order[] = {
	COMPARE_WORSE, COMPARE_INCONCLUSIVE, COMPARE_BETTER, COMPARE_SAME,
};
#define VERDICTS (sizeof(order) / sizeof(order[0]))

unsigned int render_verdict_rank(enum compare_verdict v)
{
	unsigned int i = 0;

	while (i < VERDICTS && order[i] != v)
		i++;
	return i;
}

int render_metric_rows(const struct regress *r, const struct regress_metric ***rows)
{
	const struct regress_metric **row = calloc(r->nmetric + 1, sizeof(*row));
	size_t i, n = 0;
	unsigned int v;

	if (!row)
		return -ENOMEM;
	for (v = 0; v < 2 * VERDICTS; v++)
		for (i = 0; i < r->nmetric; i++)
			if (r->metric[i].result.verdict == order[v / 2] &&
			    (r->metric[i].kind == METRIC_TIME) == (v % 2 == 1))
				row[n++] = &r->metric[i];
	*rows = row;
	return 0;
}

#define METRIC_PUT(col, print)								\
static void put_##col(const struct words *w, struct buf *b, const void *row)		\
{											\
	const struct regress_metric *m = row;						\
											\
	(void)w;									\
	print;										\
}

#define METRIC_KEY(col, number)								\
static double key_##col(const void *row)						\
{											\
	const struct regress_metric *m = row;						\
											\
	return number;									\
}

METRIC_PUT(name, words_name(w, b, m->name))
METRIC_PUT(base, words_value(w, b, m->result.base, m->unit))
METRIC_PUT(now, words_value(w, b, m->result.now, m->unit))
METRIC_PUT(change, words_ratio(w, b, m->result.ratio))
METRIC_PUT(interval, words_interval(w, b, &m->result))
METRIC_PUT(p, words_p(w, b, m->result.p))
METRIC_PUT(q, words_p(w, b, m->result.q))
METRIC_PUT(verdict, buf_adds(b, compare_word(m->result.verdict)))

METRIC_KEY(base, m->result.base)
METRIC_KEY(now, m->result.now)
METRIC_KEY(change, m->result.ratio)
METRIC_KEY(interval, m->result.ci[0])
METRIC_KEY(p, m->result.p)
METRIC_KEY(q, m->result.q)
METRIC_KEY(verdict, render_verdict_rank(m->result.verdict))

const struct render_col render_metric_cols[METRIC_COLS] = {
	[METRIC_COL_NAME] = { "metric", .left = true, .put = put_name },
	[METRIC_COL_BASE] = { "base", .put = put_base, .key = key_base },
	[METRIC_COL_NOW] = { "new", .put = put_now, .key = key_now },
	[METRIC_COL_CHANGE] = { "change", .put = put_change, .key = key_change },
	[METRIC_COL_INTERVAL] = { "interval", .put = put_interval, .key = key_interval },
	[METRIC_COL_P] = { "p", RENDER_IN_HTML, false, put_p, key_p },
	[METRIC_COL_Q] = { "q", .put = put_q, .key = key_q },
	[METRIC_COL_VERDICT] = { "verdict", .left = true, .put = put_verdict,
				 .key = key_verdict },
};

/* What a side does not have, or has none of. */
static bool absent(double v)
{
	return isnan(v) || v == 0;
}

static double part_ratio(const struct regress_contributor *c)
{
	if (absent(c->base))
		return absent(c->now) ? NAN : INFINITY;
	return absent(c->now) ? 0 : c->now / c->base;
}

static void put_part_change(const struct words *w, struct buf *b, const void *row)
{
	const struct regress_contributor *c = row;

	if (absent(c->base) && !absent(c->now))
		buf_adds(b, "new");
	else if (absent(c->now) && !absent(c->base))
		buf_adds(b, "gone");
	else
		words_ratio(w, b, part_ratio(c));
}

#define PART_PUT(col, print)								\
static void put_part_##col(const struct words *w, struct buf *b, const void *row)	\
{											\
	const struct regress_contributor *c = row;					\
											\
	(void)w;									\
	print;										\
}

PART_PUT(part, buf_adds(b, regress_part_name(c->part)))
PART_PUT(name, words_name(w, b, c->name))
PART_PUT(what, buf_adds(b, c->what ? c->what : ""))
PART_PUT(base, words_value(w, b, c->base, c->unit))
PART_PUT(now, words_value(w, b, c->now, c->unit))

static double key_part_base(const void *row)
{
	return ((const struct regress_contributor *)row)->base;
}

static double key_part_now(const void *row)
{
	return ((const struct regress_contributor *)row)->now;
}

static double key_part_change(const void *row)
{
	return part_ratio(row);
}

const struct render_col render_part_cols[PART_COLS] = {
	[PART_COL_PART] = { "part", .left = true, .put = put_part_part },
	[PART_COL_NAME] = { "name", .left = true, .put = put_part_name },
	[PART_COL_WHAT] = { "of it", .left = true, .put = put_part_what },
	[PART_COL_BASE] = { "base", .put = put_part_base, .key = key_part_base },
	[PART_COL_NOW] = { "new", .put = put_part_now, .key = key_part_now },
	[PART_COL_CHANGE] = { "change", .put = put_part_change, .key = key_part_change },
};
