/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/opts.h"
#include "cli/suggest.h"
#include "cli/term.h"
#include "cli/value.h"
#include "cmd/live_opts.h"

/* Splits @line at blanks and parses it; argv stays alive until the next call. */
static char *argv_[64];
static char line_[512];

static int parse(struct live_opts *o, const struct cli_cmd *cmd, struct err *err, const char *line)
{
	int argc = 0;

	memset(err, 0, sizeof(*err));
	snprintf(line_, sizeof(line_), "%s", line);
	for (char *p = strtok(line_, " "); p; p = strtok(NULL, " "))
		argv_[argc++] = p;
	argv_[argc] = NULL;
	return live_opts_parse(o, cmd, argc, argv_, err);
}

static void expect_error(const struct cli_cmd *cmd, const char *line, const char *msg,
			 const char *hint_part)
{
	struct live_opts o;
	struct err err;

	assert_int_equal(parse(&o, cmd, &err, line), -EINVAL);
	assert_string_equal(err.msg, msg);
	if (hint_part && !strstr(err.hint, hint_part))
		fail_msg("hint '%s' lacks '%s'", err.hint, hint_part);
	live_opts_release(&o);
}

static void all_spellings_of_a_value(void **state)
{
	static const char *const lines[] = {
		"run -d 2m true", "run -d2m true", "run --duration 2m true",
		"run --duration=2m true", "run -qd2m true", "run -fqd 2m -- true",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct live_opts o;
		struct err err;

		assert_int_equal(parse(&o, &run_cmd, &err, lines[i]), 0);
		assert_int_equal(o.duration_ns, 120000000000);
		assert_int_equal(o.argc, 1);
		assert_string_equal(o.argv[0], "true");
		assert_null(o.argv[1]);
		live_opts_release(&o);
	}
}

static void names_of_strace_mean_our_orders(void **state)
{
	static const struct { const char *name; int sort; } rows[] = {
		{ "total-time", LIVE_SORT_TIME }, { "count", LIVE_SORT_CALLS },
		{ "error", LIVE_SORT_ERRORS }, { "avg-time", LIVE_SORT_MEAN },
		{ "longest", LIVE_SORT_MAX }, { "syscall", LIVE_SORT_NAME },
		{ "none", LIVE_SORT_NOTHING },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct live_opts o;
		struct err err;

		char line[40];

		snprintf(line, sizeof(line), "run -S %s true", rows[i].name);
		assert_int_equal(parse(&o, &run_cmd, &err, line), 0);
		assert_int_equal(o.sort, rows[i].sort);
		live_opts_release(&o);
	}
	expect_error(&run_cmd, "run -S min-time true", "-S: 'min-time' is not one of time, cpu, "
		     "calls, errors, mean, p50, p99, max, name, nothing", NULL);
}

static void defaults_differ_by_command(void **state)
{
	struct live_opts o;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &run_cmd, &err, "run true"), 0);
	assert_int_equal(o.mode, LIVE_MODE_EXACT);
	assert_int_equal(o.collect, LIVE_COLLECT_ALL);
	assert_int_equal(o.rows, LIVE_ROWS_DEFAULT);
	live_opts_release(&o);
	assert_int_equal(parse(&o, &attach_cmd, &err, "attach 1"), 0);
	assert_int_equal(o.mode, LIVE_MODE_WAIT);
	live_opts_release(&o);
}

static void run_leaves_the_command_its_options(void **state)
{
	struct live_opts o;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &run_cmd, &err, "run --stacks ls -l --json -- x"), 0);
	assert_true(o.stacks);
	assert_false(o.json);
	assert_int_equal(o.argc, 5);
	assert_string_equal(o.argv[1], "-l");
	assert_string_equal(o.argv[3], "--");
	live_opts_release(&o);
	assert_int_equal(parse(&o, &run_cmd, &err, "run -- -odd -l"), 0);
	assert_string_equal(o.argv[0], "-odd");
	assert_int_equal(o.argc, 2);
	live_opts_release(&o);
}

static void attach_mixes_pids_and_options(void **state)
{
	struct live_opts o;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &attach_cmd, &err,
			       "attach 10 -d 1 11,12 -p 13 --pid=14 10 --json"), 0);
	assert_int_equal(o.pids.n, 5);
	/* Options first, then operands; 10 stands there once. */
	assert_int_equal(o.pids.pid[0], 13);
	assert_int_equal(o.pids.pid[1], 14);
	assert_int_equal(o.pids.pid[2], 10);
	assert_int_equal(o.pids.pid[4], 12);
	assert_true(o.json);
	live_opts_release(&o);
	assert_int_equal(parse(&o, &attach_cmd, &err, "attach --comm worker"), 0);
	assert_int_equal(o.pids.n, 0);
	live_opts_release(&o);
}

static void enums_sets_and_lists(void **state)
{
	struct live_opts o;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &run_cmd, &err, "run --collect futex,sched -S calls "
			       "-e trace=read "
			       "-e !%file -P /a -P /b --color=never --ring 32M x"), 0);
	assert_int_equal(o.collect, 1 << 2 | 1 << 4);
	assert_int_equal(o.sort, LIVE_SORT_CALLS);
	assert_int_equal(o.calls.n, 2);
	assert_string_equal(o.calls.item[0], "read");
	assert_string_equal(o.calls.item[1], "!%file");
	assert_int_equal(o.paths.n, 2);
	assert_string_equal(o.paths.item[1], "/b");
	assert_int_equal(o.color, LIVE_COLOR_NEVER);
	assert_int_equal(o.ring_bytes, 32 << 20);
	live_opts_release(&o);
}

static void lists_grow(void **state)
{
	struct live_opts o;
	struct err err;
	char *argv[202] = { (char *)"run" };

	(void)state;
	for (int i = 1; i < 200; i++)
		argv[i] = (char *)(i & 1 ? "-P" : "/x");
	argv[199] = (char *)"true";
	assert_int_equal(live_opts_parse(&o, &run_cmd, 200, argv, &err), 0);
	assert_int_equal(o.paths.n, 99);
	assert_string_equal(o.paths.item[98], "/x");
	live_opts_release(&o);
}

static void bad_lines_are_explained(void **state)
{
	(void)state;
	expect_error(&run_cmd, "run --colour=never x", "unknown option '--colour'",
		     "did you mean '--color'?");
	expect_error(&run_cmd, "run --start x", "unknown option '--start'", "--start-routine");
	expect_error(&run_cmd, "run --zzzzzzzz x", "unknown option '--zzzzzzzz'",
		     "'tracer run --help'");
	expect_error(&run_cmd, "run -qZ x", "unknown option '-Z'", "--help");
	expect_error(&run_cmd, "run --json=1 x", "option '--json' takes no argument", NULL);
	expect_error(&run_cmd, "run -d", "option '-d' needs an argument: TIME", "--help");
	expect_error(&run_cmd, "run --output", "option '--output' needs an argument: FILE",
		     "--help");
	expect_error(&run_cmd, "run -d 5x x",
		     "-d: '5x' is not a time (as in 10, 1.5s, 500ms, 2m)", NULL);
	expect_error(&run_cmd, "run --ring=-1 x",
		     "--ring: '-1' is not a size (as in 65536, 512K, 32M, 1G)", NULL);
	expect_error(&run_cmd, "run -n 99999999999999999999 x",
		     "-n: '99999999999999999999' is too large for a whole number", NULL);
	expect_error(&run_cmd, "run -S tiem x", "-S: 'tiem' is not one of time, cpu, calls, "
		     "errors, mean, p50, p99, max, name, nothing", "did you mean 'time'?");
	expect_error(&run_cmd, "run --collect=futex,pip x", "--collect: 'pip' is not one of "
		     "syscalls, threads, futex, pipes, sched", "pipes");
	expect_error(&run_cmd, "run --output= x", "--output: FILE is empty", NULL);
	expect_error(&run_cmd, "run", "no command is given", "tracer run -- ls -l");
	expect_error(&run_cmd, "run --json --csv x", "--json, --csv and --folded exclude each "
		     "other", NULL);
	expect_error(&attach_cmd, "attach --csv --folded 1", "--json, --csv and --folded exclude "
		     "each other", NULL);
	expect_error(&run_cmd, "run --folded --collect syscalls x",
		     "--folded: --collect leaves futex out", NULL);
	expect_error(&run_cmd, "run -e inject=read x",
		     "-e: 'inject' is not supported, only trace=CALLS", NULL);
	expect_error(&run_cmd, "run -e trace= x", "-e: no system call is named", NULL);
	expect_error(&run_cmd, "run --ring 4G x", "--ring: at most 2G", NULL);
	expect_error(&attach_cmd, "attach", "no process is given", "--comm");
	expect_error(&attach_cmd, "attach nginx", "'nginx' is not a pid", "pidof");
	expect_error(&attach_cmd, "attach 0", "'0' is not a pid", NULL);
	expect_error(&attach_cmd, "attach -p 4194305", "-p: '4194305' is not a pid", NULL);
	expect_error(&attach_cmd, "attach -p ,", "-p: ',' holds no pid", NULL);
}

static void an_empty_item_is_told_of(void **state)
{
	static const char *const pids[] = { "1,,2", ",1", "1,", "1,\t,2" };
	static const char *const sets[] = { "futex,,sched", ",futex", "futex," };
	static const char *const calls[] = { "read,,write", ",read", "read,", "!", "!,read" };
	struct live_opts o;
	struct err err;
	char line[64], msg[64];
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "attach -p %s", pids[i]);
		snprintf(msg, sizeof(msg), "-p: '%s' has an empty item", pids[i]);
		expect_error(&attach_cmd, line, msg, NULL);
		snprintf(line, sizeof(line), "attach %s", pids[i]);
		expect_error(&attach_cmd, line, msg + 4, "pidof");
	}
	for (i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "run --collect %s x", sets[i]);
		snprintf(msg, sizeof(msg), "--collect: '%s' has an empty item", sets[i]);
		expect_error(&run_cmd, line, msg, NULL);
	}
	for (i = 0; i < 5; i++) {
		snprintf(line, sizeof(line), "run -e trace=%s x", calls[i]);
		snprintf(msg, sizeof(msg), "-e: '%s' has an empty item", calls[i]);
		expect_error(&run_cmd, line, msg, NULL);
	}
	/* What pidof and pgrep print is no such list. */
	assert_int_equal(parse(&o, &attach_cmd, &err, "attach 1,\t2,3\t\t4\n"), 0);
	assert_int_equal(o.pids.n, 4);
	live_opts_release(&o);
}

static void help_ends_the_parse(void **state)
{
	struct live_opts o;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &run_cmd, &err, "run -qh --nonsense"), CLI_WANTS_HELP);
	live_opts_release(&o);
	assert_int_equal(parse(&o, &attach_cmd, &err, "attach 1 --help"), CLI_WANTS_HELP);
	live_opts_release(&o);
	/* Behind the command it is the command's. */
	assert_int_equal(parse(&o, &run_cmd, &err, "run ls --help"), 0);
	live_opts_release(&o);
}

static void values(void **state)
{
	static const struct {
		int (*fn)(const char *s, uint64_t *out);
		const char *s;
		int r;
		uint64_t v;
	} rows[] = {
		{ cli_value_size, "0", 0, 0 },
		{ cli_value_size, "65536", 0, 65536 },
		{ cli_value_size, "512K", 0, 512 << 10 },
		{ cli_value_size, "32m", 0, 32 << 20 },
		{ cli_value_size, "1GiB", 0, 1 << 30 },
		{ cli_value_size, "7B", 0, 7 },
		{ cli_value_size, "2kb", 0, 2048 },
		{ cli_value_size, "16777215T", 0, 16777215ull << 40 },
		{ cli_value_size, "16777216T", -ERANGE, 0 },
		{ cli_value_size, "18446744073709551615", 0, UINT64_MAX },
		{ cli_value_size, "18446744073709551616", -ERANGE, 0 },
		{ cli_value_size, "", -EINVAL, 0 },
		{ cli_value_size, "M", -EINVAL, 0 },
		{ cli_value_size, "1iB", -EINVAL, 0 },
		{ cli_value_size, "1M2", -EINVAL, 0 },
		{ cli_value_size, " 1", -EINVAL, 0 },
		{ cli_value_size, "+1", -EINVAL, 0 },
		{ cli_value_size, "1.5M", -EINVAL, 0 },
		{ cli_value_duration, "10", 0, 10000000000 },
		{ cli_value_duration, "1.5s", 0, 1500000000 },
		{ cli_value_duration, ".2", 0, 200000000 }, { cli_value_duration, ".", -EINVAL, 0 },
		{ cli_value_duration, "", -EINVAL, 0 }, { cli_value_duration, ".s", -EINVAL, 0 },
		{ cli_value_duration, "0.000000001", 0, 1 },
		{ cli_value_duration, "0.0000000019", 0, 1 },
		{ cli_value_duration, "500ms", 0, 500000000 },
		{ cli_value_duration, "1.5us", 0, 1500 },
		{ cli_value_duration, "3ns", 0, 3 },
		{ cli_value_duration, "2m", 0, 120000000000 },
		{ cli_value_duration, "1.5h", 0, 5400000000000 },
		{ cli_value_duration, "18446744073", 0, 18446744073000000000ull },
		{ cli_value_duration, "18446744074", -ERANGE, 0 },
		{ cli_value_duration, "5124096h", -ERANGE, 0 },
		{ cli_value_duration, "0", -EINVAL, 0 },
		{ cli_value_duration, "0.0000000001", -EINVAL, 0 },
		{ cli_value_duration, "1.", -EINVAL, 0 },
		{ cli_value_duration, "5 s", -EINVAL, 0 },
		{ cli_value_duration, "-1", -EINVAL, 0 },
		{ cli_value_duration, "1d", -EINVAL, 0 },
		{ cli_value_uint, "007", 0, 7 },
		{ cli_value_uint, "1e3", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t v = 0;
		int r = rows[i].fn(rows[i].s, &v);

		if (r != rows[i].r || v != rows[i].v)
			fail_msg("'%s': %d, %llu", rows[i].s, r, (unsigned long long)v);
	}
}

static void distances(void **state)
{
	const char *best = NULL;
	unsigned int d = 0;

	(void)state;
	assert_int_equal(cli_distance("", ""), 0);
	assert_int_equal(cli_distance("run", ""), 3);
	assert_int_equal(cli_distance("rnu", "run"), 1);
	assert_int_equal(cli_distance("colour", "color"), 1);
	assert_int_equal(cli_distance("kitten", "sitting"), 3);
	assert_int_equal(cli_distance("ca", "abc"), 3);
	cli_suggest("atach", "run", &best, &d);
	assert_null(best);
	cli_suggest("atach", "attach", &best, &d);
	assert_string_equal(best, "attach");
	cli_suggest("atach", "detach", &best, &d);
	assert_string_equal(best, "attach");
	best = NULL;
	cli_suggest("xyz", "run", &best, &d);
	assert_null(best);
}

static void messages_cannot_steer_a_terminal(void **state)
{
	struct buf b = BUF_INIT;
	struct err err;

	(void)state;
	err_set(&err, EINVAL, "unknown option '--\033]0;x\007\xc2\x9b\x7f\xc3\xa9'");
	err_hint(&err, "try\n--help");
	cli_err_text(&b, "tracer", &err);
	assert_string_equal(b.data, "tracer: unknown option '--\\x1b]0;x\\x07\\xc2\\x9b\\x7f"
			    "\xc3\xa9'\ntracer: try\\x0a--help\n");
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_spellings_of_a_value),
		cmocka_unit_test(names_of_strace_mean_our_orders),
		cmocka_unit_test(defaults_differ_by_command),
		cmocka_unit_test(run_leaves_the_command_its_options),
		cmocka_unit_test(attach_mixes_pids_and_options),
		cmocka_unit_test(enums_sets_and_lists),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(bad_lines_are_explained),
		cmocka_unit_test(an_empty_item_is_told_of),
		cmocka_unit_test(help_ends_the_parse),
		cmocka_unit_test(values),
		cmocka_unit_test(distances),
		cmocka_unit_test(messages_cannot_steer_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
