/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Locks: futexes by address, who wakes whom, and the places that wait.
 * By time waited alone, which is the summary's order, an idle worker's one long
 * wait stands above each lock that is fought for. So these rows come first,
 * then what is parked, then what nobody waited for; by time in each group.
 */
#include "out/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "out/utf8.h"
#include "stats/units.h"

#define LOCK_INDENT 6
#define LOCK_EDGES 3	/* shown by default */
#define LOCK_EDGES_MOST 20	/* shown to those who ask for all: JSON and CSV hold the rest */
#define LOCK_FRAMES 4
#define LOCK_FRAMES_BRIEF 2
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

/* "queue_lock", else "app+0x4060", else its address; then what is not plain about it. */
static void lock_name(const struct view *v, const void *row, struct buf *b)
{
	const struct sum_lock *l = row;
	enum sum_lock_use use = sum_lock_use(l);

	if (l->symbol) {
		view_esc(v, b, l->symbol);
	} else if (l->module && l->module_offset) {
		add_base(v, b, l->module);
		buf_addf(b, "+0x%" PRIx64, l->module_offset);
	} else {
		buf_addf(b, "0x%" PRIx64, l->addr);
	}
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
	if (l->symbol || l->module) {
		buf_addf(b, "%s0x%" PRIx64, b->len ? " at " : "at ", l->addr);
		if (l->symbol && l->module) {
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
	size_t i, most = v->opts->rows && !v->opts->threads ? LOCK_EDGES : LOCK_EDGES_MOST;

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
	bool place = !f->symbol && f->module && f->module_offset;

	if (f->symbol) {
		view_esc_glued(v, b, f->symbol);
		if (full && f->offset)
			buf_addf(b, "+0x%" PRIx64, f->offset);
	} else if (f->kernel) {
		buf_addc(b, '?');
	} else if (place) {
		add_base(v, b, f->module);
		buf_addf(b, "+0x%" PRIx64, f->module_offset);
	} else {
		buf_addf(b, "0x%" PRIx64, f->ip);
	}
	if (f->kernel) {
		buf_adds(b, VIEW_GLUE);
		view_esc_glued(v, b, f->module);
		return;
	}
	if (full && f->inlined)
		buf_adds(b, VIEW_GLUE "(inlined)");
	/* Lines of the C library are for those who ask for stacks. */
	if (f->file && (full || !is_libc(f))) {
		buf_adds(b, VIEW_GLUE);
		add_base(v, b, f->file);
		if (f->line)
			buf_addf(b, ":%" PRIu32, f->line);
	}
	if (f->module && !place && (full || !f->symbol)) {
		buf_adds(b, VIEW_GLUE "(");
		add_base(v, b, f->module);
		buf_addc(b, ')');
	}
}

/* What a compiler brought along, as std::lock_guard: it stands between lock and code. */
static bool is_filler(const struct sum_frame *f)
{
	static const char *const dirs[] = { "/usr/include/", "/usr/lib/", "/rustc/" };
	size_t i;

	if (!f->inlined)
		return false;
	for (i = 0; f->file && i < sizeof(dirs) / sizeof(*dirs); i++)
		if (!strncmp(f->file, dirs[i], strlen(dirs[i])))
			return true;
	/* clang's way there is /usr/bin/../lib/gcc/…/include/c++/12/mutex. */
	if (f->file && strstr(f->file, "/include/c++/"))
		return true;
	return !f->symbol;
}

static void add_site_line(const struct view *v, struct buf *b, const struct sum_site *site,
			  size_t most)
{
	size_t i, first = 0, shown = 0, end = site->nframe;

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
	for (i = first; i < end && shown < most; i++) {
		if (is_filler(&site->frame[i]))
			continue;
		if (shown++)
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
			add_site_line(v, b, site, LOCK_FRAMES);
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
		for (j = 0; v->opts->stacks && j < site->nkernel; j++) {
			add_frame(v, b, &site->kernel[j], true);
			view_wrap(v, LOCK_INDENT + 9, "", VIEW_DIM, b);
		}
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

/* The one thing worth knowing of an idle thread: where it is. On one line. */
static void lock_brief(struct view *v, const void *row)
{
	static const char label[] = "      at     ";
	const struct sum_lock *l = row;
	const size_t room = v->width - (sizeof(label) - 1);
	struct buf b = BUF_INIT;

	if (!l->nsite || !l->site[0].nframe || !sum_lock_parked(l))
		return;
	add_site_line(v, &b, &l->site[0], LOCK_FRAMES_BRIEF);
	if (utf8_width(b.data, b.len) > room) {
		b.len = utf8_fit(b.data, b.len, room - 1, NULL);
		buf_adds(&b, v->g->ellipsis);
	}
	view_wrap(v, LOCK_INDENT + 7, label, VIEW_DIM, &b);
	buf_release(&b);
}

/*
 * Every once-only initialisation of a library wakes an address that nobody ever
 * waits at: such rows, few wakes each, are for those who ask for all.
 */
static bool worth_showing(const struct sum_lock *l)
{
	return l->waits || l->eagain || l->wakes >= LOCK_FEW_WAKES;
}

enum lock_group { LOCK_CONTENDED, LOCK_PARKED, LOCK_UNUSED };

static enum lock_group group_of(const struct sum_lock *l)
{
	if (!worth_showing(l))
		return LOCK_UNUSED;
	return l->waits && sum_lock_parked(l) ? LOCK_PARKED : LOCK_CONTENDED;
}

static const char *lock_group(const void *row)
{
	static const char *const words[] = {
		[LOCK_CONTENDED] = NULL,
		[LOCK_PARKED] = "parked: one wait a thread, a thread's end, or only timeouts",
		[LOCK_UNUSED] = "nobody waited",
	};

	return words[group_of(row)];
}

/* The rows by group; those of one stay in the summary's order. */
static const void **rows_by_group(struct view *v)
{
	const void **rows = table_rows(v, v->s->lock, v->s->nlock, sizeof(*v->s->lock));
	enum lock_group group;
	size_t i, n = 0;

	for (group = LOCK_CONTENDED; rows && group <= LOCK_UNUSED; group++)
		for (i = 0; i < v->s->nlock; i++)
			if (group_of(&v->s->lock[i]) == group)
				rows[n++] = &v->s->lock[i];
	return rows;
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
	rows = rows_by_group(v);
	if (!rows)
		return;
	n = v->s->nlock;
	while (v->opts->rows && n && group_of(rows[n - 1]) == LOCK_UNUSED)
		n--;
	if (n)
		table_print(v, &(struct table){
			.col = lock_cols, .ncol = sizeof(lock_cols) / sizeof(*lock_cols),
			.row = rows, .nrow = n, .nmore = v->s->nlock - n, .detail = lock_detail,
			.ndetail = v->opts->rows && !v->opts->stacks ? VIEW_DETAILS : 0,
			.brief = lock_brief, .group = lock_group,
		});
	free(rows);
}
