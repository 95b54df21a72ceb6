/* SPDX-License-Identifier: MIT */
/* What only a server does: refuse, go away, belong to others too. */
#include "fixture_store.h"

/* Of the password of the fixture, what no message may have. */
static void check_secret(const char *text)
{
	assert_null(strstr(text, "s3cret"));
	assert_null(strstr(text, "p@ss"));
	assert_null(strstr(text, "p%40ss"));
}

static void check_not_opened(const char *url, int code, const char *words)
{
	struct err err = { 0 };

	if (store_open(url, STORE_CREATE, &err))
		fail_msg("%s was opened", url);
	if (!strstr(err.msg, words))
		fail_msg("'%s' is not in '%s'", words, err.msg);
	assert_int_equal(err.code, code);
	check_secret(err.msg);
	check_secret(err.hint);
}

static void no_message_has_the_password(void **state)
{
	static const char *const unreadable[] = {
		"postgresql://tracer:s3cret/p@ss@localhost/db",
		"postgresql://tracer:s3cret@p@ss@localhost/db",
		"postgresql://tracer:12/s3cret@localhost/db",
		"postgresql://tracer:s3cret@localhost:p@ss/db",
		"postgresql://tracer:s3cret@localhost/db?nosuch=p%40ss",
		"postgresql://tracer:s3cret@localhost/db?password",
		"postgres://tracer:s3cret%zz@localhost/db",
		"postgresql://tracer:s3cret@[::1/db",
	};
	char url[256];
	struct store *s;
	size_t i;

	fixture_store(state);
	for (i = 0; i < sizeof(unreadable) / sizeof(*unreadable); i++)
		check_not_opened(unreadable[i], EINVAL, "the store's URL cannot be read");
	fixture_pg_url(&fixture_pg, "tracer", "s3cretp%40ss", "postgres", url, sizeof(url));
	check_not_opened(url, ECONNREFUSED, "password authentication failed");
	fixture_pg_url(&fixture_pg, "some", FIXTURE_PG_PASSWORD_URL, "postgres", url, sizeof(url));
	check_not_opened(url, ECONNREFUSED, "password authentication failed");
	fixture_pg_url(&fixture_pg, "tracer", FIXTURE_PG_PASSWORD_URL, "none", url, sizeof(url));
	check_not_opened(url, ECONNREFUSED, "database \"none\" does not exist");
	snprintf(url, sizeof(url), "postgresql://tracer:s3cret@/db?host=%s/none", fixture_pg.dir);
	check_not_opened(url, ECONNREFUSED, "No such file or directory");
	check_not_opened("postgresql://tracer:s3cret@127.0.0.1:1/db", ECONNREFUSED,
			 "Connection refused");
	/* As a parameter too. */
	snprintf(url, sizeof(url), "postgres:///postgres?host=%s&user=tracer&password=%s",
		 fixture_pg.dir, FIXTURE_PG_PASSWORD_URL);
	s = store_open(url, STORE_CREATE, &(struct err){ 0 });
	assert_non_null(s);
	check_secret(store_name(s));
	snprintf(url, sizeof(url), "postgresql://tracer@/postgres?host=%s", fixture_pg.dir);
	assert_string_equal(store_name(s), url);
	store_close(s);
}

static void a_password_that_is_missing_is_asked_for_by_words(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };
	char url[256];

	snprintf(url, sizeof(url), "postgresql://tracer@/postgres?host=%s", fixture_pg.dir);
	snprintf(f->where, sizeof(f->where), "%s/none", f->dir);
	setenv("PGPASSFILE", f->where, 1);
	assert_null(store_open(url, STORE_READ, &err));
	assert_int_equal(err.code, ECONNREFUSED);
	assert_non_null(strstr(err.hint, "PGPASSWORD"));
	setenv("PGPASSWORD", FIXTURE_PG_PASSWORD, 1);
	assert_null(store_open(url, STORE_READ, &err));
	assert_int_equal(err.code, ENOENT);	/* it is let in, and finds no store */
	unsetenv("PGPASSWORD");
}

static size_t count_runs(const struct fixture_store *f, const struct store_bench *b)
{
	struct store *s = fixture_store_open(f, STORE_READ);
	struct store_columns c;
	struct err err = { 0 };
	size_t n;

	if (store_load(s, b, 1, NULL, &c, &err))
		fail_msg("%s", err.msg);
	n = c.runs;
	store_columns_release(&c);
	store_close(s);
	return n;
}

static void a_server_that_comes_back_is_used_again(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };

	fixture_add_bench(s, &b);
	fixture_add_run(s, &b, 0);
	fixture_pg_halt(&fixture_pg);
	assert_int_equal(fixture_try_run(s, &b, 1, &err), -ECONNREFUSED);
	assert_non_null(strstr(err.msg, "cannot store a run: cannot open store"));
	check_secret(err.msg);
	assert_true(store_select(s, &(struct store_query){ 0 }, &(struct store_benches){ 0 },
				 &err) < 0);
	assert_int_equal(err.code, ECONNRESET);
	fixture_pg_restart(&fixture_pg);
	fixture_add_run(s, &b, 1);
	/* It was idle when the server went. */
	fixture_pg_halt(&fixture_pg);
	fixture_pg_restart(&fixture_pg);
	fixture_add_run(s, &b, 2);
	store_close(s);
	assert_int_equal(count_runs(f, &b), 3);
}

/* What happens to the sixth value of a run, and what is said of it. */
static void check_trigger(const struct fixture_store *f, const char *body, int code,
			  const char *words)
{
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };
	struct buf sql = BUF_INIT;

	buf_addf(&sql, "CREATE OR REPLACE FUNCTION tracer.stop() RETURNS trigger LANGUAGE plpgsql"
		 " AS $$ BEGIN IF (SELECT count(*) FROM tracer.value) >= 5 THEN %s; END IF;"
		 " RETURN NEW; END $$; CREATE TRIGGER stop BEFORE INSERT ON tracer.value"
		 " FOR EACH ROW EXECUTE FUNCTION tracer.stop()", body);
	fixture_add_bench(s, &b);
	fixture_store_sql(f, sql.data);
	buf_release(&sql);
	fixture_add_run(s, &b, 0);
	fixture_add_run(s, &b, 1);
	assert_int_equal(fixture_try_run(s, &b, 2, &err), -code);
	if (!strstr(err.msg, words))
		fail_msg("'%s' is not in '%s'", words, err.msg);
	assert_int_equal(count_runs(f, &b), 2);
	fixture_store_sql(f, "DROP TRIGGER stop ON tracer.value");
	fixture_add_run(s, &b, 2);
	assert_int_equal(count_runs(f, &b), 3);
	store_close(s);
}

static void a_run_that_the_server_fails_is_not_half_there(void **state)
{
	struct fixture_store *f = fixture_store(state);

	check_trigger(f, "RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file'", ENOSPC,
		      "cannot grow: could not extend file");
	fixture_store_sql(f, "DROP SCHEMA tracer CASCADE");
	check_trigger(f, "PERFORM pg_terminate_backend(pg_backend_pid())", ECONNRESET,
		      "has closed the connection");
	fixture_store_sql(f, "DROP SCHEMA tracer CASCADE");
	/* A server's words are others' bytes. */
	check_trigger(f, "RAISE EXCEPTION E'one\\x1b]0;x\\x07\\ntwo'", EIO,
		      "cannot do this: one ]0;x");
}

static void what_a_user_may_do_is_the_servers_to_say(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store_bench b = fixture_bench("mine");
	struct err err = { 0 };
	char url[256];
	struct store *s;

	fixture_store_sql(f, "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD 'guest'");
	fixture_pg_url(&fixture_pg, "guest", "guest", "postgres", url, sizeof(url));
	assert_null(store_open(url, STORE_CREATE, &err));
	assert_int_equal(err.code, EACCES);
	assert_non_null(strstr(err.msg, "permission denied for database postgres"));
	assert_non_null(strstr(err.hint, "GRANT"));

	/* As docs/formats/store.md says for who reads. */
	s = fixture_store_open(f, STORE_CREATE);
	fixture_add_bench(s, &b);
	fixture_add_run(s, &b, 0);
	store_close(s);
	assert_null(store_open(url, STORE_READ, &err));
	assert_int_equal(err.code, EACCES);
	fixture_store_sql(f, "GRANT USAGE ON SCHEMA tracer TO guest;"
			  "GRANT SELECT ON ALL TABLES IN SCHEMA tracer TO guest");
	s = store_open(url, STORE_READ, &err);
	assert_non_null(s);
	store_close(s);
	s = store_open(url, STORE_CREATE, &err);
	assert_non_null(s);
	assert_int_equal(fixture_try_run(s, &b, 1, &err), -EACCES);
	store_close(s);
	fixture_store_sql(f, "GRANT INSERT, DELETE ON ALL TABLES IN SCHEMA tracer TO guest");
	s = store_open(url, STORE_CREATE, &err);
	assert_non_null(s);
	fixture_add_run(s, &b, 1);
	b.id[0] = '\0';
	fixture_add_bench(s, &b);
	store_close(s);

	/* A schema that is there for the user, who may make none. */
	fixture_store_sql(f, "DROP SCHEMA tracer CASCADE;"
			  "CREATE SCHEMA tracer AUTHORIZATION guest");
	s = store_open(url, STORE_CREATE, &err);
	assert_non_null(s);
	store_close(s);
	fixture_store_sql(f, "DROP SCHEMA tracer CASCADE; DROP ROLE guest");
}

static void tables_of_others_are_left_alone(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };
	struct store *s;

	fixture_store_sql(f, "DROP TABLE IF EXISTS public.bench, public.meta;"
			  "CREATE TABLE public.bench (n int); CREATE TABLE public.meta (n int)");
	s = fixture_store_open(f, STORE_CREATE);
	fixture_add_bench(s, &b);
	store_close(s);
	fixture_store_sql(f, "DROP SCHEMA tracer CASCADE; CREATE SCHEMA tracer;"
			  "CREATE TABLE tracer.meta (n int)");
	assert_null(store_open(f->where, STORE_CREATE, &err));
	assert_int_equal(err.code, EBADMSG);
	assert_non_null(strstr(err.msg, "is damaged or no store"));
	fixture_store_sql(f, "DROP TABLE public.bench, public.meta");
}

static void a_database_that_cannot_hold_all_text_is_refused(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };
	char url[256];

	fixture_store_sql(f, "DROP DATABASE IF EXISTS latin");
	fixture_store_sql(f, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
	fixture_pg_url(&fixture_pg, FIXTURE_PG_USER, FIXTURE_PG_PASSWORD_URL, "latin", url,
		       sizeof(url));
	assert_null(store_open(url, STORE_CREATE, &err));
	assert_int_equal(err.code, ENOTSUP);
	assert_non_null(strstr(err.msg, "encoding is LATIN1, not UTF8"));
	fixture_store_sql(f, "DROP DATABASE latin");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_PG(no_message_has_the_password),
		FIXTURE_STORE_PG(a_password_that_is_missing_is_asked_for_by_words),
		FIXTURE_STORE_PG(a_server_that_comes_back_is_used_again),
		FIXTURE_STORE_PG(a_run_that_the_server_fails_is_not_half_there),
		FIXTURE_STORE_PG(what_a_user_may_do_is_the_servers_to_say),
		FIXTURE_STORE_PG(tables_of_others_are_left_alone),
		FIXTURE_STORE_PG(a_database_that_cannot_hold_all_text_is_refused),
	};

	return cmocka_run_group_tests(tests, fixture_store_group_setup,
				      fixture_store_group_teardown);
}
