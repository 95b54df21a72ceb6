/* SPDX-License-Identifier: MIT */
#include "fixture_store.h"

#include "store/schema.h"

/*
 * Versions that are still to come: what a step may do to tables with rows in them,
 * and one that does not end, for who is killed in it.
 */
static const char add_column[] =
	"ALTER TABLE run ADD COLUMN host text NOT NULL DEFAULT 'here';"
	"UPDATE run SET host = 'there' WHERE run_order = 1";
static const char add_table[] =
	"CREATE TABLE note (key {key}, bench {integer} NOT NULL REFERENCES bench (key),"
	" body {blob}, weight {real}) {table};"
	"CREATE TABLE pair (a {integer}, b {integer}, PRIMARY KEY (a, b)) {clustered};"
	"INSERT INTO note (bench, weight) SELECT key, 0.5 FROM bench";
static const char sleep_sqlite[] =
	"CREATE TABLE half (a {integer}) {table};"
	"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT max(n) FROM c";
static const char sleep_pg[] =
	"CREATE TABLE half (a {integer}) {table};"
	"SELECT pg_sleep(3)";
static const char mistake[] =
	"CREATE TABLE half (a {integer}) {table};"
	"CREATE TABLE half (a {integer}) {table}";

#define STEPS 3
static struct schema schema_to_come(const char *const step[STEPS])
{
	return (struct schema){ step, STEPS };
}

static struct db *open_db(const struct fixture_store *f, enum store_mode mode)
{
	struct err err = { 0 };
	struct db *db = f->pg ? db_pg_open(f->where, mode, &err) :
				db_sqlite_open(f->where, mode, &err);

	if (!db)
		fail_msg("%s", err.msg);
	return db;
}

static int64_t ask(const struct fixture_store *f, const char *sql)
{
	struct db *db = open_db(f, STORE_READ);
	struct err err = { 0 };
	int64_t n = -1;

	if (db_run_int(db, sql, NULL, 0, &n, &err) < 0)
		n = -err.code;
	db_close(db);
	return n;
}

/* A store of this version with two runs. */
static void make_store(const struct fixture_store *f)
{
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("");

	fixture_add_bench(s, &b);
	fixture_add_run(s, &b, 0);
	fixture_add_run(s, &b, 1);
	store_close(s);
}

static void check_version(const struct fixture_store *f, const char *version)
{
	char sql[100];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM meta WHERE name = 'schema' AND value = "
		 "'%s'", version);
	assert_int_equal(ask(f, sql), 1);
}

static void older_tables_are_brought_up_to_date(void **state)
{
	struct fixture_store *f = fixture_store(state);
	const char *const steps[] = { schema_current.step[0], add_column, add_table };
	const struct schema schema = schema_to_come(steps);
	struct err err = { 0 };
	struct db *db;

	make_store(f);
	check_version(f, "1");
	db = open_db(f, STORE_READ);
	assert_int_equal(schema_settle(db, &schema, STORE_READ, &err), -EPROTO);
	assert_non_null(strstr(err.msg, "is of an older tracer"));
	db_close(db);
	check_version(f, "1");
	db = open_db(f, STORE_WRITE);
	assert_int_equal(schema_settle(db, &schema, STORE_WRITE, &err), 0);
	assert_int_equal(schema_settle(db, &schema, STORE_READ, &err), 0);
	db_close(db);
	check_version(f, "3");
	assert_int_equal(ask(f, "SELECT count(*) FROM run WHERE host = 'there'"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM run WHERE host = 'here'"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM note WHERE weight = 0.5"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM value"), 5);
}

static void a_newer_store_is_refused_with_the_tracer_it_needs(void **state)
{
	static const enum store_mode modes[] = { STORE_READ, STORE_WRITE, STORE_CREATE };
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };
	size_t i;

	make_store(f);
	fixture_store_sql(f, "UPDATE meta SET value = '9' WHERE name = 'schema'");
	fixture_store_sql(f, "UPDATE meta SET value = '7.7.7' WHERE name = 'tracer'");
	for (i = 0; i < 3; i++) {
		assert_null(store_open(f->where, modes[i], &err));
		assert_int_equal(err.code, EPROTO);
		assert_non_null(strstr(err.msg, "has version 9, and this tracer reads up to 1"));
		assert_non_null(strstr(err.hint, "take tracer 7.7.7 or a later one"));
	}
	check_version(f, "9");
	fixture_store_sql(f, "DELETE FROM meta WHERE name = 'tracer'");
	assert_null(store_open(f->where, STORE_READ, &err));
	assert_non_null(strstr(err.hint, "take a later tracer"));
}

static void tables_without_a_version_are_no_store(void **state)
{
	static const char *const bad[] = { "", "0", "-1", "1x", "one", "99999999999999999999999x" };
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };
	char sql[100];
	size_t i;

	make_store(f);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(sql, sizeof(sql), "UPDATE meta SET value = '%s' WHERE name = 'schema'",
			 bad[i]);
		fixture_store_sql(f, sql);
		assert_null(store_open(f->where, STORE_CREATE, &err));
		assert_int_equal(err.code, EBADMSG);
		assert_non_null(strstr(err.msg, "has no version"));
	}
	fixture_store_sql(f, "DELETE FROM meta");
	assert_null(store_open(f->where, STORE_CREATE, &err));
	assert_int_equal(err.code, EBADMSG);
	fixture_store_sql(f, "DROP TABLE meta");
	assert_null(store_open(f->where, STORE_READ, &err));
	assert_int_equal(err.code, f->pg ? ENOENT : EBADMSG);
}

static void a_step_that_fails_undoes_those_before(void **state)
{
	struct fixture_store *f = fixture_store(state);
	const char *const steps[] = { schema_current.step[0], add_column, mistake };
	const struct schema schema = schema_to_come(steps);
	struct err err = { 0 };
	struct db *db;

	make_store(f);
	db = open_db(f, STORE_WRITE);
	assert_true(schema_upgrade(db, &schema, &err) < 0);
	assert_non_null(strstr(err.msg, db->name));
	db_close(db);
	check_version(f, "1");
	assert_true(ask(f, "SELECT count(*) FROM half") < 0);
	assert_true(ask(f, "SELECT count(host) FROM run") < 0);
	assert_int_equal(ask(f, "SELECT count(*) FROM run"), 2);
}

struct upgrader {
	const struct fixture_store *f;
	const struct schema *schema;
	int started;
};

static void upgrade(void *arg)
{
	const struct upgrader *u = arg;
	struct err err = { 0 };
	struct db *db = u->f->pg ? db_pg_open(u->f->where, STORE_WRITE, &err) :
				   db_sqlite_open(u->f->where, STORE_WRITE, &err);

	if (!db || write(u->started, "", 1) != 1 || schema_upgrade(db, u->schema, &err))
		_exit(1);
	db_close(db);
}

static void who_is_killed_in_a_step_leaves_the_old_tables(void **state)
{
	struct fixture_store *f = fixture_store(state);
	const char *const steps[] = { schema_current.step[0], add_column,
				      f->pg ? sleep_pg : sleep_sqlite };
	const char *const good[] = { schema_current.step[0], add_column, add_table };
	const struct schema schema = schema_to_come(steps), good_schema = schema_to_come(good);
	struct upgrader u = { f, &schema, -1 };
	struct err err = { 0 };
	struct db *db;
	int fds[2];
	char byte;
	pid_t pid;

	make_store(f);
	assert_int_equal(pipe(fds), 0);
	u.started = fds[1];
	pid = fixture_child(upgrade, &u);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	usleep(500000);	/* into the step that does not end */
	kill(pid, SIGKILL);
	assert_int_equal(fixture_wait(pid), 128 + SIGKILL);
	close(fds[0]);
	close(fds[1]);
	check_version(f, "1");
	assert_true(ask(f, "SELECT count(*) FROM half") < 0);
	/* It is in nobody's way, though a server may take a while to see that it is gone. */
	db = open_db(f, STORE_WRITE);
	assert_int_equal(schema_upgrade(db, &good_schema, &err), 0);
	db_close(db);
	check_version(f, "3");
	assert_int_equal(ask(f, "SELECT count(*) FROM run WHERE host = 'there'"), 1);
}

static void several_at_once_do_it_once(void **state)
{
	struct fixture_store *f = fixture_store(state);
	const char *const steps[] = { schema_current.step[0], add_column, add_table };
	const struct schema schema = schema_to_come(steps);
	struct upgrader u = { f, &schema, -1 };
	pid_t pid[6];
	int fds[2], i;

	make_store(f);
	assert_int_equal(pipe(fds), 0);
	u.started = fds[1];
	for (i = 0; i < 6; i++)
		pid[i] = fixture_child(upgrade, &u);
	for (i = 0; i < 6; i++)
		assert_int_equal(fixture_wait(pid[i]), 0);
	close(fds[0]);
	close(fds[1]);
	check_version(f, "3");
	assert_int_equal(ask(f, "SELECT count(*) FROM note"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_BOTH(older_tables_are_brought_up_to_date),
		FIXTURE_STORE_BOTH(a_newer_store_is_refused_with_the_tracer_it_needs),
		FIXTURE_STORE_BOTH(tables_without_a_version_are_no_store),
		FIXTURE_STORE_BOTH(a_step_that_fails_undoes_those_before),
		FIXTURE_STORE_BOTH(who_is_killed_in_a_step_leaves_the_old_tables),
		FIXTURE_STORE_BOTH(several_at_once_do_it_once),
	};

	return cmocka_run_group_tests(tests, fixture_store_group_setup,
				      fixture_store_group_teardown);
}
