/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdio.h>
#include <time.h>

#include "fixture_now.h"

#define MANY 20000

static uint64_t state_of_random;

static uint64_t next_random(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

struct order {
	const struct now_view *v;
	const struct now_tab_desc *tab;
	size_t col;
	bool reverse;
};

/* The whole order, in the plainest words. */
static int in_order(const void *p, const void *q, void *ctx)
{
	const struct order *o = ctx;
	const void *a = *(const void *const *)p, *b = *(const void *const *)q;
	uint64_t x[2], y[2];
	int r = o->tab->col[o->col].order(o->v, a, b);

	if (r)
		return o->reverse ? -r : r;
	o->tab->key(a, x);
	o->tab->key(b, y);
	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void pointers(const struct now_thread *t, size_t n, const void **row)
{
	size_t i;

	for (i = 0; i < n; i++)
		row[i] = &t[i];
}

static int by_address(const void *a, const void *b)
{
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;

	return x < y ? -1 : x > y;
}

/* The first rows are those of a full sort, and no row is lost or there twice. */
static void check(const struct order *o, const struct now_thread *t, size_t n, size_t want)
{
	const void **got = fixture_array(n + 1, sizeof(*got));
	const void **full = fixture_array(n + 1, sizeof(*full));
	size_t i;

	pointers(t, n, got);
	pointers(t, n, full);
	now_sort(o->v, o->tab, o->col, o->reverse, got, n, want);
	qsort_r(full, n, sizeof(*full), in_order, (void *)o);
	for (i = 0; i < n && i < want; i++)
		if (got[i] != full[i])
			fail_msg("%zu of %zu rows, column %zu: row %zu is another", want, n, o->col,
				 i);
	qsort(got, n, sizeof(*got), by_address);
	for (i = 0; i < n; i++)
		assert_ptr_equal(got[i], &t[i]);
	free(got);
	free(full);
}

/* Figures of which many are alike: @kinds different ones. */
static struct now_thread *threads(size_t n, uint64_t kinds)
{
	struct now_thread *t;
	size_t i;

	FIXTURE_ARRAY(t, n + 1);
	for (i = 0; i < n; i++) {
		t[i].tid = (pid_t)(n - i);
		t[i].cpu_ns.step = next_random() % kinds;
		t[i].cpu_ns.total = next_random() % kinds;
		t[i].state = (enum now_state)(next_random() % NOW_STATES);
		snprintf(t[i].comm, sizeof(t[i].comm), "w-%u",
			 (unsigned int)(next_random() % kinds));
		t[i].wait = next_random() % 2 ? "futex" : "read";
	}
	return t;
}

static void the_first_rows_are_those_of_a_full_sort(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 23, 24, 25, 26, 100, 1000, 5000 };
	static const uint64_t kinds[] = { 1, 2, 7, 1000000 };
	const struct now now = { .mode = SUM_EXACT };
	struct now_view v = { .now = &now };
	const struct now_tab_desc *tab = &now_tabs[NOW_THREADS];
	size_t i, k, w, col;

	(void)state;
	state_of_random = 88172645463325252ULL;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes) * 4; i++) {
		const size_t n = sizes[i / 4], wants[] = { 0, 1, 2, n / 3, n - 1, n, n + 9 };
		struct now_thread *t = threads(n, kinds[i % 4]);

		for (w = 0; w < 7; w++) {
			for (k = 0; k < 4; k++) {
				for (col = 0; col < tab->ncol; col += 1 + (n > 100)) {
					struct order o = { &v, tab, col, k & 1 };

					v.totals = k & 2;
					if (n || w != 4)
						check(&o, t, n, wants[w]);
				}
			}
		}
		free(t);
	}
}

/* Rows that come in an order that has caught others: rising, falling, organ pipes. */
static void no_order_of_the_rows_confuses_it(void **state)
{
	const struct now now = { .mode = SUM_EXACT };
	const struct now_view v = { .now = &now };
	const struct now_tab_desc *tab = &now_tabs[NOW_THREADS];
	const struct order o = { &v, tab, tab->sort, false };
	struct now_thread *t;
	size_t i, shape;

	(void)state;
	FIXTURE_ARRAY(t, MANY);
	for (shape = 0; shape < 5; shape++) {
		for (i = 0; i < MANY; i++) {
			const uint64_t by_shape[] = {
				i, MANY - i, i < MANY / 2 ? i : MANY - i, i % 2 ? i : MANY - i, 7,
			};

			t[i].tid = (pid_t)(shape % 2 ? i : MANY - i);
			t[i].cpu_ns.step = by_shape[shape];
		}
		check(&o, t, MANY, 60);
		check(&o, t, MANY, MANY - 60);
	}
	free(t);
}

/* The next moment has the same figures in another order of rows: nothing moves. */
static void rows_that_tie_do_not_jump(void **state)
{
	const struct now now = { .mode = SUM_EXACT };
	const struct now_view v = { .now = &now };
	const struct now_tab_desc *tab = &now_tabs[NOW_THREADS];
	struct now_thread t[500];
	const void *row[500];
	size_t i, n, round;

	(void)state;
	memset(t, 0, sizeof(t));
	state_of_random = 42;
	for (round = 0; round < 4; round++) {
		for (i = 0; i < 500; i++)
			t[i].tid = (pid_t)(round % 2 ? i + 1 : 500 - i);
		pointers(t, 500, row);
		for (n = 500; n > 1; n--) {
			size_t k = next_random() % n;
			const void *p = row[k];

			row[k] = row[n - 1];
			row[n - 1] = p;
		}
		now_sort(&v, tab, tab->sort, round / 2, row, 500, 60);
		for (i = 0; i < 60; i++)
			assert_int_equal(((const struct now_thread *)row[i])->tid, i + 1);
	}
}

/* Printed, not judged. */
static void what_it_takes(void **state)
{
	const struct now now = { .mode = SUM_EXACT };
	const struct now_view v = { .now = &now };
	const struct now_tab_desc *tab = &now_tabs[NOW_THREADS];
	struct now_thread *t;
	const void **row = fixture_array(MANY, sizeof(*row));
	struct timespec from, to;
	size_t col, round;

	(void)state;
	state_of_random = 7;
	t = threads(MANY, 1000000);
	for (col = 0; col < tab->ncol; col++) {
		double best = 1e9;

		for (round = 0; round < 5; round++) {
			double us;

			pointers(t, MANY, row);
			clock_gettime(CLOCK_MONOTONIC, &from);
			now_sort(&v, tab, col, false, row, MANY, 60);
			clock_gettime(CLOCK_MONOTONIC, &to);
			us = (double)(to.tv_sec - from.tv_sec) * 1e6 +
			     (double)(to.tv_nsec - from.tv_nsec) / 1e3;
			best = us < best ? us : best;
		}
		print_message("60 of %d rows by %-8s %4.0f us\n", MANY, tab->col[col].head, best);
	}
	free(t);
	free(row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rows_are_those_of_a_full_sort),
		cmocka_unit_test(no_order_of_the_rows_confuses_it),
		cmocka_unit_test(rows_that_tie_do_not_jump),
		cmocka_unit_test(what_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
