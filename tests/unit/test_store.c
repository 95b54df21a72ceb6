/* SPDX-License-Identifier: MIT */
#include "fixture_store.h"

static void what_is_added_comes_back(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("it's \"a\"; DROP TABLE bench; -- é日本"), *got;
	struct store_query q = { .label = b.label };
	struct store_benches list;
	struct err err = { 0 };

	fixture_add_bench(s, &b);
	assert_int_equal(strlen(b.id), STORE_ID_LEN);
	assert_string_equal(b.id, b.group);
	fixture_add_run(s, &b, 0);
	store_close(s);

	s = fixture_store_open(f, STORE_READ);
	assert_int_equal(store_select(s, &q, &list, &err), 0);
	assert_int_equal(list.n, 1);
	got = &list.bench[0];
	assert_string_equal(got->id, b.id);
	assert_string_equal(got->group, b.id);
	assert_int_equal(got->side, STORE_COMMAND);
	assert_string_equal(got->label, b.label);
	assert_string_equal(got->argv, b.argv);
	assert_string_equal(got->cwd, b.cwd);
	assert_string_equal(got->commit, b.commit);
	assert_true(got->dirty);
	assert_string_equal(got->tracer, b.tracer);
	assert_string_equal(got->source, b.source);
	assert_string_equal(got->mode, b.mode);
	assert_int_equal(got->when_ns, b.when_ns);
	assert_true(got->load == 0.25);
	assert_true(isnan(got->steal));
	assert_string_equal(got->machine.cpu_model, "Zen 4");
	assert_string_equal(got->machine.governor, "performance");
	assert_string_equal(got->machine.kernel, "6.1.0-18");
	assert_string_equal(got->machine.vendor, "KVM");
	assert_int_equal(got->machine.cores, 8);
	assert_int_equal(got->machine.memory_bytes, (uint64_t)16 << 30);
	assert_string_equal(got->machine.hash, b.machine.hash);
	assert_int_equal(got->runs, 1);
	store_benches_release(&list);
	store_close(s);
}

static void runs_come_as_columns(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b[2] = { fixture_bench("new"), fixture_bench("old") };
	struct store_columns c;
	struct err err = { 0 };
	size_t i;

	b[1].side = STORE_BASELINE;
	fixture_add_bench(s, &b[0]);
	memcpy(b[1].group, b[0].id, sizeof(b[1].group));
	fixture_add_bench(s, &b[1]);
	/* The two sides take turns; one is late. */
	for (i = 0; i < 10; i++)
		if (i != 4)
			fixture_add_run(s, &b[i % 2], i);
	fixture_add_run(s, &b[0], 4);
	assert_int_equal(store_load(s, b, 2, NULL, &c, &err), 0);
	assert_int_equal(c.runs, 10);
	assert_int_equal(c.columns, 3);
	assert_string_equal(c.column[0].metric, "futex.wait");
	assert_string_equal(c.column[1].metric, "page_faults");
	assert_string_equal(c.column[2].metric, "time.wall");
	assert_string_equal(c.column[2].unit, "ns");
	assert_int_equal(c.column[2].kind, STORE_TIME);
	assert_int_equal(c.column[0].kind, STORE_COUNT);
	assert_int_equal(c.column[0].known, 10);
	assert_int_equal(c.column[1].known, 5);
	for (i = 0; i < 10; i++) {
		assert_int_equal(c.run[i].bench, i / 5);
		assert_int_equal(c.run[i].order, i < 5 ? 2 * i : 2 * (i - 5) + 1);
		assert_int_equal(c.run[i].start_ns, 1700000000000000000 + c.run[i].order);
		fixture_check_run(s, &c, i);
	}
	store_columns_release(&c);
	store_close(s);
}

/* What an import adds: all of it, or nothing, also of the metrics that are new. */
static void added_together_is_all_or_nothing(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b;
	struct store_benches list;
	struct store_columns c;
	struct err err = { 0 };
	int keep;
	size_t i;

	for (keep = 0; keep < 2; keep++) {
		b = fixture_bench("imported");
		assert_int_equal(store_begin(s, &err), 0);
		fixture_add_bench(s, &b);
		for (i = 0; i < 3; i++)
			fixture_add_run(s, &b, i);
		assert_int_equal(store_end(s, keep, &err), 0);
		assert_int_equal(store_select(s, &(struct store_query){ 0 }, &list, &err), 0);
		assert_int_equal(list.n, keep);
		store_benches_release(&list);
	}
	assert_int_equal(store_load(s, &b, 1, NULL, &c, &err), 0);
	assert_int_equal(c.runs, 3);
	fixture_check_run(s, &c, 1);
	store_columns_release(&c);
	/* And after it each addition is for itself again. */
	fixture_add_run(s, &b, 3);
	store_close(s);
	s = fixture_store_open(f, STORE_READ);
	assert_int_equal(store_load(s, &b, 1, NULL, &c, &err), 0);
	assert_int_equal(c.runs, 4);
	store_columns_release(&c);
	store_close(s);
}

static void one_metric_is_a_history(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_query q = { .label = "nightly", .oldest_first = true };
	struct store_benches list;
	struct store_columns c;
	struct err err = { 0 };
	uint64_t i;

	/* More benches than one query takes, the newest added first. */
	for (i = 0; i < 150; i++) {
		struct store_bench b = fixture_bench(i % 3 ? "nightly" : "other");

		b.when_ns -= i * 1000000000;
		fixture_add_bench(s, &b);
		fixture_add_run(s, &b, i);
	}
	assert_int_equal(store_select(s, &q, &list, &err), 0);
	assert_int_equal(list.n, 100);
	assert_int_equal(store_load(s, list.bench, list.n, "time.wall", &c, &err), 0);
	assert_int_equal(c.runs, 100);
	assert_int_equal(c.columns, 1);
	assert_string_equal(c.column[0].metric, "time.wall");
	for (i = 0; i < 100; i++) {
		assert_true(!i || list.bench[i].when_ns > list.bench[i - 1].when_ns);
		assert_int_equal(c.run[i].bench, i);
		assert_true(c.column[0].value[i] == 1e9 + (double)c.run[i].order);
		assert_int_equal(1700000000 - list.bench[i].when_ns / 1000000000, c.run[i].order);
	}
	store_columns_release(&c);
	/* One that no run has: runs without columns. */
	assert_int_equal(store_load(s, list.bench, list.n, "no.such", &c, &err), 0);
	assert_int_equal(c.runs, 100);
	assert_int_equal(c.columns, 0);
	store_columns_release(&c);
	assert_int_equal(store_load(s, list.bench, 0, NULL, &c, &err), 0);
	assert_int_equal(c.runs, 0);
	store_columns_release(&c);
	store_benches_release(&list);
	store_close(s);
}

static size_t count(struct store *s, struct store_query q)
{
	struct store_benches list;
	struct err err = { 0 };
	size_t n;

	if (store_select(s, &q, &list, &err))
		fail_msg("%s", err.msg);
	n = list.n;
	store_benches_release(&list);
	return n;
}

static void benches_are_found_by_each_of_their_marks(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	static const char *const commits[] = { "5f3c9a1b", "5f3c0000", "", "abcdef" };
	static const char *const labels[] = { "a", "a", "", "b%" };
	struct store_bench b[4];
	struct store_benches list;
	struct err err = { 0 };
	char prefix[STORE_ID_LEN + 1];
	size_t i;

	for (i = 0; i < 4; i++) {
		b[i] = fixture_bench(labels[i]);
		b[i].commit = commits[i];
		b[i].when_ns += i;
		fixture_add_bench(s, &b[i]);
	}
	assert_int_equal(count(s, (struct store_query){ 0 }), 4);
	assert_int_equal(count(s, (struct store_query){ .limit = 3 }), 3);
	assert_int_equal(count(s, (struct store_query){ .limit = SIZE_MAX }), 4);
	assert_int_equal(count(s, (struct store_query){ .label = "a" }), 2);
	assert_int_equal(count(s, (struct store_query){ .label = "" }), 1);
	assert_int_equal(count(s, (struct store_query){ .label = "b%" }), 1);
	assert_int_equal(count(s, (struct store_query){ .label = "%" }), 0);
	assert_int_equal(count(s, (struct store_query){ .commit = "5f3c" }), 2);
	assert_int_equal(count(s, (struct store_query){ .commit = "5F3C9" }), 1);
	assert_int_equal(count(s, (struct store_query){ .commit = "f3c9" }), 0);
	assert_int_equal(count(s, (struct store_query){ .label = "b%", .commit = "5f" }), 0);
	assert_int_equal(count(s, (struct store_query){ .group = b[1].id }), 1);
	memcpy(prefix, b[3].id, sizeof(prefix));
	prefix[20] = '\0';
	assert_int_equal(count(s, (struct store_query){ .id = prefix }), 1);
	for (i = 0; i < 3; i++) {
		static const char *const bad[] = { "", "%", "5f_c" };

		assert_int_equal(store_select(s, &(struct store_query){ .commit = bad[i] }, &list,
					      &err), -EINVAL);
		assert_non_null(strstr(err.msg, "not the beginning of a commit or an id"));
	}
	assert_int_equal(store_select(s, &(struct store_query){ .limit = 1 }, &list, &err), 0);
	assert_string_equal(list.bench[0].id, b[3].id);
	store_benches_release(&list);
	store_close(s);
}

static void labels_are_listed_the_last_used_first(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	static const char *const labels[] = { "x", "y", "x", "", "y", "x" };
	struct store_labels list;
	struct err err = { 0 };
	size_t i;

	for (i = 0; i < 6; i++) {
		struct store_bench b = fixture_bench(labels[i]);

		b.when_ns = 1000 + i;
		fixture_add_bench(s, &b);
	}
	assert_int_equal(store_labels(s, &list, &err), 0);
	assert_int_equal(list.n, 3);
	assert_string_equal(list.label[0].name, "x");
	assert_int_equal(list.label[0].benches, 3);
	assert_int_equal(list.label[0].last_ns, 1005);
	assert_string_equal(list.label[1].name, "y");
	assert_string_equal(list.label[2].name, "");
	store_labels_release(&list);
	store_close(s);
}

/* Rows of all tables that hang on benches. */
static int64_t rows(const struct fixture_store *f, const char *table)
{
	struct err err = { 0 };
	struct db *db = f->pg ? db_pg_open(f->where, STORE_READ, &err) :
				db_sqlite_open(f->where, STORE_READ, &err);
	char sql[60];
	int64_t n = -1;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
	if (!db || db_run_int(db, sql, NULL, 0, &n, &err) != 1)
		fail_msg("%s", err.msg);
	db_close(db);
	return n;
}

static void what_is_forgotten_leaves_nothing(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	static const char *const tables[] = { "run", "value", "detail" };
	struct store_bench b[3] = { fixture_bench("a"), fixture_bench("b"), fixture_bench("a") };
	struct store_run run = { 0 };
	struct err err = { 0 };
	uint64_t n;
	size_t i;

	for (i = 0; i < 3; i++) {
		fixture_add_bench(s, &b[i]);
		fixture_add_run(s, &b[i], i);
	}
	assert_int_equal(store_forget(s, &(struct store_query){ .limit = 1 }, &n, &err), -EINVAL);
	assert_int_equal(count(s, (struct store_query){ 0 }), 3);
	assert_int_equal(store_forget(s, &(struct store_query){ .label = "c" }, &n, &err), 0);
	assert_int_equal(n, 0);
	assert_int_equal(store_forget(s, &(struct store_query){ .label = "a" }, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows(f, "run"), 1);
	assert_int_equal(rows(f, "detail"), 1);
	/* Its bench is gone while it runs. */
	assert_int_equal(store_add_run(s, &b[0], &run, &(struct store_measured){ 0 }, &err),
			 -ENOENT);
	assert_non_null(strstr(err.msg, "is no longer in store"));
	assert_int_equal(store_forget(s, &(struct store_query){ .id = b[1].id }, &n, &err), 0);
	assert_int_equal(n, 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(rows(f, tables[i]), 0);
	store_close(s);
}

static void text_that_one_backend_would_refuse_both_refuse(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} bad[] = {
		{ "caf\xe9", "not UTF-8 at byte 4" },
		{ "\xed\xa0\x80", "not UTF-8 at byte 1" },
		{ "a\xf4\x90\x80\x80", "not UTF-8 at byte 2" },
		{ NULL, "is missing" },
	};
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_value v = { "caf\xe9", "", STORE_COUNT, 1 };
	struct store_measured m = { &v, 1, NULL, 0 };
	struct store_bench b = fixture_bench("good");
	struct store_run run = { 0 };
	struct err err = { 0 };
	char *large;
	size_t i;

	fixture_add_bench(s, &b);
	for (i = 0; i < 4; i++) {
		struct store_bench c = fixture_bench(bad[i].text);

		assert_int_equal(store_add_bench(s, &c, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "label"));
		assert_non_null(strstr(err.msg, bad[i].message));
		c = fixture_bench("");
		c.machine.cpu_model = bad[i].text;
		assert_int_equal(store_add_bench(s, &c, &err), -EINVAL);
	}
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "name is not UTF-8"));
	large = malloc(STORE_TEXT_MAX + 2);
	memset(large, 'x', STORE_TEXT_MAX + 1);
	large[STORE_TEXT_MAX + 1] = '\0';
	b = fixture_bench("large");
	b.argv = large;
	assert_int_equal(store_add_bench(s, &b, &err), -EINVAL);
	large[STORE_TEXT_MAX] = '\0';
	assert_int_equal(store_add_bench(s, &b, &err), 0);
	free(large);
	b = fixture_bench("");
	b.commit = "HEAD";
	assert_int_equal(store_add_bench(s, &b, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "HEAD"));
	assert_int_equal(count(s, (struct store_query){ 0 }), 2);
	assert_int_equal(rows(f, "run"), 0);
	store_close(s);
}

/* A value that cannot be, in the middle: the run, its values and its new metrics are not there. */
static void a_run_is_stored_whole_or_not_at_all(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_value v[100];
	struct store_measured m = { v, 100, "{}", 2 };
	struct store_bench b = fixture_bench("");
	struct store_run run = { 0 };
	struct store_columns c;
	struct err err = { 0 };
	char names[100][16];
	size_t i;

	fixture_add_bench(s, &b);
	for (i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "metric.%zu", i);
		v[i] = (struct store_value){ names[i], "", STORE_COUNT, (double)i };
	}
	v[90].metric = names[10];	/* twice */
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), -EEXIST);
	v[90].metric = "";
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), -EINVAL);
	v[90].metric = names[90];
	v[90].value = INFINITY;
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "metric.90"));
	assert_int_equal(rows(f, "run"), 0);
	assert_int_equal(rows(f, "value"), 0);
	assert_int_equal(rows(f, "metric"), 0);
	/* And the store goes on: nothing that was undone is remembered. */
	v[90].value = 90;
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), 0);
	assert_int_equal(store_add_run(s, &b, &run, &m, &err), -EEXIST);
	assert_non_null(strstr(err.msg, "run 0 of bench"));
	assert_int_equal(store_load(s, &b, 1, NULL, &c, &err), 0);
	assert_int_equal(c.runs, 1);
	assert_int_equal(c.columns, 100);
	for (i = 0; i < 100; i++) {
		assert_int_equal(c.column[i].known, 1);
		assert_true(c.column[i].value[0] == atof(c.column[i].metric + 7));
	}
	store_columns_release(&c);
	store_close(s);
}

static void a_metric_keeps_its_unit_and_kind(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE), *other;
	struct store_value ns = { "time.wall", "ns", STORE_TIME, 5 };
	struct store_value sec = { "time.wall", "s", STORE_TIME, 5 };
	struct store_value count_ns = { "time.wall", "ns", STORE_COUNT, 5 };
	struct store_bench b = fixture_bench("");
	struct store_run run = { 0 };
	struct err err = { 0 };

	/* One that has not seen it yet, and one that was opened before it was there. */
	other = fixture_store_open(f, STORE_CREATE);
	fixture_add_bench(s, &b);
	assert_int_equal(store_add_run(s, &b, &run, &(struct store_measured){ &ns, 1, NULL, 0 },
				       &err), 0);
	run.order = 1;
	assert_int_equal(store_add_run(other, &b, &run,
				       &(struct store_measured){ &sec, 1, NULL, 0 }, &err),
			 -EINVAL);
	assert_non_null(strstr(err.msg, "metric time.wall is a time in 's'"));
	assert_int_equal(store_add_run(s, &b, &run,
				       &(struct store_measured){ &count_ns, 1, NULL, 0 }, &err),
			 -EINVAL);
	assert_int_equal(store_add_run(other, &b, &run,
				       &(struct store_measured){ &ns, 1, NULL, 0 }, &err), 0);
	store_close(other);
	store_close(s);
}

static void details_of_any_size_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 100000, 3000000 };
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("");
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	char *data = malloc(3000000);
	size_t i;

	fixture_add_bench(s, &b);
	for (i = 0; i < 3000000; i++)
		data[i] = (char)(i * i >> 7);	/* with NULs, and no UTF-8 */
	for (i = 0; i < 4; i++) {
		struct store_run run = { .order = i };
		struct store_measured m = { NULL, 0, data, sizes[i] };

		assert_int_equal(store_add_run(s, &b, &run, &m, &err), 0);
		buf_reset(&out);
		assert_int_equal(store_detail(s, run.key, &out, &err), 0);
		assert_int_equal(out.len, sizes[i]);
		assert_memory_equal(out.len ? out.data : "", data, sizes[i]);
		if (!i)
			assert_int_equal(store_detail(s, run.key + 1, &out, &err), -ENOENT);
	}
	buf_release(&out);
	free(data);
	store_close(s);
}

static void an_id_of_another_store_is_kept_and_taken_once(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };

	strcpy(b.id, "00112233445566778899aabbccddeeff");
	fixture_add_bench(s, &b);
	assert_string_equal(b.id, "00112233445566778899aabbccddeeff");
	assert_int_equal(store_add_bench(s, &b, &err), -EEXIST);
	assert_non_null(strstr(err.msg, "00112233445566778899aabbccddeeff"));
	strcpy(b.id, "0011");
	assert_int_equal(store_add_bench(s, &b, &err), -EINVAL);
	strcpy(b.id, "00112233445566778899AABBCCDDEEFF");
	assert_int_equal(store_add_bench(s, &b, &err), -EINVAL);
	b.id[0] = '\0';
	b.when_ns = UINT64_MAX;
	assert_int_equal(store_add_bench(s, &b, &err), -EINVAL);
	store_close(s);
}

static void a_store_that_is_not_there_is_only_made_for_writing(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct err err = { 0 };

	assert_null(store_open(f->where, STORE_READ, &err));
	assert_int_equal(err.code, ENOENT);
	assert_non_null(strstr(err.msg, "there is no store"));
	assert_null(store_open(f->where, STORE_WRITE, &err));
	assert_int_equal(err.code, ENOENT);
	store_close(fixture_store_open(f, STORE_CREATE));
	store_close(fixture_store_open(f, STORE_READ));
	store_close(fixture_store_open(f, STORE_WRITE));
}

static void a_reader_changes_nothing(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store_bench b = fixture_bench("");
	struct err err = { 0 };
	struct store *s;

	store_close(fixture_store_open(f, STORE_CREATE));
	s = fixture_store_open(f, STORE_READ);
	assert_int_equal(store_add_bench(s, &b, &err), -EROFS);
	assert_non_null(strstr(err.msg, "cannot store bench"));
	assert_int_equal(count(s, (struct store_query){ 0 }), 0);
	store_close(s);
}

static void machines_are_told_apart_by_what_counts(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct store *s = fixture_store_open(f, STORE_CREATE);
	struct store_bench a = fixture_bench(""), b = a, c = a, d = a;

	b.machine.memory_bytes -= 123 << 20;	/* still 16 GiB: what the kernel keeps varies */
	c.machine.governor = "powersave";
	d.machine.cpu_model = "Zen";		/* the same letters, cut elsewhere */
	d.machine.governor = " 4performance";
	fixture_add_bench(s, &a);
	fixture_add_bench(s, &b);
	fixture_add_bench(s, &c);
	fixture_add_bench(s, &d);
	assert_int_equal(a.machine.key, b.machine.key);
	assert_string_equal(a.machine.hash, b.machine.hash);
	assert_string_not_equal(a.machine.hash, c.machine.hash);
	assert_string_not_equal(a.machine.hash, d.machine.hash);
	/* Other stores must come to the same: it does not change between versions. */
	assert_string_equal(a.machine.hash, "e29481128fd89c0c");
	assert_int_equal(rows(f, "machine"), 3);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_BOTH(what_is_added_comes_back),
		FIXTURE_STORE_BOTH(runs_come_as_columns),
		FIXTURE_STORE_BOTH(one_metric_is_a_history),
		FIXTURE_STORE_BOTH(benches_are_found_by_each_of_their_marks),
		FIXTURE_STORE_BOTH(labels_are_listed_the_last_used_first),
		FIXTURE_STORE_BOTH(what_is_forgotten_leaves_nothing),
		FIXTURE_STORE_BOTH(text_that_one_backend_would_refuse_both_refuse),
		FIXTURE_STORE_BOTH(a_run_is_stored_whole_or_not_at_all),
		FIXTURE_STORE_BOTH(a_metric_keeps_its_unit_and_kind),
		FIXTURE_STORE_BOTH(added_together_is_all_or_nothing),
		FIXTURE_STORE_BOTH(details_of_any_size_come_back),
		FIXTURE_STORE_BOTH(an_id_of_another_store_is_kept_and_taken_once),
		FIXTURE_STORE_BOTH(a_store_that_is_not_there_is_only_made_for_writing),
		FIXTURE_STORE_BOTH(a_reader_changes_nothing),
		FIXTURE_STORE_BOTH(machines_are_told_apart_by_what_counts),
	};

	return cmocka_run_group_tests(tests, fixture_store_group_setup,
				      fixture_store_group_teardown);
}
