/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "out_text.h"

/* Splits a record in place into at most @most fields, RFC 4180; returns how many. */
static size_t fields_of(char *line, char **field, size_t most)
{
	size_t n = 0;

	for (;;) {
		char *to = line;

		assert_true(n < most);
		field[n++] = line;
		if (*line == '"') {
			for (line++; *line; line++) {
				if (*line == '"' && line[1] != '"')
					break;
				line += *line == '"';
				*to++ = *line;
			}
			assert_int_equal(*line, '"');
			line++;
		} else {
			for (; *line && *line != ','; line++) {
				assert_int_not_equal(*line, '"');
				*to++ = *line;
			}
		}
		assert_true(*line == ',' || !*line);
		if (!*line) {
			*to = '\0';
			return n;
		}
		line++;
		*to = '\0';
	}
}

static void check_table(char *text, const char *name, bool *formula)
{
	char *line, *save = NULL, *field[64];
	size_t want = 0, n, i;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		n = fields_of(line, field, 64);
		if (want && n != want)
			fail_msg("%s: %zu fields, header has %zu", name, n, want);
		want = want ? want : n;
		for (i = 0; i < n; i++) {
			if (strchr("=@\t\r", field[i][0]) && field[i][0])
				fail_msg("%s: a spreadsheet would run %s", name, field[i]);
			*formula |= field[i][0] == '\'';
		}
	}
	assert_true(want > 1);
}

static void every_table_is_csv_whatever_the_names(void **state)
{
	static const char *const tables[] = { "syscalls", "errors", "findings", "stages", "threads",
		"locks", "wakeups", "pipes", "pipe_ends", "blocked", "loss" };
	bool formula = false;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_hostile(&s);
	for (i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct out_opts opts = { .csv_table = tables[i] };

		out_text("csv", &s, &opts, &text);
		assert_harmless(&text);
		check_table(text.data, tables[i], &formula);
		buf_release(&text);
	}
	assert_true(formula);
	summary_release(&s);
}

static void all_tables_in_one_file(void **state)
{
	struct summary s;
	struct buf text, one;
	char *p, *end;

	(void)state;
	fixture_rich(&s);
	out_text("csv", &s, &(struct out_opts){ 0 }, &text);
	assert_memory_equal(text.data, "# table syscalls\nname,", 22);
	p = strstr(text.data, "\n\n# table locks\n");
	assert_non_null(p);
	p = strchr(p + 2, '\n') + 1;
	end = strstr(p, "\n\n");
	assert_non_null(end);
	end[1] = '\0';
	/* Alone it is the same without its line. */
	out_text("csv", &s, &(struct out_opts){ .csv_table = "locks" }, &one);
	assert_string_equal(one.data, p);
	buf_release(&one);
	buf_release(&text);
	summary_release(&s);
}

static void figures_are_those_of_the_summary(void **state)
{
	struct summary s;
	struct buf text;

	(void)state;
	fixture_rich(&s);
	out_text("csv", &s, &(struct out_opts){ .csv_table = "wakeups" }, &text);
	assert_non_null(strstr(text.data, "0x55d1a40c4080,4210,4212,worker-1,4213,worker-2,"
					  "20040\n"));
	buf_release(&text);
	out_text("csv", &s, &(struct out_opts){ .csv_table = "errors" }, &text);
	assert_string_equal(text.data, "syscall,errno,count\nfutex,EAGAIN,231\nfutex,ETIMEDOUT,11\n"
			    "read,ERESTARTSYS,3\nwait4,ECHILD,1\nopenat,ENOENT,12\n"
			    "restart_syscall,EINTR,1\n");
	buf_release(&text);
	out_text("csv", &s, &(struct out_opts){ .csv_table = "loss" }, &text);
	assert_string_equal(text.data, "ring_full,map_full,recursion,unpaired,stacks,unknown,"
				       "total\n"
				       "1200,0,0,1,0,0,1201\n");
	buf_release(&text);
	summary_release(&s);
}

static void an_unknown_table_is_an_error(void **state)
{
	const struct out_opts opts = { .csv_table = "nonsense" };
	struct out_stream o;
	struct err err = { 0 };
	struct summary s;

	(void)state;
	summary_init(&s);
	assert_int_equal(out_stream_open(&o, "/dev/null", &err), 0);
	assert_int_equal(out_format_csv.summary(&s, &opts, &o, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "nonsense"));
	assert_non_null(strstr(err.hint, "syscalls"));
	assert_int_equal(out_stream_close(&o, &err), 0);
	assert_null(out_format_find("nonsense"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_table_is_csv_whatever_the_names),
		cmocka_unit_test(all_tables_in_one_file),
		cmocka_unit_test(figures_are_those_of_the_summary),
		cmocka_unit_test(an_unknown_table_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
