/* SPDX-License-Identifier: MIT */
#include "out/now_cell.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "out/escape.h"
#include "out/human.h"

#define SECOND_NS 1000000000

bool now_col_shown(const struct now_view *v, const struct now_col *col)
{
	if (col->exact && v->now->mode == SUM_WAIT)
		return false;
	return !v->totals || !col->head_totals || *col->head_totals;
}

const char *now_col_head(const struct now_view *v, const struct now_col *col)
{
	return v->totals && col->head_totals ? col->head_totals : col->head;
}

unsigned int now_col_width(const struct now_view *v, const struct now_col *col)
{
	return v->totals && col->width_totals ? col->width_totals : col->width;
}

size_t now_col_find(const struct now_tab_desc *tab, const char *head)
{
	size_t i;

	for (i = 0; i < tab->ncol; i++) {
		const struct now_col *c = &tab->col[i];

		if (!strcasecmp(c->head, head) ||
		    (c->head_totals && *c->head_totals && !strcasecmp(c->head_totals, head)))
			break;
	}
	return i;
}

void now_put_id(struct buf *b, const struct now_view *v, int64_t id)
{
	(void)v;
	buf_addf(b, "%" PRId64, id);
}

void now_put_name(struct buf *b, const struct now_view *v, const char *s)
{
	if (s)
		escape_term(b, s, strlen(s), v->ascii);
}

void now_put_thread(struct buf *b, const struct now_view *v, pid_t tid, const char *comm)
{
	if (!*comm) {
		buf_addf(b, "thread %d", (int)tid);
		return;
	}
	now_put_name(b, v, comm);
	buf_addf(b, " (%d)", (int)tid);
}

void now_put_number(struct buf *b, const struct now_view *v, uint64_t n)
{
	char tmp[HUMAN_BYTES];

	(void)v;
	buf_adds(b, human_count(tmp, n));
}

void now_put_bytes(struct buf *b, const struct now_view *v, uint64_t bytes)
{
	char tmp[HUMAN_BYTES];

	(void)v;
	buf_adds(b, human_bytes(tmp, bytes));
}

void now_put_ns(struct buf *b, const struct now_view *v, uint64_t ns)
{
	char tmp[HUMAN_BYTES];

	buf_adds(b, human_ns(tmp, ns, v->ascii));
}

void now_put_known_ns(struct buf *b, const struct now_view *v, uint64_t ns)
{
	if (ns)
		now_put_ns(b, v, ns);
}

void now_put_percent(struct buf *b, uint64_t part, uint64_t whole)
{
	char tmp[HUMAN_BYTES];

	if (!whole)
		return;
	human_percent(tmp, part, whole);
	buf_add(b, tmp, strcspn(tmp, " "));
}

/* How often a second; what is less than once and not nothing must not look like nothing. */
static void put_per_second(struct buf *b, const struct now_view *v, uint64_t n,
			   void (*put)(struct buf *b, const struct now_view *v, uint64_t n))
{
	const uint64_t interval = v->now->interval_ns;
	unsigned __int128 rate;

	if (!interval)
		return;
	rate = ((unsigned __int128)n * SECOND_NS + interval / 2) / interval;
	if (!rate && n) {
		buf_addc(b, '<');
		rate = 1;
	}
	put(b, v, rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate);
}

void now_put_rate(struct buf *b, const struct now_view *v, struct now_count c)
{
	if (v->totals)
		now_put_number(b, v, c.total);
	else
		put_per_second(b, v, c.step, now_put_number);
}

void now_put_bytes_rate(struct buf *b, const struct now_view *v, struct now_count c)
{
	if (v->totals)
		now_put_bytes(b, v, c.total);
	else
		put_per_second(b, v, c.step, now_put_bytes);
}

void now_put_share(struct buf *b, const struct now_view *v, struct now_count c)
{
	if (v->totals)
		now_put_ns(b, v, c.total);
	else
		now_put_percent(b, c.step, v->now->interval_ns);
}

void now_put_past(struct buf *b, const struct now_view *v, const float *past)
{
	float most = 1;
	size_t i;

	for (i = 0; i < NOW_PAST; i++)
		most = past[i] > most ? past[i] : most;
	now_spark(b, v, past, NOW_WIDTH_PAST, most);
}

int now_falling(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

int now_rising(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int now_by_name(const char *a, const char *b)
{
	const bool none = !a || !*a, other = !b || !*b;

	if (none || other)
		return none - other;
	return strcmp(a, b);
}

static float sum_past(const float *past)
{
	float sum = 0;
	size_t i;

	/* What is no number compares as less than any. */
	for (i = 0; i < NOW_PAST; i++)
		sum += past[i] > 0 ? past[i] : 0;
	return sum;
}

int now_by_past(const float *a, const float *b)
{
	const float x = sum_past(a), y = sum_past(b);

	return x > y ? -1 : x < y;
}

#define ROWS(name, array, count)						\
static const void *name##_rows(const struct now *n, size_t *rows)		\
{										\
	*rows = n->count;							\
	return n->array;							\
}

ROWS(thread, thread, nthread)
ROWS(lock, lock, nlock)
ROWS(pipe, pipe, npipe)
ROWS(call, call, ncall)
ROWS(process, process, nprocess)

#define PAST(row)								\
static const float *row##_past(const void *p)					\
{										\
	return ((const struct now_##row *)p)->past;				\
}

PAST(thread)
PAST(lock)
PAST(pipe)
PAST(call)
PAST(process)

#define KEY(row, first, second)							\
static void row##_key(const void *p, uint64_t key[2])				\
{										\
	const struct now_##row *r = p;						\
										\
	key[0] = (uint64_t)(first);						\
	key[1] = (uint64_t)(second);						\
}

/* Of a name, as a number (FNV-1a): what has no number of its own shares one. */
static uint64_t name_key(const char *s)
{
	uint64_t h = 14695981039346656037ULL;

	for (; s && *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ULL;
	return h;
}

KEY(thread, r->tid, 0)
KEY(lock, r->addr, r->space)
KEY(pipe, r->id, r->sb)
KEY(call, r->nr, name_key(r->name))
KEY(process, r->tgid, 0)

#define TAB(row, count) .col = now_##row##_cols, .ncol = count,			\
	.row_bytes = sizeof(struct now_##row), .rows = row##_rows, .key = row##_key,	\
	.past = row##_past, .text = now_##row##_text

const struct now_tab_desc now_tabs[NOW_TABS] = {
	[NOW_THREADS] = { .name = "threads", .title = "Threads", .sort = NOW_SORT_THREADS,
			  .none = "no threads", TAB(thread, NOW_COLS_THREADS) },
	[NOW_LOCKS] = { .name = "locks", .title = "Locks", .sort = NOW_SORT_LOCKS,
			.none = "nothing waited for a lock", TAB(lock, NOW_COLS_LOCKS) },
	[NOW_PIPES] = { .name = "pipes", .title = "Pipes", .sort = NOW_SORT_PIPES,
			.none = "no pipe was seen", TAB(pipe, NOW_COLS_PIPES) },
	[NOW_CALLS] = { .name = "calls", .title = "System calls", .sort = NOW_SORT_CALLS,
			.none = "no system call was seen", TAB(call, NOW_COLS_CALLS) },
	[NOW_PROCESSES] = { .name = "processes", .title = "Processes",
			    .sort = NOW_SORT_PROCESSES, .none = "no processes",
			    TAB(process, NOW_COLS_PROCESSES) },
};
