/* SPDX-License-Identifier: MIT */
/* Several processes at one store, and processes that are killed at it. */
#include "fixture_store.h"

#define WRITERS 2
#define RUNS 200

struct work {
	const struct fixture_store *f;
	const char *label;
	int told;	/* a byte for each run that is stored, or -1 */
	bool reversed;
};

static struct store *open_or_exit(const struct work *w, enum store_mode mode)
{
	struct err err = { 0 };
	struct store *s = store_open(w->f->where, mode, &err);

	if (!s) {
		fprintf(stderr, "# %s\n", err.msg);
		_exit(2);
	}
	return s;
}

static void write_runs(void *arg)
{
	const struct work *w = arg;
	struct store *s = open_or_exit(w, STORE_CREATE);
	struct store_bench b = fixture_bench(w->label);
	struct err err = { 0 };
	uint64_t i;

	if (store_add_bench(s, &b, &err))
		_exit(3);
	for (i = 0; i < RUNS; i++) {
		if (fixture_try_run(s, &b, i, &err)) {
			fprintf(stderr, "# %s\n", err.msg);
			_exit(4);
		}
		if (w->told >= 0 && write(w->told, "", 1) != 1)
			_exit(5);
	}
	store_close(s);
}

/* All runs of @label, each whole; how many there are. */
static size_t check_label(const struct fixture_store *f, const char *label)
{
	struct store *s = fixture_store_open(f, STORE_READ);
	struct store_query q = { .label = label };
	struct store_benches list;
	struct store_columns c;
	struct err err = { 0 };
	size_t i, n;

	assert_int_equal(store_select(s, &q, &list, &err), 0);
	assert_int_equal(list.n, 1);
	assert_int_equal(store_load(s, list.bench, 1, NULL, &c, &err), 0);
	n = c.runs;
	for (i = 0; i < n; i++) {
		assert_int_equal(c.run[i].order, i);
		if (n > 1)	/* of one run not all metrics are known */
			fixture_check_run(s, &c, i);
	}
	store_columns_release(&c);
	store_benches_release(&list);
	store_close(s);
	return n;
}

static void two_writers_lose_nothing(void **state)
{
	static const char *const labels[WRITERS] = { "one", "two" };
	struct fixture_store *f = fixture_store(state);
	pid_t pid[WRITERS];
	int i;

	/* They make the store too. */
	for (i = 0; i < WRITERS; i++) {
		struct work w = { f, labels[i], -1, false };

		pid[i] = fixture_child(write_runs, &w);
	}
	for (i = 0; i < WRITERS; i++)
		assert_int_equal(fixture_wait(pid[i]), 0);
	for (i = 0; i < WRITERS; i++)
		assert_int_equal(check_label(f, labels[i]), RUNS);
}

static void a_reader_sees_whole_runs_while_one_writes(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct work w = { f, "one", -1, false };
	struct store_query q = { 0 };
	struct store_benches list;
	struct store_columns c;
	struct err err = { 0 };
	size_t i, last = 0, looks = 0;
	struct store *s;
	pid_t pid;
	int status;

	store_close(fixture_store_open(f, STORE_CREATE));
	s = fixture_store_open(f, STORE_READ);
	pid = fixture_child(write_runs, &w);
	while (!waitpid(pid, &status, WNOHANG)) {
		assert_int_equal(store_select(s, &q, &list, &err), 0);
		assert_int_equal(store_load(s, list.bench, list.n, NULL, &c, &err), 0);
		assert_true(c.runs >= last);
		last = c.runs;
		for (i = 0; i < c.columns; i++)
			assert_int_equal(c.column[i].known,
					 strcmp(c.column[i].metric, "page_faults") ? c.runs :
										     c.runs / 2);
		looks += c.runs > 0;
		store_columns_release(&c);
		store_benches_release(&list);
	}
	assert_int_equal(status, 0);
	assert_true(looks > 0);
	store_close(s);
	assert_int_equal(check_label(f, "one"), RUNS);
}

static void make_store(void *arg)
{
	const struct work *w = arg;
	struct store *s = open_or_exit(w, STORE_CREATE);
	struct store_bench b = fixture_bench("made");
	struct err err = { 0 };

	if (store_add_bench(s, &b, &err))
		_exit(3);
	store_close(s);
}

static void many_that_make_the_store_make_one(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct work w = { f, "", -1, false };
	struct store_benches list;
	struct store_query q = { 0 };
	struct err err = { 0 };
	struct store *s;
	pid_t pid[8];
	int i, round;

	for (round = 1; round <= 5; round++) {
		for (i = 0; i < 8; i++)
			pid[i] = fixture_child(make_store, &w);
		for (i = 0; i < 8; i++)
			assert_int_equal(fixture_wait(pid[i]), 0);
		s = fixture_store_open(f, STORE_READ);
		assert_int_equal(store_select(s, &q, &list, &err), 0);
		assert_int_equal(list.n, 8);
		store_benches_release(&list);
		store_close(s);
		if (f->pg)
			fixture_store_sql(f, "DROP SCHEMA tracer CASCADE");
		else
			unlink(f->where);
	}
}

/* At most one run is there whose call did not return any more. */
static void who_is_killed_loses_no_run_that_was_stored(void **state)
{
	struct fixture_store *f = fixture_store(state);
	char label[16];
	int round;

	store_close(fixture_store_open(f, STORE_CREATE));
	for (round = 0; round < 12; round++) {
		struct work w = { f, label, -1, false };
		size_t told = 0, there;
		int fds[2];
		char byte;
		pid_t pid;

		snprintf(label, sizeof(label), "round %d", round);
		assert_int_equal(pipe(fds), 0);
		w.told = fds[1];
		pid = fixture_child(write_runs, &w);
		close(fds[1]);
		while (told < 2 + (size_t)round && read(fds[0], &byte, 1) == 1)
			told++;
		usleep((unsigned int)(round * 337));	/* at another place each time */
		kill(pid, SIGKILL);
		assert_int_equal(fixture_wait(pid), 128 + SIGKILL);
		while (read(fds[0], &byte, 1) == 1)
			told++;
		close(fds[0]);
		there = check_label(f, label);
		/* A server may still commit what it was sent. */
		assert_true(there == told || there == told + 1);
	}
}

/* The same new metrics, first to last and last to first: nobody waits for the other for ever. */
static void add_metrics(void *arg)
{
	const struct work *w = arg;
	struct store *s = open_or_exit(w, STORE_WRITE);
	struct store_bench b = fixture_bench(w->label);
	struct store_value v[300];
	struct store_run run = { 0 };
	struct err err = { 0 };
	char names[300][20];
	int i;

	if (store_add_bench(s, &b, &err))
		_exit(3);
	for (i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "metric.%d", w->reversed ? 299 - i : i);
		v[i] = (struct store_value){ names[i], "", STORE_COUNT, i };
	}
	if (store_add_run(s, &b, &run, &(struct store_measured){ v, 300, NULL, 0 }, &err)) {
		fprintf(stderr, "# %s\n", err.msg);
		_exit(4);
	}
	store_close(s);
}

static void new_metrics_in_any_order_do_not_block(void **state)
{
	struct fixture_store *f = fixture_store(state);
	pid_t pid[6];
	int i;

	store_close(fixture_store_open(f, STORE_CREATE));
	for (i = 0; i < 6; i++) {
		struct work w = { f, "metrics", -1, i % 2 };

		pid[i] = fixture_child(add_metrics, &w);
	}
	for (i = 0; i < 6; i++)
		assert_int_equal(fixture_wait(pid[i]), 0);
}

/* Holds the write lock for longer than anybody waits. */
static void hold_lock(void *arg)
{
	const struct work *w = arg;
	struct err err = { 0 };
	struct db *db = w->f->pg ? db_pg_open(w->f->where, STORE_WRITE, &err) :
				   db_sqlite_open(w->f->where, STORE_WRITE, &err);

	if (!db || db_begin_write(db, &err) ||
	    (w->f->pg && db_exec(db, "LOCK TABLE bench", &err)) || write(w->told, "", 1) != 1)
		_exit(2);
	pause();
}

static void a_store_that_stays_locked_is_said_to_be(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct work w = { f, "", -1, false };
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };
	struct store *s = fixture_store_open(f, STORE_CREATE);
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	w.told = fds[1];
	pid = fixture_child(hold_lock, &w);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	assert_int_equal(s->db->backend->set_wait(s->db, 300, &err), 0);
	assert_int_equal(store_add_bench(s, &b, &err), -EBUSY);
	assert_non_null(strstr(err.msg, "is locked by another process"));
	kill(pid, SIGKILL);
	assert_int_equal(fixture_wait(pid), 128 + SIGKILL);
	assert_int_equal(store_add_bench(s, &b, &err), 0);
	close(fds[0]);
	close(fds[1]);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_BOTH(two_writers_lose_nothing),
		FIXTURE_STORE_BOTH(a_reader_sees_whole_runs_while_one_writes),
		FIXTURE_STORE_BOTH(many_that_make_the_store_make_one),
		FIXTURE_STORE_BOTH(who_is_killed_loses_no_run_that_was_stored),
		FIXTURE_STORE_BOTH(new_metrics_in_any_order_do_not_block),
		FIXTURE_STORE_BOTH(a_store_that_stays_locked_is_said_to_be),
	};

	return cmocka_run_group_tests(tests, fixture_store_group_setup,
				      fixture_store_group_teardown);
}
