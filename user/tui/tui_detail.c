/* SPDX-License-Identifier: MIT */
/* The pages about one row: all its figures, then who has to do with it. */
#include "tui/tui_impl.h"

#include <stdlib.h>
#include <string.h>

#include "out/human.h"

/* Lines of a list on a page; the rest is told as a number. */
#define MOST 20
#define THREADS_MOST 200
#define FRAMES_MOST 32

/* Appends @s in @width columns. */
static void column(struct buf *b, const char *s, size_t n, int width, bool left)
{
	int pad = width - tui_width(s, n);

	buf_addf(b, "%*s", !left && pad > 0 ? pad : 0, "");
	if (n)
		buf_add(b, s, n);
	buf_addf(b, "%*s", (left && pad > 0 ? pad : 0) + 1, "");
}

static void column_esc(struct tui *t, struct buf *b, const char *s, int width)
{
	buf_reset(&t->cell);
	tui_esc(t, &t->cell, s);
	column(b, t->cell.data ? t->cell.data : "", t->cell.len, width, true);
}

static void column_s(struct buf *b, const char *s, int width)
{
	column(b, s, strlen(s), width, false);
}

static void column_ns(struct tui *t, struct buf *b, uint64_t ns)
{
	char text[HUMAN_BYTES];

	column_s(b, human_ns(text, ns, t->ascii), 9);
}

static void heading(struct tui *t, const char *title, size_t n)
{
	tui_page_adds(&t->page, "", TUI_PLAIN);
	buf_addf(&t->text, " %s", title);
	if (n != SIZE_MAX)
		buf_addf(&t->text, " (%zu)", n);
	tui_page_add(&t->page, &t->text, TUI_TITLE, NULL);
}

static void none(struct tui *t, const char *text)
{
	buf_addf(&t->text, "  %s", text);
	tui_page_add(&t->page, &t->text, TUI_DIM, NULL);
}

static void more(struct tui *t, size_t n, size_t most)
{
	if (n <= most)
		return;
	buf_addf(&t->text, "  %s %zu more", t->ascii ? "..." : "…", n - most);
	tui_page_add(&t->page, &t->text, TUI_DIM, NULL);
}

/* --- figures --- */

/* A figure of the interval and one of all the time; a text, or what both are, once. */
static void figure(struct tui *t, const struct now_col *c, const void *row)
{
	struct now_view v = tui_view(t);
	struct buf step = BUF_INIT, total = BUF_INIT;
	bool same;

	v.totals = false;
	if (now_col_shown(&v, c))
		c->put(&step, &v, row);
	v.totals = true;
	if (now_col_shown(&v, c))
		c->put(&total, &v, row);
	same = step.len == total.len && (!step.len || !memcmp(step.data, total.data, step.len));
	if (step.len || total.len) {
		buf_adds(&t->text, "  ");
		column(&t->text, c->head, strlen(c->head), 10, true);
		if (same && c->left) {
			column(&t->text, step.data, step.len, 25, true);
		} else {
			column(&t->text, step.data, step.len, 12, false);
			column(&t->text, total.data, same ? 0 : total.len, 12, false);
		}
		buf_addf(&t->text, " %s", c->help);
		tui_page_add(&t->page, &t->text, TUI_PLAIN, NULL);
	}
	buf_release(&step);
	buf_release(&total);
}

static void figures(struct tui *t, const struct now_tab_desc *d, const void *row)
{
	struct now_view v = tui_view(t);
	size_t i;

	heading(t, "Figures", SIZE_MAX);
	buf_adds(&t->text, "  ");
	column(&t->text, "", 0, 10, true);
	column_s(&t->text, "now", 12);
	column_s(&t->text, "in all", 12);
	tui_page_add(&t->page, &t->text, TUI_DIM, NULL);
	/* The history has a line of its own. */
	for (i = 0; i < d->ncol; i++)
		if (strcmp(d->col[i].head, "PAST"))
			figure(t, &d->col[i], row);
	buf_adds(&t->text, "  ");
	column(&t->text, "HISTORY", 7, 12, true);
	now_spark(&t->text, &v, d->past(row), NOW_PAST, 0);
	tui_page_add(&t->page, &t->text, TUI_PLAIN, NULL);
}

/* --- threads --- */

static void thread_line(struct tui *t, pid_t tid, const char *comm, uint64_t ns)
{
	struct tui_link link = { .kind = TUI_THREAD, .a = (uint64_t)tid, .is = true };

	buf_adds(&t->text, "  ");
	buf_addf(&t->text, "%8d ", (int)tid);
	column_esc(t, &t->text, comm, 18);
	column_ns(t, &t->text, ns);
	tui_page_add(&t->page, &t->text, TUI_PLAIN, &link);
}

static void lock_name(struct tui *t, struct buf *b, uint64_t addr, uint32_t space)
{
	const struct now_lock *l = tui_lock_find(t, addr, space);

	if (l)
		tui_lock_name(t, l);
	if (!l || !tui_put_lock(t, b, l))
		buf_addf(b, "%#llx", (unsigned long long)addr);
}

static void thread_page(struct tui *t, const void *row)
{
	const struct now_thread *n = row;
	struct tui_link process = { .kind = TUI_LIST, .a = (uint64_t)n->tgid, .is = true };
	struct tui_link lock = { .kind = TUI_LOCK, .a = n->lock_addr, .b = n->space, .is = true };
	char text[HUMAN_BYTES];
	size_t i;

	for (i = 0; i < t->now->nprocess && t->now->process[i].tgid != n->tgid; i++)
		;
	buf_addf(&t->text, "  process %d", (int)n->tgid);
	if (i < t->now->nprocess) {
		buf_adds(&t->text, ", ");
		tui_esc(t, &t->text, t->now->process[i].comm);
		buf_addf(&t->text, ", %u thread%s", t->now->process[i].threads,
			 t->now->process[i].threads == 1 ? "" : "s");
	}
	tui_page_add(&t->page, &t->text, TUI_PLAIN, &process);
	if (n->state == NOW_BLOCKED) {
		bool stopped = n->wait && !strcmp(n->wait, SUM_BLOCK_STOPPED);

		buf_adds(&t->text, stopped ? "  " : "  waits in ");
		tui_esc(t, &t->text, n->wait ? n->wait : "?");
		buf_addf(&t->text, " for %s", human_ns(text, n->state_ns, t->ascii));
		if (n->lock_addr) {
			buf_adds(&t->text, ", at the lock ");
			lock_name(t, &t->text, n->lock_addr, n->space);
		}
		tui_page_add(&t->page, &t->text, TUI_PLAIN, n->lock_addr ? &lock : NULL);
	}
	figures(t, &now_tabs[NOW_THREADS], row);
}

/* --- locks --- */

static void lock_waiters(struct tui *t)
{
	const struct now_lock_detail *d = &t->lock;
	size_t i;

	heading(t, "Waiters now", d->nwaiter);
	if (!d->nwaiter)
		none(t, "nobody waits");
	for (i = 0; i < d->nwaiter && i < MOST; i++)
		thread_line(t, d->waiter[i].tid, d->waiter[i].comm, d->waiter[i].ns);
	more(t, d->nwaiter, MOST);
}

static void thread_of(struct tui *t, pid_t tid, const char *comm, int width)
{
	struct buf b = BUF_INIT;

	if (tid) {
		tui_esc(t, &b, comm);
		buf_addf(&b, " (%d)", (int)tid);
	} else {
		buf_adds(&b, "nobody seen");
	}
	column(&t->text, b.data ? b.data : "", b.len, width, true);
	buf_release(&b);
}

static void lock_edges(struct tui *t)
{
	const struct now_lock_detail *d = &t->lock;
	char text[HUMAN_BYTES];
	uint64_t sum = 0;
	size_t i;

	heading(t, t->ascii ? "Wakers -> waiters" : "Wakers → waiters", d->nedge);
	if (!d->nedge)
		none(t, "no wake has been seen");
	for (i = 0; i < d->nedge; i++)
		sum += d->edge[i].count;
	for (i = 0; i < d->nedge && i < MOST; i++) {
		const struct sum_edge *e = &d->edge[i];
		struct tui_link link = { .kind = TUI_THREAD, .a = (uint64_t)e->waiter, .is = true };

		buf_adds(&t->text, "  ");
		thread_of(t, e->waker, e->waker_comm, 24);
		buf_adds(&t->text, t->ascii ? "-> " : "→ ");
		thread_of(t, e->waiter, e->waiter_comm, 24);
		column_s(&t->text, human_count(text, e->count), 8);
		column_s(&t->text, human_percent(text, e->count, sum), 8);
		tui_page_add(&t->page, &t->text, TUI_PLAIN, &link);
	}
	more(t, d->nedge, MOST);
}

static void frame(struct tui *t, const struct sum_frame *f)
{
	const char *base = f->module ? strrchr(f->module, '/') : NULL;

	base = base && base[1] ? base + 1 : f->module;
	buf_adds(&t->text, "      ");
	if (f->symbol) {
		tui_esc(t, &t->text, f->symbol);
	} else if (f->kernel) {
		buf_addc(&t->text, '?');
	} else if (f->module && f->module_offset) {
		tui_esc(t, &t->text, base);
		buf_addf(&t->text, "+%#llx", (unsigned long long)f->module_offset);
	} else {
		buf_addf(&t->text, "%#llx", (unsigned long long)f->ip);
	}
	if (f->inlined)
		buf_adds(&t->text, " (inlined)");
	if (f->file) {
		buf_adds(&t->text, "  ");
		tui_esc(t, &t->text, f->file);
		if (f->line)
			buf_addf(&t->text, ":%u", f->line);
	}
	if (f->module) {
		/* The kernel's modules have theirs. */
		buf_adds(&t->text, f->kernel ? "  " : "  [");
		tui_esc(t, &t->text, base);
		buf_adds(&t->text, f->kernel ? "" : "]");
	}
	tui_page_add(&t->page, &t->text, f->kernel ? TUI_DIM : TUI_PLAIN, NULL);
}

static void lock_stacks(struct tui *t)
{
	const struct now_lock_detail *d = &t->lock;
	char text[HUMAN_BYTES];
	size_t i, j;

	heading(t, "Stacks that waited", d->nsite);
	if (!d->nsite)
		none(t, d->samples ? "no stack could be read" :
				     "none yet: one is taken when a wait begins");
	for (i = 0; i < d->nsite && i < MOST; i++) {
		const struct sum_site *s = &d->site[i];

		buf_addf(&t->text, "    %s of %llu sample%s",
			 human_percent(text, s->samples, d->samples),
			 (unsigned long long)d->samples, d->samples == 1 ? "" : "s");
		/* None: those waits are still on, and not counted yet. */
		if (s->waits)
			buf_addf(&t->text, ", about %s wait%s", human_count(text, s->waits),
				 s->waits == 1 ? "" : "s");
		if (s->wait_ns)
			buf_addf(&t->text, ", %s in those sampled",
				 human_ns(text, s->wait_ns, t->ascii));
		tui_page_add(&t->page, &t->text, TUI_BOLD, NULL);
		for (j = 0; j < s->nkernel && j < FRAMES_MOST; j++)
			frame(t, &s->kernel[j]);
		for (j = 0; j < s->nframe && j < FRAMES_MOST; j++)
			frame(t, &s->frame[j]);
	}
	more(t, d->nsite, MOST);
}

static void lock_page(struct tui *t, const void *row)
{
	const struct now_lock *l = row;
	struct tui_link process = { .kind = TUI_LIST, .a = (uint64_t)l->tgid, .is = true };

	tui_lock_name(t, l);
	/* A large program's symbols take seconds where the machine is busy. */
	if (!t->page_shown)
		tui_draw_note(t, "reading stacks and their names");
	t->lock_known = t->source.lock_detail &&
			!t->source.lock_detail(t->source.ctx, l, &t->lock);
	buf_addf(&t->text, "  %s lock", sum_lock_kind_name(l->kind));
	if (t->lock_known && *sum_lock_use_name(t->lock.use))
		buf_addf(&t->text, ", used as %s", sum_lock_use_name(t->lock.use));
	buf_addf(&t->text, ", at %#llx", (unsigned long long)l->addr);
	if (l->module) {
		buf_adds(&t->text, " in ");
		tui_esc(t, &t->text, l->module);
	}
	tui_page_add(&t->page, &t->text, TUI_PLAIN, NULL);
	buf_addf(&t->text, "  process %d, ", (int)l->tgid);
	tui_esc(t, &t->text, l->comm);
	tui_page_add(&t->page, &t->text, TUI_PLAIN, &process);
	if (t->lock_known) {
		lock_waiters(t);
		lock_edges(t);
		lock_stacks(t);
	} else {
		tui_page_adds(&t->page, "", TUI_PLAIN);
		none(t, "of its waiters, wakers and stacks nothing is known");
	}
	figures(t, &now_tabs[NOW_LOCKS], row);
}

/* --- pipes --- */

static void pipe_ends(struct tui *t, const char *title, const struct now_pipe_end *end, size_t n)
{
	bool exact = t->now->mode == SUM_EXACT;
	char text[HUMAN_BYTES];
	size_t i;

	heading(t, title, n);
	if (!n) {
		none(t, "nobody that is traced");
		return;
	}
	buf_addf(&t->text, "       TID %-18s", "NAME");
	if (exact)
		buf_addf(&t->text, " %8s %9s", "CHUNKS", "BYTES");
	buf_addf(&t->text, " %8s %9s  %s", "BLOCKED", "TIME",
		 t->totals ? "since tracing began" : "in the last interval");
	tui_page_add(&t->page, &t->text, TUI_DIM, NULL);
	for (i = 0; i < n && i < MOST; i++) {
		const struct now_pipe_end *e = &end[i];
		struct tui_link link = { .kind = TUI_THREAD, .a = (uint64_t)e->tid, .is = true };

		buf_addf(&t->text, "  %8d ", (int)e->tid);
		column_esc(t, &t->text, e->comm, 18);
		if (exact) {
			column_s(&t->text, human_count(text, t->totals ? e->chunks.total :
						       e->chunks.step), 8);
			column_s(&t->text, human_bytes(text, t->totals ? e->bytes.total :
						       e->bytes.step), 9);
		}
		column_s(&t->text, human_count(text, t->totals ? e->blocked.total :
					       e->blocked.step), 8);
		column_ns(t, &t->text, t->totals ? e->blocked_ns.total : e->blocked_ns.step);
		tui_page_add(&t->page, &t->text, TUI_PLAIN, &link);
	}
	more(t, n, MOST);
}

static void pipe_page(struct tui *t, const void *row)
{
	const struct now_pipe *p = row;

	pipe_ends(t, "Writers", p->writer, p->nwriter);
	pipe_ends(t, "Readers", p->reader, p->nreader);
	figures(t, &now_tabs[NOW_PIPES], row);
}

/* --- system calls --- */

static int longest_first(const void *a, const void *b)
{
	const struct now_thread *x = *(const struct now_thread *const *)a;
	const struct now_thread *y = *(const struct now_thread *const *)b;

	if (x->state_ns != y->state_ns)
		return x->state_ns < y->state_ns ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void call_page(struct tui *t, const void *row)
{
	const struct now_call *c = row;
	const struct now_thread **in = NULL;
	size_t i, n = 0;

	figures(t, &now_tabs[NOW_CALLS], row);
	if (t->now->nthread)
		in = malloc(t->now->nthread * sizeof(*in));
	for (i = 0; in && i < t->now->nthread; i++) {
		const struct now_thread *w = &t->now->thread[i];

		if (w->state == NOW_BLOCKED && w->wait && !strcmp(w->wait, c->name))
			in[n++] = w;
	}
	heading(t, "Threads that wait in it now", n);
	if (!n)
		none(t, "nobody");
	else
		qsort(in, n, sizeof(*in), longest_first);
	for (i = 0; i < n && i < THREADS_MOST; i++)
		thread_line(t, in[i]->tid, in[i]->comm, in[i]->state_ns);
	more(t, n, THREADS_MOST);
	free(in);
}

/* --- */

const void *tui_detail_row(struct tui *t, const struct tui_level *l)
{
	const struct now_tab_desc *d = &now_tabs[l->tab];
	size_t i, n = 0;
	const char *p;

	if (!t->now)
		return NULL;
	p = d->rows(t->now, &n);
	for (i = 0; i < n; i++, p += d->row_bytes) {
		struct tui_id id = { { 0, 0 } };

		d->key(p, id.word);
		if (id.word[0] == l->id.word[0] && id.word[1] == l->id.word[1])
			return p;
	}
	return NULL;
}

void tui_detail_build(struct tui *t)
{
	static void (*const pages[])(struct tui *t, const void *row) = {
		[TUI_THREAD] = thread_page, [TUI_LOCK] = lock_page, [TUI_PIPE] = pipe_page,
		[TUI_CALL] = call_page,
	};
	struct tui_level *l = tui_level(t);
	const void *row = tui_detail_row(t, l);

	l->gone = !row;
	t->page_shown = t->page.n && t->page_of == t->depth;
	/* The last figures of what is gone stay, if this page is still there. */
	if (!row && t->page_shown)
		return;
	now_lock_detail_release(&t->lock);
	memset(&t->lock, 0, sizeof(t->lock));
	tui_page_reset(&t->page);
	buf_reset(&t->text);
	t->page_of = t->depth;
	if (row)
		pages[l->kind](t, row);
	else
		none(t, "it has ended, or was idle for long: Esc goes back");
}
