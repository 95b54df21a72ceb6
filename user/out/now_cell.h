/* SPDX-License-Identifier: MIT */
#ifndef OUT_NOW_CELL_H
#define OUT_NOW_CELL_H

/*
 * What the columns of a live view's tabs are written with. Inside user/out only.
 * A figure of the interval is a rate or a share of the interval, and nothing
 * where that has no length; one of the total is the count or the time itself.
 */
#include "out/now_cols.h"

#define NOW_COLS_THREADS 14
#define NOW_COLS_LOCKS 15
#define NOW_COLS_PIPES 8
#define NOW_COLS_CALLS 11
#define NOW_COLS_PROCESSES 16

/* The column that each is sorted by at first. */
enum {
	NOW_SORT_THREADS = 3, NOW_SORT_LOCKS = 4, NOW_SORT_PIPES = 1, NOW_SORT_CALLS = 4,
	NOW_SORT_PROCESSES = 6,
};

extern const struct now_col now_thread_cols[NOW_COLS_THREADS];
extern const struct now_col now_lock_cols[NOW_COLS_LOCKS];
extern const struct now_col now_pipe_cols[NOW_COLS_PIPES];
extern const struct now_col now_call_cols[NOW_COLS_CALLS];
extern const struct now_col now_process_cols[NOW_COLS_PROCESSES];

void now_thread_text(struct buf *b, const void *row);
void now_lock_text(struct buf *b, const void *row);
void now_pipe_text(struct buf *b, const void *row);
void now_call_text(struct buf *b, const void *row);
void now_process_text(struct buf *b, const void *row);

/* Widths of what the functions below put. */
enum {
	NOW_WIDTH_ID = 7,
	NOW_WIDTH_COMM = 15,
	NOW_WIDTH_COUNT = 5,
	NOW_WIDTH_SHARE = 5,
	NOW_WIDTH_NS = 7,
	NOW_WIDTH_BYTES = 8,
	NOW_WIDTH_PAST = 8,
};

/* The part of a count that the view shows. */
static inline uint64_t now_part(const struct now_view *v, struct now_count c)
{
	return v->totals ? c.total : c.step;
}

void now_put_id(struct buf *b, const struct now_view *v, int64_t id);
void now_put_name(struct buf *b, const struct now_view *v, const char *s);
/* A lock's name, or its place in its file; false, and nothing, where neither is known. */
bool now_put_lock(struct buf *b, const struct now_view *v, const struct now_lock *l);
/* "COMM (TID)", "thread TID". */
void now_put_thread(struct buf *b, const struct now_view *v, pid_t tid, const char *comm);
void now_put_number(struct buf *b, const struct now_view *v, uint64_t n);
void now_put_bytes(struct buf *b, const struct now_view *v, uint64_t bytes);
void now_put_ns(struct buf *b, const struct now_view *v, uint64_t ns);
/* The same, and nothing for 0, which stands for not known. */
void now_put_known_ns(struct buf *b, const struct now_view *v, uint64_t ns);
/* Hundredths, without the sign that the heading has; @whole 0: nothing. */
void now_put_percent(struct buf *b, uint64_t part, uint64_t whole);
/* Of what happens: how often a second, or how often. */
void now_put_rate(struct buf *b, const struct now_view *v, struct now_count c);
void now_put_bytes_rate(struct buf *b, const struct now_view *v, struct now_count c);
/* Of time: hundredths of the interval, or how long. */
void now_put_share(struct buf *b, const struct now_view *v, struct now_count c);
/* The sparkline; a full cell is one (a CPU, a thread), or the most of it where that is more. */
void now_put_past(struct buf *b, const struct now_view *v, const float *past);

/* For .order: the larger first; the smaller first; what there is by its bytes, then nothing. */
int now_falling(uint64_t a, uint64_t b);
int now_rising(uint64_t a, uint64_t b);
int now_by_name(const char *a, const char *b);
int now_by_past(const float *a, const float *b);

/*
 * The two functions of a column of struct now_@row, of which @r is the row:
 * @expr is the figure, put by @put.
 */
#define NOW_COUNT(row, name, expr, put)							\
static void row##_put_##name(struct buf *b, const struct now_view *v, const void *p)	\
{											\
	const struct now_##row *r = p;							\
											\
	put(b, v, expr);								\
}											\
static int row##_by_##name(const struct now_view *v, const void *p, const void *q)	\
{											\
	const struct now_##row *r = p;							\
	const uint64_t a = now_part(v, expr);						\
											\
	r = q;										\
	return now_falling(a, now_part(v, expr));					\
}

#define NOW_FIGURE(row, name, expr, put, order)						\
static void row##_put_##name(struct buf *b, const struct now_view *v, const void *p)	\
{											\
	const struct now_##row *r = p;							\
											\
	put(b, v, expr);								\
}											\
static int row##_by_##name(const struct now_view *v, const void *p, const void *q)	\
{											\
	const struct now_##row *r = p;							\
	const uint64_t a = (uint64_t)(expr);						\
											\
	(void)v;									\
	r = q;										\
	return order(a, (uint64_t)(expr));						\
}

#define NOW_NAME(row, name, expr)							\
static void row##_put_##name(struct buf *b, const struct now_view *v, const void *p)	\
{											\
	const struct now_##row *r = p;							\
											\
	now_put_name(b, v, expr);							\
}											\
static int row##_by_##name(const struct now_view *v, const void *p, const void *q)	\
{											\
	const struct now_##row *r = p, *other = q;					\
	const char *a = expr;								\
											\
	(void)v;									\
	r = other;									\
	return now_by_name(a, expr);							\
}

#define NOW_HISTORY(row)								\
static void row##_put_past(struct buf *b, const struct now_view *v, const void *p)	\
{											\
	now_put_past(b, v, ((const struct now_##row *)p)->past);			\
}											\
static int row##_by_past(const struct now_view *v, const void *p, const void *q)	\
{											\
	(void)v;									\
	return now_by_past(((const struct now_##row *)p)->past,				\
			   ((const struct now_##row *)q)->past);			\
}

/* The members of a row of the table of columns that come from it. */
#define NOW_BY(row, name) .put = row##_put_##name, .order = row##_by_##name

#endif
