/* SPDX-License-Identifier: MIT */
/* Scheduling: where the threads' time went. */
#include "out/table.h"

#include <stdlib.h>

#include "stats/units.h"

struct sched_row {
	const char *name, *what;
	uint64_t ns;
};

static uint64_t sched_ns(const struct view *v, const void *row)
{
	(void)v;
	return ((const struct sched_row *)row)->ns;
}

static void sched_share(const struct view *v, const void *row, struct buf *b)
{
	view_percent(v, b, ((const struct sched_row *)row)->ns, v->whole_ns);
}

static void sched_bar(const struct view *v, const void *row, struct buf *b)
{
	view_bar(v, b, ((const struct sched_row *)row)->ns, v->whole_ns, 24);
}

static void sched_name(const struct view *v, const void *row, struct buf *b)
{
	(void)v;
	buf_adds(b, ((const struct sched_row *)row)->name);
}

static void sched_what(const struct view *v, const void *row, struct buf *b)
{
	(void)v;
	buf_adds(b, ((const struct sched_row *)row)->what);
}

static const struct table_col sched_cols[] = {
	{ .head = "time", .unit = TABLE_NS, .num = sched_ns },
	{ .head = "share", .text = sched_share },
	{ .head = "", .align = TABLE_LEFT, .text = sched_bar, .style = VIEW_CYAN, .drop = 1 },
	{ .head = "state", .align = TABLE_LEFT, .text = sched_name },
	{ .head = "", .align = TABLE_LEFT, .text = sched_what, .style = VIEW_DIM, .min = 12,
	  .drop = 2 },
};

static void print_states(struct view *v)
{
	const struct sum_sched *c = &v->s->sched;
	const struct sched_row row[] = {
		{ "on CPU", "running", c->oncpu_ns },
		{ "runnable", "ready, waiting for a CPU", c->runnable_ns },
		{ "blocked", "asleep in a call or fault", c->blocked_ns },
	};
	const void *rows[] = { &row[0], &row[1], &row[2] };
	struct out_opts all = *v->opts;
	const struct out_opts *opts = v->opts;

	all.rows = 0;
	v->opts = &all;
	table_print(v, &(struct table){
		.col = sched_cols, .ncol = sizeof(sched_cols) / sizeof(*sched_cols),
		.row = rows, .nrow = 3,
	});
	v->opts = opts;
}

static void print_blocks(struct view *v, struct buf *b)
{
	const struct sum_sched *c = &v->s->sched;
	size_t i, most = v->opts->rows && v->opts->rows < c->nblock ? v->opts->rows : c->nblock;

	for (i = 0; i < most; i++) {
		view_sep(v, b);
		view_esc_glued(v, b, c->block[i].name);
		buf_adds(b, VIEW_GLUE);
		view_ns(v, b, c->block[i].total_ns);
		buf_addf(b, VIEW_GLUE "%s%s", v->g->times, units_count(c->block[i].count).s);
	}
	if (most < c->nblock) {
		view_sep(v, b);
		buf_addf(b, "%s" VIEW_GLUE "%zu" VIEW_GLUE "more", v->g->dots, c->nblock - most);
	}
	if (b->len)
		view_wrap(v, 14, "  blocked in", VIEW_DIM, b);
}

static void print_queue(struct view *v, struct buf *b)
{
	const struct hist *h = &v->s->sched.runq;

	if (!h->count)
		return;
	buf_adds(b, "p50" VIEW_GLUE);
	view_ns(v, b, hist_quantile(h, 0.5));
	buf_adds(b, ", p99" VIEW_GLUE);
	view_ns(v, b, hist_quantile(h, 0.99));
	buf_adds(b, ", max" VIEW_GLUE);
	view_ns(v, b, h->max);
	view_wrap(v, 14, "  run queue", VIEW_DIM, b);
}

void view_sched(struct view *v)
{
	const struct sum_sched *c = &v->s->sched;
	struct buf b = BUF_INIT;

	if (!(v->s->collected & SUM_SCHED))
		return;
	if (c->cpus) {
		view_things(&b, c->cpus, "CPU", "CPUs");
		view_sep(v, &b);
	}
	view_things(&b, c->switches, "context switch", "context switches");
	if (c->voluntary || c->involuntary) {
		view_sep(v, &b);
		view_things(&b, c->voluntary, "of its own", "of their own");
		view_sep(v, &b);
		view_things(&b, c->involuntary, "preempted", "preempted");
	}
	if (c->migrations) {
		view_sep(v, &b);
		view_things(&b, c->migrations, "moved to another CPU", "moved to another CPU");
	}
	view_heading(v, "SCHEDULING", &b);
	v->whole_ns = c->oncpu_ns + c->runnable_ns + c->blocked_ns;
	if (v->whole_ns)
		print_states(v);
	print_queue(v, &b);
	print_blocks(v, &b);
	buf_release(&b);
}
