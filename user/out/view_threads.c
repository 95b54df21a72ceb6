/* SPDX-License-Identifier: MIT */
/* Threads: what one costs by stage, the calls on the way, and with --threads each of them. */
#include "out/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stats/units.h"

/* A line of the table of stages. */
struct stage_row {
	const char *name, *what;
	const struct hist *h;
};

static const char *const stage_words[SUM_STAGES] = {
	[SUM_STAGE_STACK] = "mapping its stack",
	[SUM_STAGE_CLONE] = "in clone, until it may run",
	[SUM_STAGE_WAKEUP] = "until it is on a CPU",
	[SUM_STAGE_START] = "until its first instruction",
	[SUM_STAGE_SETUP] = "calls before its start routine",
	[SUM_STAGE_ROUTINE] = "from there to its start routine",
	[SUM_STAGE_EXIT] = "from exit until it is gone",
	[SUM_STAGE_JOIN] = "joiner woken, until it runs",
};

static uint64_t stage_p50(const struct view *v, const void *row)
{
	(void)v;
	return hist_quantile(((const struct stage_row *)row)->h, 0.5);
}

static uint64_t stage_p99(const struct view *v, const void *row)
{
	(void)v;
	return hist_quantile(((const struct stage_row *)row)->h, 0.99);
}

static uint64_t stage_max(const struct view *v, const void *row)
{
	(void)v;
	return ((const struct stage_row *)row)->h->max;
}

static uint64_t stage_total(const struct view *v, const void *row)
{
	(void)v;
	return ((const struct stage_row *)row)->h->sum;
}

static void stage_share(const struct view *v, const void *row, struct buf *b)
{
	const struct stage_row *r = row;

	view_percent(v, b, r->h->sum, v->whole_ns);
}

static void stage_bar(const struct view *v, const void *row, struct buf *b)
{
	const struct stage_row *r = row;

	if (r->what)
		view_bar(v, b, r->h->sum, v->whole_ns, 12);
}

static void stage_name(const struct view *v, const void *row, struct buf *b)
{
	(void)v;
	buf_adds(b, ((const struct stage_row *)row)->name);
}

static void stage_what(const struct view *v, const void *row, struct buf *b)
{
	const struct stage_row *r = row;

	(void)v;
	buf_adds(b, r->what ? r->what : "");
}

static const struct table_col stage_cols[] = {
	{ .head = "p50", .unit = TABLE_NS, .num = stage_p50 },
	{ .head = "p99", .unit = TABLE_NS, .num = stage_p99 },
	{ .head = "max", .unit = TABLE_NS, .num = stage_max, .drop = 3 },
	{ .head = "total", .unit = TABLE_NS, .num = stage_total },
	{ .head = "share", .text = stage_share },
	{ .head = "", .align = TABLE_LEFT, .text = stage_bar, .style = VIEW_CYAN, .drop = 4 },
	{ .head = "stage", .align = TABLE_LEFT, .text = stage_name },
	{ .head = "", .align = TABLE_LEFT, .text = stage_what, .style = VIEW_DIM, .drop = 2 },
};

static void print_stages(struct view *v)
{
	const struct sum_threads *t = &v->s->threads;
	struct stage_row row[SUM_STAGES], total = { "all", NULL, &t->cost };
	const void *rows[SUM_STAGES];
	struct out_opts all = *v->opts;
	const struct out_opts *opts = v->opts;
	size_t i, n = 0;

	for (i = 0; i < SUM_STAGES; i++) {
		if (!t->stage[i].count)
			continue;
		row[n] = (struct stage_row){ sum_stage_name((enum sum_stage)i), stage_words[i],
					     &t->stage[i] };
		rows[n] = &row[n];
		n++;
	}
	if (!n)
		return;
	/* The stages are few and belong together: never cut. */
	all.rows = 0;
	v->whole_ns = t->cost.sum;
	v->opts = &all;
	table_print(v, &(struct table){
		.col = stage_cols, .ncol = sizeof(stage_cols) / sizeof(*stage_cols),
		.row = rows, .nrow = n,
		/* Of one stage, all that wait mode sees, the sum would be the same line again. */
		.total = t->cost.count && n > 1 ? &total : NULL,
	});
	v->opts = opts;
}

static void print_way(struct view *v, struct buf *b)
{
	const struct sum_threads *t = &v->s->threads;
	size_t i;

	/* All of them: they are few, and -n is for tables. */
	for (i = 0; i < t->nway; i++) {
		view_sep(v, b);
		view_esc_glued(v, b, t->way[i].name);
		buf_addf(b, VIEW_GLUE "%s%s", v->g->times, units_count(t->way[i].calls).s);
		buf_adds(b, VIEW_GLUE);
		view_ns(v, b, t->way[i].total_ns);
	}
	if (b->len)
		view_wrap(v, 20, "  calls on the way  ", VIEW_DIM, b);
}

static void add_routine(const struct view *v, struct buf *b, const struct sum_routine *r)
{
	const char *slash = r->module ? strrchr(r->module, '/') : NULL;

	if (r->symbol) {
		view_esc_glued(v, b, r->symbol);
		return;
	}
	buf_addf(b, "0x%" PRIx64, r->addr);
	if (r->module) {
		buf_adds(b, VIEW_GLUE "in" VIEW_GLUE);
		view_esc_glued(v, b, slash ? slash + 1 : r->module);
	}
}

/* What threads began with, and how many were missed. */
static void print_routines(struct view *v, struct buf *b)
{
	const struct sum_threads *t = &v->s->threads;
	const uint64_t timed = t->stage[SUM_STAGE_ROUTINE].count;
	size_t i, rows = v->opts->rows && v->opts->rows < t->nroutine ? v->opts->rows : t->nroutine;

	if (!t->routines_asked || !t->created)
		return;
	for (i = 0; i < rows; i++) {
		view_sep(v, b);
		add_routine(v, b, &t->routine[i]);
		buf_addf(b, VIEW_GLUE "%s%s", v->g->times, units_count(t->routine[i].threads).s);
	}
	if (rows < t->nroutine) {
		view_sep(v, b);
		buf_addf(b, "%s%zu" VIEW_GLUE "more", v->g->dots, t->nroutine - rows);
	}
	if (timed < t->created) {
		view_sep(v, b);
		view_things(b, t->created - timed, "thread not timed", "threads not timed");
	}
	if (v->s->overhead.ns_in_routine_stage && timed) {
		view_sep(v, b);
		buf_adds(b, "of stage routine ");
		view_ns(v, b, v->s->overhead.ns_in_routine_stage);
		view_glued(b, " is the probe's own");
	}
	if (b->len)
		view_wrap(v, 20, "  start routines    ", VIEW_DIM, b);
}

#define THREAD_NUM(field)								\
static uint64_t thread_##field(const struct view *v, const void *row)			\
{											\
	(void)v;									\
	return (uint64_t)((const struct sum_thread *)row)->field;			\
}

THREAD_NUM(tid)
THREAD_NUM(parent)
THREAD_NUM(start_ns)
THREAD_NUM(lifetime_ns)
THREAD_NUM(cost_ns)
THREAD_NUM(calls)
THREAD_NUM(futex_calls)
THREAD_NUM(futex_wait_ns)
THREAD_NUM(oncpu_ns)
THREAD_NUM(runnable_ns)
THREAD_NUM(blocked_ns)

static void thread_name(const struct view *v, const void *row, struct buf *b)
{
	const struct sum_thread *t = row;

	view_esc(v, b, t->comm);
	if (t->is_process)
		buf_adds(b, " (process)");
	/* One that was there before mostly runs on; of a new one it is worth a word. */
	if (t->created && !t->exited)
		buf_adds(b, " (runs on)");
	if (t->routine && t->routine <= v->s->threads.nroutine &&
	    v->s->threads.routine[t->routine - 1].symbol) {
		buf_adds(b, " in ");
		view_esc(v, b, v->s->threads.routine[t->routine - 1].symbol);
	}
}

static const struct table_col thread_cols[] = {
	{ .head = "tid", .unit = TABLE_INT, .num = thread_tid },
	{ .head = "parent", .unit = TABLE_INT, .num = thread_parent, .blank_zero = true,
	  .drop = 8 },
	{ .head = "start", .unit = TABLE_NS, .num = thread_start_ns, .drop = 6 },
	{ .head = "lived", .unit = TABLE_NS, .num = thread_lifetime_ns },
	{ .head = "cost", .unit = TABLE_NS, .num = thread_cost_ns, .blank_zero = true },
	{ .head = "on CPU", .unit = TABLE_NS, .num = thread_oncpu_ns, .blank_zero = true },
	{ .head = "runnable", .unit = TABLE_NS, .num = thread_runnable_ns, .blank_zero = true,
	  .drop = 7 },
	{ .head = "blocked", .unit = TABLE_NS, .num = thread_blocked_ns, .blank_zero = true },
	{ .head = "in futex", .unit = TABLE_NS, .num = thread_futex_wait_ns, .blank_zero = true,
	  .drop = 5 },
	{ .head = "calls", .unit = TABLE_COUNT, .num = thread_calls, .blank_zero = true },
	{ .head = "futex", .unit = TABLE_COUNT, .num = thread_futex_calls, .blank_zero = true,
	  .drop = 9 },
	{ .head = "name", .align = TABLE_LEFT, .text = thread_name, .min = 15 },
};

static void print_by_thread(struct view *v)
{
	const struct sum_threads *t = &v->s->threads;
	const void **rows;

	if (!v->opts->threads || !t->nby_thread)
		return;
	rows = table_rows(v, t->by_thread, t->nby_thread, sizeof(*t->by_thread));
	if (!rows)
		return;
	out_putc(v->out, '\n');
	table_print(v, &(struct table){
		.col = thread_cols, .ncol = sizeof(thread_cols) / sizeof(*thread_cols),
		.row = rows, .nrow = t->nby_thread,
	});
	if (t->by_thread_cut)
		out_printf(v->out, "  %s threads beyond the first %s were counted, not kept\n",
			   units_count(t->by_thread_cut).s, units_count(t->by_thread_cap).s);
	free(rows);
}

static void add_quantiles(const struct view *v, struct buf *b, const char *words,
			  const struct hist *h)
{
	buf_adds(b, words);
	view_ns(v, b, hist_quantile(h, 0.5));
	if (h->count == 1)
		return;
	buf_adds(b, " (p99" VIEW_GLUE);
	view_ns(v, b, hist_quantile(h, 0.99));
	buf_adds(b, ")");
}

static void add_births(const struct view *v, struct buf *b)
{
	const struct sum_threads *t = &v->s->threads;

	if (t->created) {
		view_things(b, t->created, "created", "created");
		buf_adds(b, ", ");
	} else {
		buf_adds(b, "none created, ");
	}
	view_things(b, t->exited, "ended", "ended");
	if (t->cost.count)
		/* Wait mode sees of a thread's making only how long it waits for a CPU. */
		add_quantiles(v, b, v->s->mode == SUM_WAIT ? "; one waited " : "; one cost ",
			      &t->cost);
	if (t->cost.count && v->s->mode == SUM_WAIT)
		buf_adds(b, " for its first CPU");
	if (t->lifetime.count)
		add_quantiles(v, b, t->cost.count ? " and lived " : "; one lived ", &t->lifetime);
}

void view_threads(struct view *v)
{
	struct buf b = BUF_INIT;

	if (!(v->s->collected & SUM_THREADS))
		return;
	add_births(v, &b);
	view_heading(v, "THREADS", &b);
	print_stages(v);
	print_routines(v, &b);
	print_way(v, &b);
	print_by_thread(v);
	buf_release(&b);
}
