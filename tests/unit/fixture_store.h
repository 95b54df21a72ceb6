/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_STORE_H
#define FIXTURE_STORE_H

/*
 * The tests of the store run on both backends: FIXTURE_STORE_BOTH(f) makes two of f,
 * each with an empty place for a store. Without PostgreSQL its half is skipped.
 */
#include "unit.h"

#include "fixture_pg.h"

#include <math.h>

#include "store/parts.h"

struct fixture_store {
	bool pg;
	char where[256];
	char dir[64];
};

static struct fixture_pg fixture_pg;
static bool fixture_pg_there;
__attribute__((unused)) static struct fixture_store fixture_sqlite_state = { .pg = false };
__attribute__((unused)) static struct fixture_store fixture_pg_state = { .pg = true };

/* A statement of its own, past the store: what others may do to it. */
static inline void fixture_store_sql(const struct fixture_store *f, const char *sql)
{
	struct err err = { 0 };
	struct db *db = f->pg ? db_pg_open(f->where, STORE_WRITE, &err) :
				db_sqlite_open(f->where, STORE_WRITE, &err);

	if (!db || db_exec(db, sql, &err))
		fail_msg("%s: %s", sql, err.msg);
	db_close(db);
}

static inline int fixture_store_group_setup(void **state)
{
	(void)state;
	fixture_pg_there = fixture_pg_start(&fixture_pg);
	return 0;
}

static inline int fixture_store_group_teardown(void **state)
{
	(void)state;
	fixture_pg_stop(&fixture_pg);
	return 0;
}

static inline int fixture_store_setup(void **state)
{
	struct fixture_store *f = *state;

	strcpy(f->dir, "/tmp/tracer-store-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->where, sizeof(f->where), "%s/runs.db", f->dir);
	if (!f->pg)
		return 0;
	if (!fixture_pg_there)
		return 0;
	fixture_pg_url(&fixture_pg, FIXTURE_PG_USER, FIXTURE_PG_PASSWORD_URL, "postgres", f->where,
		       sizeof(f->where));
	fixture_store_sql(f, "DROP SCHEMA IF EXISTS tracer CASCADE");
	return 0;
}

static inline int fixture_store_teardown(void **state)
{
	struct fixture_store *f = *state;

	fixture_pg_remove_tree(f->dir);
	return 0;
}

#define FIXTURE_STORE_SQLITE(f)                                                      \
	{ "sqlite: " #f, f, fixture_store_setup, fixture_store_teardown, &fixture_sqlite_state }
#define FIXTURE_STORE_PG(f)                                                          \
	{ "postgresql: " #f, f, fixture_store_setup, fixture_store_teardown, &fixture_pg_state }
#define FIXTURE_STORE_BOTH(f) FIXTURE_STORE_SQLITE(f), FIXTURE_STORE_PG(f)

/* Each test begins with this. */
static inline struct fixture_store *fixture_store(void **state)
{
	struct fixture_store *f = *state;

	if (f->pg && !fixture_pg_there) {
		print_message("# no PostgreSQL server is installed (make deps-long)\n");
		skip();
	}
	return f;
}

static inline struct store *fixture_store_open(const struct fixture_store *f, enum store_mode mode)
{
	struct err err = { 0 };
	struct store *s = store_open(f->where, mode, &err);

	if (!s)
		fail_msg("%s", err.msg);
	return s;
}

static inline struct store_bench fixture_bench(const char *label)
{
	return (struct store_bench){
		.label = label, .argv = "[\"./app\",\"-n\",\"3\"]", .cwd = "/srv/app",
		.commit = "5f3c9a1b", .dirty = true, .tracer = "0.1.0", .source = "bench",
		.mode = "exact",
		.when_ns = 1700000000000000000, .load = 0.25, .steal = NAN,
		.machine = {
			.cpu_model = "Zen 4", .governor = "performance", .kernel = "6.1.0-18",
			.vendor = "KVM", .cores = 8, .memory_bytes = (uint64_t)16 << 30,
		},
	};
}

static inline void fixture_add_bench(struct store *s, struct store_bench *b)
{
	struct err err = { 0 };

	if (store_add_bench(s, b, &err))
		fail_msg("%s", err.msg);
}

/* The values of run @order: two metrics, and a third in every other run. */
#define FIXTURE_VALUES 3
static inline int fixture_try_run(struct store *s, const struct store_bench *b, uint64_t order,
				  struct err *err)
{
	struct store_value v[FIXTURE_VALUES] = {
		{ "time.wall", "ns", STORE_TIME, 1e9 + (double)order },
		{ "futex.wait", "", STORE_COUNT, 7 * (double)order },
		{ "page_faults", "", STORE_COUNT, 0.5 },
	};
	char detail[200];
	struct store_measured m = { v, order % 2 ? 3 : 2, detail, 0 };
	struct store_run run = { .order = order, .start_ns = 1700000000000000000 + order,
				 .exit_code = (int)(order % 3), .warmup = !order };

	memset(detail, 'a' + (int)(order % 26), sizeof(detail));
	m.detail_len = 10 + order % 100;
	return store_add_run(s, b, &run, &m, err);
}

static inline void fixture_add_run(struct store *s, const struct store_bench *b, uint64_t order)
{
	struct err err = { 0 };

	if (fixture_try_run(s, b, order, &err))
		fail_msg("%s", err.msg);
}

/* Whether @run, of all runs in @c, is all there and as fixture_add_run made it. */
static inline void fixture_check_run(struct store *s, const struct store_columns *c, size_t i)
{
	const struct store_run *run = &c->run[i];
	struct buf detail = BUF_INIT;
	struct err err = { 0 };
	size_t k;

	assert_int_equal(c->columns, 3);
	assert_true(c->column[0].value[i] == 7 * (double)run->order);
	assert_true(run->order % 2 ? c->column[1].value[i] == 0.5 : isnan(c->column[1].value[i]));
	assert_true(c->column[2].value[i] == 1e9 + (double)run->order);
	assert_int_equal(run->exit_code, run->order % 3);
	assert_int_equal(run->warmup, !run->order);
	assert_int_equal(store_detail(s, run->key, &detail, &err), 0);
	assert_int_equal(detail.len, 10 + run->order % 100);
	for (k = 0; k < detail.len; k++)
		assert_int_equal(detail.data[k], 'a' + (int)(run->order % 26));
	buf_release(&detail);
}

/* Exit code of @work in a child; the child must open its own store. */
static inline pid_t fixture_child(void (*work)(void *arg), void *arg)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	/* A failed test leaves it behind: it is not to hold up the keeper, nor to stay. */
	if (fixture_pg_there)
		close(fixture_pg.alive);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	work(arg);
	_exit(0);
}

static inline int fixture_wait(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
