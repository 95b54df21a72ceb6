/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The list of threads by process: a line of sums, below it the threads,
 * both in the order of the list. Processes are brought into order as far down as
 * the screen shows them, and the threads only of those on the screen. A process
 * of one thread is that thread's line.
 */
#include "tui/tui_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool tui_is_sums(const struct tui *t, const void *row)
{
	const char *p = row, *a = (const char *)t->sums;

	return a && p >= a && p < a + t->nsums * sizeof(*t->sums);
}

static void sum_up(struct now_thread *s, const struct now_process *p)
{
	memset(s, 0, sizeof(*s));
	s->tid = s->tgid = p->tgid;
	memcpy(s->comm, p->comm, sizeof(s->comm));
	s->state = p->running ? NOW_RUNNING : p->runnable ? NOW_RUNNABLE : NOW_BLOCKED;
	s->age_ns = p->age_ns;
	s->cpu_ns = p->cpu_ns;
	s->runnable_ns = p->runnable_ns;
	s->blocked_ns = p->blocked_ns;
	s->lock_ns = p->lock_ns;
	s->switches = p->switches;
	s->calls = p->calls;
	memcpy(s->past, p->past, sizeof(s->past));
}

static int sum_add(struct tui *t, const struct now_process *p)
{
	uint32_t *at = map_put(t->sums_of, &p->tgid);

	if (!at)
		return -ENOMEM;
	*at = (uint32_t)t->nsums;
	sum_up(&t->sums[t->nsums].row, p);
	t->sums[t->nsums++].threads = 0;
	return 0;
}

/* The threads tell how many there are, and what the process's first one is at. */
static void sum_threads(struct tui *t)
{
	size_t i;

	for (i = 0; i < t->now->nthread; i++) {
		const struct now_thread *n = &t->now->thread[i];
		const uint32_t *at = map_get(t->sums_of, &n->tgid);
		struct tui_sum *s = at ? &t->sums[*at] : NULL;

		if (!s)
			continue;
		s->threads++;
		if (n->tid == n->tgid && n->state == s->row.state) {
			s->row.wait = n->wait;
			s->row.state_ns = n->state_ns;
			s->row.lock_addr = n->lock_addr;
			s->row.space = n->space;
		}
	}
}

int tui_sums_make(struct tui *t)
{
	size_t i, want;

	if (t->sums_made)
		return 0;
	want = t->now->nprocess;
	if (!t->sums_of)
		t->sums_of = map_new(sizeof(pid_t), sizeof(uint32_t));
	if (!t->sums_of)
		return -ENOMEM;
	map_clear(t->sums_of);
	t->nsums = 0;
	if (want > t->sums_cap) {
		struct tui_sum *p = realloc(t->sums, (want + 64) * sizeof(*p));

		if (!p)
			return -ENOMEM;
		t->sums = p;
		t->sums_cap = want + 64;
	}
	/* Those that have just ended are for the tab of processes. */
	for (i = 0; i < want; i++)
		if (t->now->process[i].threads && sum_add(t, &t->now->process[i]))
			return -ENOMEM;
	sum_threads(t);
	t->sums_made = true;
	return 0;
}

static bool tree_room(struct tui_rows *r, size_t groups)
{
	size_t cap = groups + 64;
	void *g, *h, *of;

	of = realloc(r->group_of, (r->nthread + 1) * sizeof(*r->group_of));
	if (!of)
		return false;
	r->group_of = of;
	if (groups <= r->group_cap)
		return true;
	g = realloc(r->group, cap * sizeof(*r->group));
	if (g)
		r->group = g;
	h = realloc(r->head, cap * sizeof(*r->head));
	if (h)
		r->head = h;
	if (!g || !h)
		return false;
	r->group_cap = cap;
	return true;
}

static void place_groups(struct tui *t)
{
	struct tui_rows *r = &t->rows;
	const struct tui_level *l = tui_level(t);
	bool all = !*l->filter && !t->per[l->tab].only_tagged;
	size_t i;

	r->nhead = r->n = 0;
	for (i = 0; i < t->nsums; i++) {
		struct tui_group *g = &r->group[i];
		struct tui_sum *s = &t->sums[i];

		if (!g->threads && !all && !tui_list_passes(t, &s->row))
			continue;
		g->lines = 1;
		if (s->threads != 1 || g->threads != 1)
			g->head = &s->row;
		if (g->head == &s->row && !(t->closed && map_get(t->closed, &s->row.tgid)))
			g->lines += g->threads;
		r->head[r->nhead++] = g->head;
		r->n += g->lines;
	}
}

void tui_tree_build(struct tui *t)
{
	struct tui_rows *r = &t->rows;
	size_t i, kept = 0;

	r->n = r->nhead = 0;
	if (tui_sums_make(t) || !tree_room(r, t->nsums))
		return;
	if (t->nsums)
		memset(r->group, 0, t->nsums * sizeof(*r->group));
	for (i = 0; i < r->nthread; i++) {
		const struct now_thread *n = r->thread[i];
		const uint32_t *at = map_get(t->sums_of, &n->tgid);

		/* Its process has just ended. */
		if (!at)
			continue;
		r->group[*at].threads++;
		r->group[*at].head = n;
		r->group_of[kept] = *at;
		r->thread[kept++] = n;
	}
	r->nthread = kept;
	place_groups(t);
}

static struct tui_group *group_of(struct tui *t, const void *row)
{
	const uint32_t *at = map_get(t->sums_of, &((const struct now_thread *)row)->tgid);

	return &t->rows.group[*at];
}

void tui_tree_order(struct tui *t, size_t from, size_t count)
{
	struct tui_rows *r = &t->rows;
	const struct tui_tab *per = &t->per[NOW_THREADS];
	struct now_view v = tui_view(t);
	size_t i, at = 0, to = from + count;

	now_sort(&v, tui_desc(t), r->sort, per->reverse, r->head, r->nhead,
		 to < r->nhead ? to : r->nhead);
	for (i = 0; i < r->nhead; i++) {
		struct tui_group *g = group_of(t, r->head[i]);

		g->start = at;
		g->filled = 1;
		r->row[at] = g->head;
		at += g->lines;
	}
	for (i = 0; i < r->nthread; i++) {
		struct tui_group *g = &r->group[r->group_of[i]];

		if (g->lines > 1)
			r->row[g->start + g->filled++] = r->thread[i];
	}
	for (i = 0; i < r->nhead; i++) {
		struct tui_group *g = group_of(t, r->head[i]);
		size_t first = g->start + 1, want;

		if (g->lines < 2 || first >= to || g->start + g->lines <= from)
			continue;
		want = to - first;
		now_sort(&v, tui_desc(t), r->sort, per->reverse, r->row + first, g->threads,
			 want < g->threads ? want : g->threads);
	}
}

size_t tui_tree_find(struct tui *t, struct tui_id id)
{
	struct tui_rows *r = &t->rows;
	const struct now_thread *found = NULL;
	const struct tui_group *g;
	size_t i, line = 0, of;
	const uint32_t *at;
	pid_t tgid = (pid_t)id.word[0];

	for (i = 0; i < r->nthread && id.word[1] != TUI_SUMS && !found; i++) {
		struct tui_id other = tui_row_id(t, r->thread[i]);

		if (other.word[0] == id.word[0] && other.word[1] == id.word[1])
			found = r->thread[i];
	}
	at = id.word[1] == TUI_SUMS && t->sums_of ? map_get(t->sums_of, &tgid) : NULL;
	if ((!found && !at) || !r->nhead)
		return r->n;
	g = found ? group_of(t, found) : &r->group[*at];
	if (!g->lines)
		return r->n;
	for (i = 0; i < r->nhead; i++)
		if (r->head[i] != g->head && tui_order(t, r->head[i], g->head) < 0)
			line += group_of(t, r->head[i])->lines;
	if (!found || g->lines == 1)
		return line;
	of = (size_t)(g - r->group);
	for (i = 0; i < r->nthread; i++)
		if (r->group_of[i] == of && r->thread[i] != found)
			line += tui_order(t, r->thread[i], found) < 0;
	return line + 1;
}

void tui_tree_prefix(struct tui *t, struct buf *b, size_t line)
{
	const void *row = tui_list_row(t, line);
	const struct tui_group *g;

	if (!row)
		return;
	g = group_of(t, row);
	if (row == g->head && g->lines == 1 && g->threads && tui_is_sums(t, row))
		buf_adds(b, "+ ");
	else if (row == g->head)
		return;
	else if (line + 1 >= t->rows.n || line + 1 == g->start + g->lines)
		buf_adds(b, t->ascii ? "`- " : "└─ ");
	else
		buf_adds(b, t->ascii ? "|- " : "├─ ");
}
