/* SPDX-License-Identifier: MIT */
#include "tui/tui_impl.h"

#include <string.h>

struct tui_level *tui_level(struct tui *t)
{
	return t->depth ? &t->level[t->depth - 1] : &t->base[t->tab];
}

bool tui_is_list(struct tui *t)
{
	return tui_level(t)->kind == TUI_LIST;
}

void tui_level_build(struct tui *t, enum tui_keep keep)
{
	if (tui_is_list(t)) {
		tui_list_build(t, keep);
		return;
	}
	tui_detail_build(t);
	tui_list_settle(t);
}

void tui_level_tab(struct tui *t, enum now_tab tab)
{
	t->tab = tab;
	t->depth = 0;
	t->follow = false;
	tui_level_build(t, TUI_FIND);
}

bool tui_level_back(struct tui *t)
{
	if (!t->depth)
		return false;
	t->depth--;
	t->follow = false;
	tui_level_build(t, TUI_FIND);
	return true;
}

const struct now_lock *tui_lock_find(const struct tui *t, uint64_t addr, uint32_t space)
{
	size_t i;

	for (i = 0; i < t->now->nlock; i++)
		if (t->now->lock[i].addr == addr && t->now->lock[i].space == space)
			return &t->now->lock[i];
	return NULL;
}

void tui_lock_name(struct tui *t, const struct now_lock *lock)
{
	if (!lock->symbol && t->source.name_lock)
		t->source.name_lock(t->source.ctx, &t->now->lock[lock - t->now->lock]);
}

bool tui_put_lock(const struct tui *t, struct buf *b, const struct now_lock *l)
{
	const char *slash = l->module ? strrchr(l->module, '/') : NULL;

	if (l->symbol) {
		tui_esc(t, b, l->symbol);
	} else if (l->module && l->module_offset) {
		tui_esc(t, b, slash && slash[1] ? slash + 1 : l->module);
		buf_addf(b, "+%#llx", (unsigned long long)l->module_offset);
	} else {
		return false;
	}
	return true;
}

static void title_thread(struct tui *t, struct buf *b, const void *row)
{
	const struct now_thread *n = row;

	tui_esc(t, b, n->comm);
	buf_addf(b, " (%d)", (int)n->tid);
}

static void title_lock(struct tui *t, struct buf *b, const void *row)
{
	const struct now_lock *l = row;

	buf_adds(b, "lock ");
	if (!tui_put_lock(t, b, l))
		buf_addf(b, "%#llx", (unsigned long long)l->addr);
	buf_adds(b, " of ");
	tui_esc(t, b, l->comm);
	buf_addf(b, " (%d)", (int)l->tgid);
}

static void title_pipe(struct tui *t, struct buf *b, const void *row)
{
	const struct now_pipe *p = row;

	(void)t;
	buf_addf(b, "%s %llu", sum_pipe_kind_name(p->kind), (unsigned long long)p->inode);
}

static void title_call(struct tui *t, struct buf *b, const void *row)
{
	tui_esc(t, b, ((const struct now_call *)row)->name);
}

static const struct {
	enum now_tab tab;
	void (*title)(struct tui *t, struct buf *b, const void *row);
} kinds[] = {
	[TUI_THREAD] = { NOW_THREADS, title_thread },
	[TUI_LOCK] = { NOW_LOCKS, title_lock },
	[TUI_PIPE] = { NOW_PIPES, title_pipe },
	[TUI_CALL] = { NOW_CALLS, title_call },
};

/* One more level; where there are too many, the oldest is given up. */
static struct tui_level *push(struct tui *t)
{
	if (t->depth == TUI_LEVELS) {
		memmove(t->level, t->level + 1, (TUI_LEVELS - 1) * sizeof(*t->level));
		t->depth--;
	}
	memset(&t->level[t->depth], 0, sizeof(*t->level));
	t->follow = false;
	return &t->level[t->depth++];
}

static void open_page(struct tui *t, enum tui_kind kind, const void *row)
{
	struct tui_level *l;
	struct tui_id id = { { 0, 0 } };

	if (kind == TUI_LOCK)
		tui_lock_name(t, row);
	now_tabs[kinds[kind].tab].key(row, id.word);
	buf_reset(&t->text);
	kinds[kind].title(t, &t->text, row);
	l = push(t);
	l->kind = kind;
	l->tab = kinds[kind].tab;
	l->id = id;
	tui_copy(l->title, sizeof(l->title), &t->text);
	tui_level_build(t, TUI_STAY);
}

static void open_process(struct tui *t, pid_t tgid, const char *comm)
{
	struct tui_level *l;

	buf_reset(&t->text);
	buf_adds(&t->text, "threads of ");
	tui_esc(t, &t->text, comm);
	buf_addf(&t->text, " (%d)", (int)tgid);
	l = push(t);
	l->kind = TUI_LIST;
	l->tab = NOW_THREADS;
	l->tgid = tgid;
	tui_copy(l->title, sizeof(l->title), &t->text);
	tui_level_build(t, TUI_STAY);
}

static void follow_thread(struct tui *t, pid_t tid)
{
	size_t i;

	for (i = 0; i < t->now->nthread; i++) {
		if (t->now->thread[i].tid != tid)
			continue;
		open_page(t, TUI_THREAD, &t->now->thread[i]);
		return;
	}
	tui_say(t, "thread %d is no more, or not traced", (int)tid);
}

static void follow_lock(struct tui *t, uint64_t addr, uint32_t space)
{
	const struct now_lock *l = tui_lock_find(t, addr, space);

	if (l)
		open_page(t, TUI_LOCK, l);
	else
		tui_say(t, "no wait at this lock has been counted yet");
}

static void follow_process(struct tui *t, pid_t tgid)
{
	size_t i;

	for (i = 0; i < t->now->nprocess; i++) {
		if (t->now->process[i].tgid != tgid)
			continue;
		open_process(t, tgid, t->now->process[i].comm);
		return;
	}
	tui_say(t, "process %d is no more", (int)tgid);
}

void tui_level_follow(struct tui *t, const struct tui_link *link)
{
	if (!t->now)
		return;
	if (link->kind == TUI_THREAD)
		follow_thread(t, (pid_t)link->a);
	else if (link->kind == TUI_LOCK)
		follow_lock(t, link->a, link->b);
	else
		follow_process(t, (pid_t)link->a);
}

static void open_row(struct tui *t, const void *row)
{
	switch (tui_level(t)->tab) {
	case NOW_THREADS:
		if (tui_is_sums(t, row))
			open_process(t, ((const struct now_thread *)row)->tgid,
				     ((const struct now_thread *)row)->comm);
		else
			open_page(t, TUI_THREAD, row);
		break;
	case NOW_LOCKS:
		open_page(t, TUI_LOCK, row);
		break;
	case NOW_PIPES:
		open_page(t, TUI_PIPE, row);
		break;
	case NOW_CALLS:
		open_page(t, TUI_CALL, row);
		break;
	default:
		open_process(t, ((const struct now_process *)row)->tgid,
			     ((const struct now_process *)row)->comm);
	}
}

void tui_level_open(struct tui *t)
{
	const struct tui_level *l = tui_level(t);
	struct tui_link link;
	const void *row;

	if (l->kind == TUI_LIST) {
		row = tui_list_row(t, l->sel);
		if (row)
			open_row(t, row);
		return;
	}
	if (l->sel < t->page.n && t->page.line[l->sel].link.is) {
		/* The page it stands on is about to be made anew. */
		link = t->page.line[l->sel].link;
		tui_level_follow(t, &link);
	} else {
		tui_say(t, "nothing to open on this line: Enter opens those that are marked");
	}
}
