/* SPDX-License-Identifier: MIT */
/* System calls in the columns of strace -c, with the distribution beside them. */
#include "out/table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stats/units.h"

static void call_percent(const struct view *v, const void *row, struct buf *b)
{
	uint64_t whole = v->whole_ns, part = ((const struct sum_syscall *)row)->wall.sum;
	unsigned int hundredths = 0;

	if (whole)
		hundredths = (unsigned int)(((unsigned __int128)part * 10000 + whole / 2) / whole);
	buf_addf(b, "%u.%02u", hundredths / 100, hundredths % 100);
}

static void call_seconds(const struct view *v, const void *row, struct buf *b)
{
	uint64_t us = (((const struct sum_syscall *)row)->wall.sum + 500) / 1000;

	(void)v;
	buf_addf(b, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

/* strace's usecs/call, with the decimal that calls of under 10 us need. */
static void call_usecs(const struct view *v, const void *row, struct buf *b)
{
	uint64_t tenths = (hist_mean(&((const struct sum_syscall *)row)->wall) + 50) / 100;

	(void)v;
	buf_addf(b, "%" PRIu64 ".%" PRIu64, tenths / 10, tenths % 10);
}

#define CALL_NUM(name, value)							\
static uint64_t call_##name(const struct view *v, const void *row)		\
{										\
	const struct sum_syscall *c = row;					\
										\
	(void)v;								\
	return value;								\
}

CALL_NUM(calls, c->calls)
CALL_NUM(errors, c->errors)
CALL_NUM(cpu, c->cpu_ns)
CALL_NUM(p50, hist_quantile(&c->wall, 0.5))
CALL_NUM(p99, hist_quantile(&c->wall, 0.99))
CALL_NUM(max, c->wall.max)

static void call_name(const struct view *v, const void *row, struct buf *b)
{
	view_esc(v, b, ((const struct sum_syscall *)row)->name);
}

static void add_errnos(const struct view *v, const struct sum_syscall *c, struct buf *b)
{
	char tmp[24], num[HUMAN_BYTES];
	size_t i;

	(void)v;
	for (i = 0; i < c->nby_errno; i++)
		buf_addf(b, "%s%s" VIEW_GLUE "%s", i ? ", " : "",
			 human_count(num, c->by_errno[i].count),
			 out_errno_name(c->by_errno[i].err, tmp));
}

static void call_errnos(const struct view *v, const void *row, struct buf *b)
{
	add_errnos(v, row, b);
}

enum { CALL_COL_ERRNOS = 10 };
#define CALL_ERRORS 8	/* shown by default */

static const struct table_col call_cols[] = {
	{ .head = "% time", .text = call_percent },
	{ .head = "seconds", .text = call_seconds },
	{ .head = "usecs/call", .text = call_usecs, .drop = 4 },
	{ .head = "calls", .unit = TABLE_INT, .num = call_calls },
	{ .head = "errors", .unit = TABLE_INT, .num = call_errors, .blank_zero = true },
	{ .head = "CPU", .unit = TABLE_NS, .num = call_cpu, .blank_zero = true, .drop = 3 },
	{ .head = "p50", .unit = TABLE_NS, .num = call_p50, .drop = 1 },
	{ .head = "p99", .unit = TABLE_NS, .num = call_p99, .drop = 1 },
	{ .head = "max", .unit = TABLE_NS, .num = call_max, .drop = 2 },
	{ .head = "syscall", .align = TABLE_LEFT, .text = call_name, .style = VIEW_BOLD,
	  .min = 12 },
	[CALL_COL_ERRNOS] = { .head = "errors by errno", .align = TABLE_LEFT, .text = call_errnos,
			      .style = VIEW_DIM, .drop = 5 },
};

/* One error of one call. */
struct call_error {
	const struct sum_syscall *call;
	const struct sum_errno *error;
};

static int by_errors(const void *a, const void *b)
{
	const struct call_error *x = a, *y = b;

	if (x->error->count != y->error->count)
		return x->error->count < y->error->count ? 1 : -1;
	/* In the summary's order, so that the line is the same each time. */
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return x->error < y->error ? -1 : x->error > y->error;
}

/* The most frequent errors of all calls, also of those whose rows are not shown. */
static void print_errnos(struct view *v)
{
	char tmp[24], num[HUMAN_BYTES];
	struct call_error *e;
	size_t i, k, n = 0, most;
	uint64_t others = 0;
	struct buf b = BUF_INIT;

	for (i = 0; i < v->s->nsyscall; i++)
		n += v->s->syscall[i].nby_errno;
	e = calloc(n + 1, sizeof(*e));
	if (!e) {
		v->failed = true;
		return;
	}
	for (i = n = 0; i < v->s->nsyscall; i++)
		for (k = 0; k < v->s->syscall[i].nby_errno; k++)
			e[n++] = (struct call_error){ &v->s->syscall[i],
						      &v->s->syscall[i].by_errno[k] };
	qsort(e, n, sizeof(*e), by_errors);
	most = v->opts->rows && n > CALL_ERRORS ? CALL_ERRORS : n;
	for (i = 0; i < most; i++) {
		view_sep(v, &b);
		view_esc_glued(v, &b, e[i].call->name);
		buf_addf(&b, VIEW_GLUE "%s" VIEW_GLUE "%s", human_count(num, e[i].error->count),
			 out_errno_name(e[i].error->err, tmp));
	}
	for (; i < n; i++)
		others += e[i].error->count;
	if (others) {
		view_sep(v, &b);
		buf_addf(&b, "%s" VIEW_GLUE "others", human_count(num, others));
	}
	free(e);
	if (b.len)
		view_wrap(v, 10, "  errors", VIEW_DIM, &b);
	buf_release(&b);
}

static void add_up(const struct view *v, struct sum_syscall *total)
{
	size_t i;

	*total = (struct sum_syscall){ .name = "total" };
	for (i = 0; i < v->s->nsyscall; i++) {
		const struct sum_syscall *c = &v->s->syscall[i];

		total->calls += c->calls;
		total->errors += c->errors;
		total->cpu_ns += c->cpu_ns;
		hist_merge(&total->wall, &c->wall);
	}
}

static void print_calls(struct view *v, struct sum_syscall *total)
{
	out_sort_fn order = out_sort_calls(v->opts->sort);
	const void **rows = table_rows(v, v->s->syscall, v->s->nsyscall, sizeof(*v->s->syscall));
	unsigned int shown;
	bool cut = false;
	size_t i;

	if (!rows)
		return;
	v->whole_ns = total->wall.sum;
	if (order)
		qsort(rows, v->s->nsyscall, sizeof(*rows), order);
	shown = table_print(v, &(struct table){
		.col = call_cols, .ncol = sizeof(call_cols) / sizeof(*call_cols),
		.row = rows, .nrow = v->s->nsyscall, .total = total,
	});
	/* Where the terminal has no room for the column, or rows with errors were cut off. */
	for (i = v->opts->rows && v->opts->rows < v->s->nsyscall ? v->opts->rows : v->s->nsyscall;
	     i < v->s->nsyscall && !cut; i++)
		cut = ((const struct sum_syscall *)rows[i])->nby_errno;
	if (cut || !(shown & 1u << CALL_COL_ERRNOS))
		print_errnos(v);
	free(rows);
}

/* What -e and -P left out must not be taken for what was not called. */
static void add_narrowed(const struct view *v, struct buf *b)
{
	size_t i;

	if (!v->s->calls && !v->s->npaths)
		return;
	buf_adds(b, "; narrowed to ");
	if (v->s->calls) {
		view_esc(v, b, v->s->calls);
		buf_adds(b, VIEW_GLUE "(-e)");
	}
	if (!v->s->npaths)
		return;
	buf_adds(b, v->s->calls ? ", of them calls on " : "calls on ");
	for (i = 0; i < v->s->npaths; i++) {
		buf_adds(b, i ? ", " : "");
		view_esc_glued(v, b, v->s->paths[i]);
	}
	buf_adds(b, VIEW_GLUE "(-P)");
}

void view_syscalls(struct view *v)
{
	struct buf b = BUF_INIT;
	struct sum_syscall total;

	if (!(v->s->collected & SUM_SYSCALLS))
		return;
	add_up(v, &total);
	view_things(&b, total.calls, "call", "calls");
	if (total.errors) {
		buf_adds(&b, ", ");
		view_things(&b, total.errors, "failed", "failed");
	}
	add_narrowed(v, &b);
	if (v->s->mode == SUM_WAIT)
		buf_adds(&b, "; only calls that blocked are counted (--mode exact counts all)");
	view_heading(v, "SYSTEM CALLS", &b);
	if (v->s->nsyscall)
		print_calls(v, &total);
	buf_release(&b);
}
