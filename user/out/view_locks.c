/* SPDX-License-Identifier: MIT */
/* Locks: futexes by address, who wakes whom, and the places that wait. */
#include "out/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stats/units.h"

#define LOCK_INDENT 6
#define LOCK_EDGES 3	/* shown by default */
#define LOCK_FRAMES 4
#define LOCK_FEW_WAKES 100

#define LOCK_NUM(name, value)							\
static uint64_t lock_##name(const struct view *v, const void *row)		\
{										\
	const struct sum_lock *l = row;						\
										\
	(void)v;								\
	return value;								\
}

LOCK_NUM(total, l->wait.sum)
LOCK_NUM(waits, l->waits)
LOCK_NUM(p50, hist_quantile(&l->wait, 0.5))
LOCK_NUM(p99, hist_quantile(&l->wait, 0.99))
LOCK_NUM(max, l->wait.max)
LOCK_NUM(wakes, l->wakes)
LOCK_NUM(wasted, l->wasted_wakes)
LOCK_NUM(eagain, l->eagain)
LOCK_NUM(timeouts, l->timeouts)

static void add_base(const struct view *v, struct buf *b, const char *path)
{
	const char *slash = strrchr(path, '/');

	view_esc_glued(v, b, slash && slash[1] ? slash + 1 : path);
}

/* "queue_lock", else its address; then what is not plain about it. */
static void lock_name(const struct view *v, const void *row, struct buf *b)
{
	const struct sum_lock *l = row;
	enum sum_lock_use use = sum_lock_use(l);

	if (l->symbol)
		view_esc(v, b, l->symbol);
	else
		buf_addf(b, "0x%" PRIx64, l->addr);
	if (l->kind != SUM_LOCK_PRIVATE)
		buf_addf(b, " %s", sum_lock_kind_name(l->kind));
	if (use != SUM_USE_UNKNOWN && l->kind != SUM_LOCK_JOIN)
		buf_addf(b, " %s", use == SUM_USE_SEMAPHORE ? "sem" : sum_lock_use_name(use));
}

static const struct table_col lock_cols[] = {
	{ .head = "waited", .unit = TABLE_NS, .num = lock_total },
	{ .head = "waits", .unit = TABLE_COUNT, .num = lock_waits },
	{ .head = "p50", .unit = TABLE_NS, .num = lock_p50 },
	{ .head = "p99", .unit = TABLE_NS, .num = lock_p99 },
	{ .head = "max", .unit = TABLE_NS, .num = lock_max },
	{ .head = "wakes", .unit = TABLE_COUNT, .num = lock_wakes, .blank_zero = true,
	  .drop = 2 },
	{ .head = "wasted", .unit = TABLE_COUNT, .num = lock_wasted, .blank_zero = true,
	  .drop = 3 },
	{ .head = "EAGAIN", .unit = TABLE_COUNT, .num = lock_eagain, .blank_zero = true,
	  .drop = 4 },
	{ .head = "timeouts", .unit = TABLE_COUNT, .num = lock_timeouts, .blank_zero = true,
	  .drop = 5 },
	{ .head = "lock", .align = TABLE_LEFT, .text = lock_name, .style = VIEW_BOLD, .min = 22 },
};

/* Where the lock lives and who is likely to hold it, if it is one that is held. */
static void print_place(struct view *v, const struct sum_lock *l, struct buf *b)
{
	enum sum_lock_use use = sum_lock_use(l);
	size_t i;

	if (l->comm[0]) {
		buf_adds(b, "in ");
		view_thread(v, b, l->tgid, l->comm);
	}
	if (l->symbol) {
		buf_addf(b, "%s0x%" PRIx64, b->len ? " at " : "at ", l->addr);
		if (l->module) {
			buf_adds(b, " of ");
			add_base(v, b, l->module);
		}
	}
	if (l->holder && (use == SUM_USE_MUTEX || use == SUM_USE_RWLOCK)) {
		const char *comm = "";

		for (i = 0; i < l->nedge; i++)
			if (l->edge[i].waker == l->holder)
				comm = l->edge[i].waker_comm;
		buf_adds(b, b->len ? ", " : "");
		buf_adds(b, "likely" VIEW_GLUE "held" VIEW_GLUE "by" VIEW_GLUE);
		view_thread(v, b, l->holder, comm);
	}
	if (!b->len)
		return;
	view_wrap(v, LOCK_INDENT, "", VIEW_DIM, b);
}

static void print_edges(struct view *v, const struct sum_lock *l, struct buf *b)
{
	size_t i, most = v->opts->rows ? LOCK_EDGES : l->nedge;

	if (v->opts->threads)
		most = l->nedge;
	for (i = 0; i < l->nedge && i < most; i++) {
		const struct sum_edge *e = &l->edge[i];

		view_sep(v, b);
		if (e->waker)
			view_thread(v, b, e->waker, e->waker_comm);
		else
			buf_adds(b, "timeout" VIEW_GLUE "or" VIEW_GLUE "signal");
		buf_addf(b, VIEW_GLUE "%s" VIEW_GLUE, v->g->arrow);
		view_thread(v, b, e->waiter, e->waiter_comm);
		buf_addf(b, VIEW_GLUE "%s%s", v->g->times, units_count(e->count).s);
	}
	if (i < l->nedge) {
		view_sep(v, b);
		buf_addf(b, "%s" VIEW_GLUE "%zu" VIEW_GLUE "more", v->g->dots, l->nedge - i);
	}
	if (!b->len)
		return;
	view_wrap(v, LOCK_INDENT + 7, "      woken  ", VIEW_DIM, b);
}

/* The C library's frames inside a lock call say nothing; its outermost one does. */
static bool is_libc(const struct sum_frame *f)
{
	static const char *const names[] = {
		"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl",
	};
	const char *base = f->module ? strrchr(f->module, '/') : NULL;
	size_t i;

	if (!f->module)
		return false;
	base = base ? base + 1 : f->module;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	return false;
}

static void add_frame(const struct view *v, struct buf *b, const struct sum_frame *f, bool full)
{
	if (f->symbol) {
		view_esc_glued(v, b, f->symbol);
		if (full && f->offset)
			buf_addf(b, "+0x%" PRIx64, f->offset);
	} else {
		buf_addf(b, "0x%" PRIx64, f->ip);
	}
	/* Lines of the C library are for those who ask for stacks. */
	if (f->file && (full || !is_libc(f))) {
		buf_adds(b, VIEW_GLUE);
		add_base(v, b, f->file);
		if (f->line)
			buf_addf(b, ":%" PRIu32, f->line);
	}
	if (f->module && (full || !f->symbol)) {
		buf_adds(b, VIEW_GLUE "(");
		add_base(v, b, f->module);
		buf_addc(b, ')');
	}
}

static void add_site_line(const struct view *v, struct buf *b, const struct sum_site *site)
{
	size_t i, first = 0, end = site->nframe;

	while (first + 1 < site->nframe && is_libc(&site->frame[first]) &&
	       is_libc(&site->frame[first + 1]))
		first++;
	/* A stack wholly inside libc is shown from its innermost frame. */
	if (first + 1 == site->nframe)
		first = 0;
	/* Nor do those below a thread's first function: start_thread, clone3, _start. */
	if (end > first + 2 && site->frame[end - 1].symbol &&
	    !strcmp(site->frame[end - 1].symbol, "_start"))
		end--;
	while (end > first + 2 && is_libc(&site->frame[end - 1]))
		end--;
	for (i = first; i < end && i < first + LOCK_FRAMES; i++) {
		if (i > first)
			buf_addf(b, " %s" VIEW_GLUE, v->g->under);
		add_frame(v, b, &site->frame[i], false);
	}
	if (i < end)
		buf_addf(b, " %s" VIEW_GLUE "%s", v->g->under, v->g->dots);
}

static void print_sites(struct view *v, const struct sum_lock *l, struct buf *b)
{
	size_t i, j, most = v->opts->stacks ? l->nsite : 1;
	uint64_t all = 0;	/* fewer than were sampled: a lock keeps a choice of them */

	for (i = 0; i < l->nsite; i++)
		all += l->site[i].samples;
	for (i = 0; i < l->nsite && i < most; i++) {
		const struct sum_site *site = &l->site[i];

		if (!site->nframe)
			continue;
		if (!v->opts->stacks) {
			add_site_line(v, b, site);
			buf_adds(b, " (");
		}
		view_percent(v, b, site->samples, all);
		buf_adds(b, VIEW_GLUE "of" VIEW_GLUE "samples");
		if (v->opts->stacks) {
			buf_adds(b, ", about ");
			view_things(b, site->waits, "wait", "waits");
		} else {
			buf_addc(b, ')');
		}
		view_wrap(v, LOCK_INDENT + 7, "      at     ", VIEW_DIM, b);
		for (j = 0; v->opts->stacks && j < site->nframe; j++) {
			add_frame(v, b, &site->frame[j], true);
			view_wrap(v, LOCK_INDENT + 9, "", VIEW_PLAIN, b);
		}
	}
	if (i < l->nsite) {
		view_style(v, VIEW_DIM);
		out_pad(v->out, ' ', LOCK_INDENT + 7);
		out_printf(v->out, "%s %zu more %s (--stacks shows them)\n", v->g->dots,
			   l->nsite - i, l->nsite - i == 1 ? "place" : "places");
		view_style(v, VIEW_PLAIN);
	}
}

static void lock_detail(struct view *v, const void *row, unsigned int shown)
{
	const struct sum_lock *l = row;
	struct buf b = BUF_INIT;

	(void)shown;
	print_place(v, l, &b);
	print_edges(v, l, &b);
	print_sites(v, l, &b);
	buf_release(&b);
}

static void add_item(const struct view *v, struct buf *b, uint64_t n, const char *one,
		     const char *many)
{
	if (!n)
		return;
	view_sep(v, b);
	view_things(b, n, one, many);
}

static void add_totals(const struct view *v, struct buf *b)
{
	const struct sum_futex *f = &v->s->futex;

	add_item(v, b, f->addresses ? f->addresses : v->s->nlock, "address", "addresses");
	add_item(v, b, f->calls, "futex call", "futex calls");
	add_item(v, b, f->waits, "wait", "waits");
	add_item(v, b, f->wakes, "wake", "wakes");
	add_item(v, b, f->wasted_wakes, "wake of nobody", "wakes of nobody");
	add_item(v, b, f->eagain, "EAGAIN", "EAGAIN");
	add_item(v, b, f->timeouts, "timeout", "timeouts");
	add_item(v, b, f->requeued, "requeued", "requeued");
	if (!b->len)
		buf_adds(b, "nothing waited for a futex");
}

/*
 * Every once-only initialisation of a library wakes an address that nobody ever
 * waits at: such rows, few wakes each, sorted last, are for those who ask for all.
 */
static size_t worth_showing(const struct view *v)
{
	size_t n = v->s->nlock;

	while (v->opts->rows && n && !v->s->lock[n - 1].waits && !v->s->lock[n - 1].eagain &&
	       v->s->lock[n - 1].wakes < LOCK_FEW_WAKES)
		n--;
	return n;
}

void view_locks(struct view *v)
{
	struct buf b = BUF_INIT;
	const void **rows;
	size_t n;

	if (!(v->s->collected & SUM_FUTEX))
		return;
	add_totals(v, &b);
	view_heading(v, "LOCKS", &b);
	buf_release(&b);
	n = worth_showing(v);
	if (!n)
		return;
	rows = table_rows(v, v->s->lock, v->s->nlock, sizeof(*v->s->lock));
	if (!rows)
		return;
	table_print(v, &(struct table){
		.col = lock_cols, .ncol = sizeof(lock_cols) / sizeof(*lock_cols),
		.row = rows, .nrow = n, .nmore = v->s->nlock - n, .detail = lock_detail,
		.ndetail = v->opts->rows && !v->opts->stacks ? VIEW_DETAILS : 0,
	});
	free(rows);
}
