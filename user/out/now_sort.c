/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. Quickselect brings the wanted rows to the front in linear time, and
 * only these are sorted. Order is total (the key ends each tie), so equal rows
 * neither jump nor slow the partition down. Should the pivots be bad, which
 * takes rows in a contrived order, what is left is sorted as a whole.
 */
#include "out/now_cols.h"

#include <stdlib.h>

/* Fewer rows are sorted as quickly as selected. */
#define SELECT_FEW 24
/* Partitions of which each leaves over three quarters before the rest is sorted. */
#define SELECT_BAD 8

struct order {
	const struct now_view *v;
	const struct now_tab_desc *tab;
	const struct now_col *col;
	bool reverse;
};

static int compare(const struct order *o, const void *a, const void *b)
{
	uint64_t x[2], y[2];
	int r = o->col->order(o->v, a, b);

	if (r)
		return o->reverse ? -r : r;
	o->tab->key(a, x);
	o->tab->key(b, y);
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

static int compare_at(const void *a, const void *b, void *order)
{
	return compare(order, *(const void *const *)a, *(const void *const *)b);
}

static void swap(const void **row, size_t i, size_t j)
{
	const void *t = row[i];

	row[i] = row[j];
	row[j] = t;
}

/* Of three rows, the one between the others. */
static size_t middle(const struct order *o, const void **row, size_t i, size_t j, size_t k)
{
	const bool ij = compare(o, row[i], row[j]) < 0, jk = compare(o, row[j], row[k]) < 0;

	if (ij == jk)
		return j;
	return (compare(o, row[i], row[k]) < 0) == ij ? k : i;
}

/* Rows that stand before one of them come before it; returns its place then. */
static size_t partition(const struct order *o, const void **row, size_t n)
{
	const size_t third = n / 3;
	const void *pivot;
	size_t i, place = 0;

	swap(row, middle(o, row, third / 2, n / 2, n - 1 - third / 2), n - 1);
	pivot = row[n - 1];
	for (i = 0; i < n - 1; i++)
		if (compare(o, row[i], pivot) < 0)
			swap(row, i, place++);
	swap(row, place, n - 1);
	return place;
}

/* Brings the first @want rows to the front, in no order. */
static void choose(struct order *o, const void **row, size_t n, size_t want)
{
	unsigned int bad = 0;

	while (want && want < n) {
		size_t place, left;

		if (n <= SELECT_FEW || bad >= SELECT_BAD) {
			qsort_r(row, n, sizeof(*row), compare_at, o);
			return;
		}
		place = partition(o, row, n);
		if (want <= place) {
			left = place;
		} else {
			left = n - place - 1;
			row += place + 1;
			want -= place + 1;
		}
		bad += left > n / 4 * 3;
		n = left;
	}
}

void now_choose(const struct now_view *v, const struct now_tab_desc *tab, size_t col, bool reverse,
		const void **row, size_t n, size_t want)
{
	struct order o = { .v = v, .tab = tab, .col = &tab->col[col], .reverse = reverse };

	choose(&o, row, n, want);
}

void now_sort(const struct now_view *v, const struct now_tab_desc *tab, size_t col, bool reverse,
	      const void **row, size_t n, size_t want)
{
	struct order o = { .v = v, .tab = tab, .col = &tab->col[col], .reverse = reverse };

	want = want < n ? want : n;
	choose(&o, row, n, want);
	qsort_r(row, want, sizeof(*row), compare_at, &o);
}
