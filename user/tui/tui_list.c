/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A refresh may bring 20,000 rows of which 20 are seen. They are
 * collected as pointers, filters being asked only where there are any, and of
 * their order only the lines on the screen are made: a quickselect puts what
 * stands above them in front, and now_sort() sorts their share of the rest. The
 * line of a row is found by counting the rows that stand before it.
 */
#include "tui/tui_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* Halvings of 20,000 rows are 15; the rest is for pivots that are not in the middle. */
#define ROUNDS_MOST 60

const struct now_tab_desc *tui_desc(struct tui *t)
{
	return &now_tabs[tui_level(t)->tab];
}

struct now_view tui_view(const struct tui *t)
{
	return (struct now_view){ .now = t->now, .totals = t->totals, .ascii = t->ascii };
}

size_t tui_lines(struct tui *t)
{
	/* Two of the head, the tabs, the keys; the path to here, a list's heading. */
	int other = 4 + (t->depth > 0) + tui_is_list(t);

	return LINES > other ? (size_t)(LINES - other) : 1;
}

size_t tui_count(struct tui *t)
{
	return tui_is_list(t) ? t->rows.n : t->page.n;
}

struct tui_id tui_row_id(struct tui *t, const void *row)
{
	struct tui_id id = { { 0, 0 } };

	if (tui_is_sums(t, row))
		return (struct tui_id){ { (uint64_t)((const struct now_thread *)row)->tgid,
					  TUI_SUMS } };
	tui_desc(t)->key(row, id.word);
	return id;
}

static int id_order(struct tui_id a, struct tui_id b)
{
	size_t i = a.word[0] == b.word[0];

	return (a.word[i] > b.word[i]) - (a.word[i] < b.word[i]);
}

int tui_order(struct tui *t, const void *a, const void *b)
{
	const struct tui_tab *per = &t->per[tui_level(t)->tab];
	struct now_view v = tui_view(t);
	int r = tui_desc(t)->col[t->rows.sort].order(&v, a, b);

	if (per->reverse)
		r = -r;
	return r ? r : id_order(tui_row_id(t, a), tui_row_id(t, b));
}


/* --- which rows there are --- */

bool tui_list_matches(struct tui *t, const void *row, const char *words)
{
	char word[TUI_INPUT_BYTES];
	const char *p = words;

	/* A name may be what is looked for; some at each refresh, as each may take its time. */
	if (tui_desc(t) == &now_tabs[NOW_LOCKS] && t->names_left) {
		t->names_left--;
		tui_lock_name(t, row);
	}
	buf_reset(&t->text);
	tui_desc(t)->text(&t->text, row);
	if (buf_addc(&t->text, '\0'))
		return false;
	for (;;) {
		size_t len = strcspn(p, "|");

		if (len && len < sizeof(word)) {
			memcpy(word, p, len);
			word[len] = '\0';
			if (strcasestr(t->text.data, word))
				return true;
		}
		if (!p[len])
			return false;
		p += len + 1;
	}
}

bool tui_line_matches(struct tui *t, size_t line, const char *word)
{
	const struct tui_page_line *l;
	const void *row;

	if (tui_is_list(t)) {
		row = tui_list_row(t, line);
		return row && tui_list_matches(t, row, word);
	}
	if (line >= t->page.n)
		return false;
	l = &t->page.line[line];
	buf_reset(&t->text);
	buf_add(&t->text, t->page.text.data + l->at, l->len);
	return !buf_addc(&t->text, '\0') && strcasestr(t->text.data, word);
}

bool tui_list_passes(struct tui *t, const void *row)
{
	const struct tui_level *l = tui_level(t);
	const struct tui_tab *per = &t->per[l->tab];
	struct tui_id id;

	if (l->tgid && ((const struct now_thread *)row)->tgid != l->tgid)
		return false;
	if (per->only_tagged) {
		id = tui_row_id(t, row);
		if (!map_get(per->tagged, &id))
			return false;
	}
	return !*l->filter || tui_list_matches(t, row, l->filter);
}

static bool room(const void ***array, size_t *cap, size_t n)
{
	const void **p;

	if (n <= *cap)
		return true;
	p = realloc(*array, (n + n / 4 + 64) * sizeof(*p));
	if (!p)
		return false;
	*array = p;
	*cap = n + n / 4 + 64;
	return true;
}

/* The rows of the tab, or of the processes where threads are hidden. */
static const char *source(struct tui *t, size_t *n, size_t *stride)
{
	const struct tui_level *l = tui_level(t);
	const struct now_tab_desc *d = tui_desc(t);

	if (l->tab == NOW_THREADS && !l->tgid && t->hide) {
		*n = tui_sums_make(t) ? 0 : t->nsums;
		*stride = sizeof(*t->sums);
		return (const char *)t->sums;
	}
	*stride = d->row_bytes;
	return d->rows(t->now, n);
}

static void collect(struct tui *t)
{
	struct tui_rows *r = &t->rows;
	const struct tui_level *l = tui_level(t);
	bool all = !l->tgid && !*l->filter && !t->per[l->tab].only_tagged;
	size_t n = 0, stride = 0, i;
	const char *p;

	r->n = r->nthread = r->all = r->from = r->to = 0;
	r->tree = l->tab == NOW_THREADS && !l->tgid && t->tree && !t->hide;
	r->sort = tui_sort_col(t);
	if (!t->now)
		return;
	p = source(t, &n, &stride);
	r->all = n;
	if (r->tree ? !room(&r->thread, &r->thread_cap, n) : !room(&r->row, &r->cap, n))
		return;
	for (i = 0; i < n; i++, p += stride) {
		if (!all && !tui_list_passes(t, p))
			continue;
		if (r->tree)
			r->thread[r->nthread++] = p;
		else
			r->row[r->n++] = p;
	}
	if (r->tree)
		tui_tree_build(t);
	if (r->tree && !room(&r->row, &r->cap, r->n))
		r->n = 0;
}

/* --- their order --- */

void tui_list_order(struct tui *t, size_t from, size_t count)
{
	struct tui_rows *r = &t->rows;
	const struct tui_tab *per = &t->per[tui_level(t)->tab];
	struct now_view v = tui_view(t);

	if (from >= r->n)
		return;
	if (count > r->n - from)
		count = r->n - from;
	if (from >= r->from && from + count <= r->to)
		return;
	if (r->tree) {
		tui_tree_order(t, from, count);
	} else {
		now_choose(&v, tui_desc(t), r->sort, per->reverse, r->row, r->n, from);
		now_sort(&v, tui_desc(t), r->sort, per->reverse, r->row + from, r->n - from, count);
	}
	r->from = from;
	r->to = from + count;
}

const void *tui_list_row(struct tui *t, size_t i)
{
	if (i >= t->rows.n)
		return NULL;
	tui_list_order(t, i, 1);
	return t->rows.row[i];
}

/* The line of @id; .n: none. */
static size_t find(struct tui *t, struct tui_id id)
{
	const struct tui_rows *r = &t->rows;
	const void *found = NULL;
	size_t i, line = 0;

	if (r->tree)
		return tui_tree_find(t, id);
	for (i = 0; i < r->n && !found; i++)
		if (!id_order(tui_row_id(t, r->row[i]), id))
			found = r->row[i];
	if (!found)
		return r->n;
	for (i = 0; i < r->n; i++)
		line += r->row[i] != found && tui_order(t, r->row[i], found) < 0;
	return line;
}

/* --- the cursor --- */

void tui_list_settle(struct tui *t)
{
	struct tui_level *l = tui_level(t);
	size_t n = tui_count(t), lines = tui_lines(t);
	const void *row;

	if (l->sel >= n)
		l->sel = n ? n - 1 : 0;
	if (l->top + lines > n)
		l->top = n > lines ? n - lines : 0;
	if (l->sel < l->top)
		l->top = l->sel;
	if (l->sel >= l->top + lines)
		l->top = l->sel - lines + 1;
	if (!tui_is_list(t))
		return;
	tui_list_order(t, l->top, lines);
	row = tui_list_row(t, l->sel);
	l->sel_known = row != NULL;
	if (row)
		l->sel_id = tui_row_id(t, row);
}

void tui_list_build(struct tui *t, enum tui_keep keep)
{
	struct tui_level *l = tui_level(t);
	size_t line, above = l->sel - l->top;

	collect(t);
	if (l->sel_known && keep != TUI_STAY) {
		line = find(t, l->sel_id);
		if (line < t->rows.n) {
			l->sel = line;
			if (keep == TUI_HOLD)
				l->top = line > above ? line - above : 0;
		} else {
			t->follow = false;
		}
	}
	tui_list_settle(t);
}

void tui_list_move(struct tui *t, size_t line)
{
	struct tui_level *l = tui_level(t);

	l->sel = line;
	t->moved_ns = clock_mono_ns();
	tui_list_settle(t);
}

void tui_list_free(struct tui *t)
{
	free(t->rows.row);
	free(t->rows.thread);
	free(t->rows.group_of);
	free(t->rows.group);
	free(t->rows.head);
	free(t->sums);
	map_free(t->sums_of);
	map_free(t->closed);
}
