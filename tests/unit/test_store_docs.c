/* SPDX-License-Identifier: MIT */
/* docs/formats/store.md: its tables are those of a store, its questions have answers. */
#include "fixture_store.h"

#include <inttypes.h>

#include "base/io.h"

#define DOC "docs/formats/store.md"

static struct db *open_db(const struct fixture_store *f)
{
	struct err err = { 0 };
	struct db *db = f->pg ? db_pg_open(f->where, STORE_READ, &err) :
				db_sqlite_open(f->where, STORE_READ, &err);

	if (!db)
		fail_msg("%s", err.msg);
	return db;
}

static char *read_doc(void)
{
	struct buf b = BUF_INIT;

	if (io_read_file(DOC, &b, 1 << 20))
		fail_msg("%s is read from the tree's root", DOC);
	return b.data;
}

/* Two benches of the label 'nightly' and a --vs. */
static void make_store(const struct fixture_store *f)
{
	static const char *const labels[] = { "nightly", "nightly", "", "" };
	struct store *s = fixture_store_open(f, STORE_CREATE);
	char group[STORE_ID_LEN + 1] = "";
	uint64_t i, run;

	for (i = 0; i < 4; i++) {
		struct store_bench b = fixture_bench(labels[i]);

		b.when_ns += i * 1000000000;
		b.commit = i ? "abc123" : "5f3c9a1b";
		b.side = i == 3 ? STORE_BASELINE : STORE_COMMAND;
		snprintf(b.id, sizeof(b.id), "%032" PRIx64, i + 1);
		if (i == 3)
			memcpy(b.group, group, sizeof(group));
		fixture_add_bench(s, &b);
		memcpy(group, b.id, sizeof(group));
		for (run = 0; run < 3; run++)
			fixture_add_run(s, &b, run + (i > 1 ? i : 0));
	}
	store_close(s);
}

/* The rows that @sql gives, columns as @types has them: i, r or t. */
static void ask(struct db *db, const char *sql, const char *types, struct buf *out)
{
	struct err err = { 0 };
	struct db_stmt *st = db_start(db, sql, NULL, 0, &err);
	size_t n;
	int r, i;

	if (!st)
		fail_msg("%s: %s", sql, err.msg);
	while ((r = db_step(st, &err)) > 0) {
		for (i = 0; types[i]; i++) {
			if (types[i] == 'i')
				buf_addf(out, "%" PRId64 " ", db_int(st, i));
			else if (types[i] == 'r')
				buf_addf(out, "%.17g ", db_real(st, i));
			else
				buf_addf(out, "'%s' ", db_bytes(st, i, &n));
		}
		buf_addc(out, '\n');
	}
	db_stop(st);
	if (r)
		fail_msg("%s: %s", sql, err.msg);
}

static void its_questions_have_answers(void **state)
{
	static const struct {
		const char *types, *want;
	} answers[] = {
		{ "tttii",
		  "'00000000000000000000000000000004' '' 'abc123' 1700000003 3 \n"
		  "'00000000000000000000000000000003' '' 'abc123' 1700000002 3 \n"
		  "'00000000000000000000000000000002' 'nightly' 'abc123' 1700000001 3 \n"
		  "'00000000000000000000000000000001' 'nightly' '5f3c9a1b' 1700000000 3 \n" },
		/* Run 0 is a warm-up. */
		{ "tirrr",
		  "'5f3c9a1b' 2 1000000001 1000000001.5 1000000002 \n"
		  "'abc123' 2 1000000001 1000000001.5 1000000002 \n" },
		/* page_faults are the same on both sides. */
		{ "trr", "'futex.wait' 28 21 \n" },
	};
	struct fixture_store *f = fixture_store(state);
	char *doc = read_doc(), *at = doc, *end;
	struct buf out = BUF_INIT;
	struct db *db;
	size_t i;

	make_store(f);
	db = open_db(f);
	for (i = 0; (at = strstr(at, "```sql\n")); i++) {
		at += 7;
		end = strstr(at, "```");
		assert_non_null(end);
		*end = '\0';
		assert_in_range(i, 0, 2);
		buf_reset(&out);
		ask(db, at, answers[i].types, &out);
		assert_string_equal(out.data, answers[i].want);
		at = end + 1;
	}
	assert_int_equal(i, 3);
	db_close(db);
	buf_release(&out);
	free(doc);
}

/* What the document has as tables and their columns: "bench.key", a line each. */
static void add_documented(struct buf *b, const char *doc)
{
	char table[32] = "", column[32];
	const char *line;

	for (line = doc; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "## `%31[a-z]`", table) == 1 || !strncmp(line, "## ", 3)) {
			if (line[3] != '`')
				table[0] = '\0';
			continue;
		}
		if (table[0] && sscanf(line, "| `%31[a-z_]` |", column) == 1)
			buf_addf(b, "%s.%s\n", table, column);
		if (!*line)
			break;
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b)
{
	struct buf sorted = BUF_INIT;
	char *lines[200], *save = NULL, *line;
	size_t n = 0, i;

	for (line = strtok_r(b->data, "\n", &save); line && n < 200;
	     line = strtok_r(NULL, "\n", &save))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), by_name);
	for (i = 0; i < n; i++)
		buf_addf(&sorted, "%s\n", lines[i]);
	buf_release(b);
	*b = sorted;
}

static void its_tables_are_those_of_a_store(void **state)
{
	struct fixture_store *f = fixture_store(state);
	struct buf documented = BUF_INIT, real = BUF_INIT;
	struct err err = { 0 };
	char *doc = read_doc();
	struct db_stmt *st;
	struct db *db;
	size_t n;

	make_store(f);
	db = open_db(f);
	st = db_start(db, f->pg ? "SELECT CAST(table_name || '.' || column_name AS text)"
				  " FROM information_schema.columns WHERE table_schema = 'tracer'" :
				  "SELECT m.name || '.' || c.name FROM sqlite_schema m"
				  " JOIN pragma_table_info(m.name) c WHERE m.type = 'table'",
		      NULL, 0, &err);
	if (!st)
		fail_msg("%s", err.msg);
	while (db_step(st, &err) > 0)
		buf_addf(&real, "%s\n", db_bytes(st, 0, &n));
	db_stop(st);
	db_close(db);
	add_documented(&documented, doc);
	sort_lines(&documented);
	sort_lines(&real);
	assert_string_equal(documented.data, real.data);
	buf_release(&documented);
	buf_release(&real);
	free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_STORE_BOTH(its_questions_have_answers),
		FIXTURE_STORE_BOTH(its_tables_are_those_of_a_store),
	};

	return cmocka_run_group_tests(tests, fixture_store_group_setup,
				      fixture_store_group_teardown);
}
