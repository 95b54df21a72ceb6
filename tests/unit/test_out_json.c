/* SPDX-License-Identifier: MIT */
#include "out_text.h"

#include "json_check.h"
#include "out/json.h"

static void assert_json(const struct buf *text)
{
	size_t where;

	if (!json_check(text->data, text->len, &where))
		fail_msg("no JSON from byte %zu on: %.80s", where, text->data + where);
}

static void the_judge_judges(void **state)
{
	static const char *const good[] = { "{}", "[1,-2.5,\"a\\u00e9\",true,false,null]\n",
					    "{\"a\":[{}]}" };
	static const char *const bad[] = {
		"",        "{",     "[1,]",  "{\"a\" 1}",   "[01]",
		"[1.]",    "[NaN]", "[inf]", "\"\xff\"",    "\"\n\"",
		"\"\\x\"", "[1] 2", "{a:1}", "\"\\u12g4\"", "[--1]",
	};
	size_t i, where;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(json_check(good[i], strlen(good[i]), &where));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(json_check(bad[i], strlen(bad[i]), &where));
}

static void any_summary_is_json(void **state)
{
	static void (*const fill[])(struct summary *) = { fixture_rich, fixture_hostile,
							  fixture_huge };
	const struct out_opts opts = OUT_OPTS_INIT;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		fill[i](&s);
		out_text("json", &s, &opts, &text);
		assert_json(&text);
		assert_harmless(&text);
		buf_release(&text);
		summary_release(&s);
	}
	fixture_empty(&s, SUM_WAIT, 0);
	out_text("json", &s, &opts, &text);
	assert_json(&text);
	assert_non_null(strstr(text.data, "\"command\": null"));
	assert_non_null(strstr(text.data, "\"exit\": null"));
	assert_non_null(strstr(text.data, "\"ns_per_syscall\": null"));
	buf_release(&text);
	summary_release(&s);
}

/* The contract's names and a value of each kind, as text: others read them. */
static void the_contract_is_kept(void **state)
{
	static const char *const parts[] = {
		"\"schema\": \"tracer.summary/1\"",
		"\"tracer\": \"0.1.0\"",
		"\"code\": 3,",
		"\"mode\": \"exact\"",
		"\"duration_ns\": 2413000000",
		"\"id\": \"contended-lock\"",
		"\"evidence\": {\"wait_ns\": 1290000000, \"share\": 0.535}",
		"\"created\": 1200",
		"\"cost_ns\": {",
		"\"stages\": [",
		"\"name\": \"stack\"",
		"\"by_thread\": [",
		"\"lifetime_ns\":",
		"\"addr\": \"0x55d1a40c4080\"",
		"\"symbol\": \"queue_lock\"",
		"\"kind\": \"private\"",
		"\"waits\": 40100",
		"\"wasted_wakes\": 1204",
		"\"wait_ns\": {",
		"{\"waker\": 4212, \"waiter\": 4213, \"count\": 20040",
		"\"site\": [{\"ip\":",
		"\"futex\": {",
		"\"eagain\": 211",
		"\"writers\": [4301]",
		"\"readers\": [4302]",
		"\"chunks_written\": 100003",
		"\"chunk_bytes\": {",
		"\"writer_blocked_ns\": 1213000000",
		"\"futex_per_chunk\": 2,",
		"\"by_errno\": {\"EAGAIN\": 231, \"ETIMEDOUT\": 11}",
		"\"by_errno\": {\"ERESTARTSYS\": 3}",
		"\"ns_per_syscall\": 212",
		"\"ring_full\": 1200",
		"\"total\": 1201",
		"\"sched\": {\n    \"cpus\": 4,",
		"\"calls\": null,\n    \"paths\": []",
		"\"line\": 88",
	};
	static const char *const paths[] = { "/etc/hosts", "/" };
	const struct out_opts opts = OUT_OPTS_INIT;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_rich(&s);
	out_text("json", &s, &opts, &text);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strstr(text.data, parts[i]))
			fail_msg("not there: %s", parts[i]);
	buf_release(&text);
	s.exit_signal = 9;
	s.sched.cpus = 0;
	s.calls = "read,%file";
	s.paths = paths;
	s.npaths = 2;
	out_text("json", &s, &opts, &text);
	assert_non_null(strstr(text.data, "\"cpus\": null"));
	assert_non_null(strstr(text.data, "\"calls\": \"read,%file\",\n    \"paths\": [\n"
			       "      \"/etc/hosts\",\n      \"/\"\n    ]"));
	assert_non_null(strstr(text.data, "\"code\": null,\n    \"signal\": 9\n"));
	buf_release(&text);
	summary_release(&s);
}

/* A lock, a pipe, a call and a thread of wait mode: null, and no 0 that nobody counted. */
static void wait_mode_claims_nothing_it_does_not_see(void **state)
{
	static const char *const nulls[] = {
		"\"wakes\": null", "\"wasted_wakes\": null", "\"eagain\": null", "\"calls\": null",
		"\"chunks_written\": null", "\"bytes\": null", "\"chunk_bytes\": null",
		"\"futex_per_chunk\": null", "\"by_errno\": null", "\"cpu_ns\": null",
		"\"futex_calls\": null",
	};
	static const char *const gone[] = {
		"\"by_errno\": {", "\"chunk_bytes\": {", "\"clone\": ",
	};
	const struct out_opts opts = OUT_OPTS_INIT;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_rich(&s);
	s.mode = SUM_WAIT;
	out_text("json", &s, &opts, &text);
	assert_json(&text);
	for (i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		if (!strstr(text.data, nulls[i]))
			fail_msg("not there: %s", nulls[i]);
	for (i = 0; i < sizeof(gone) / sizeof(*gone); i++)
		if (strstr(text.data, gone[i]))
			fail_msg("there: %s", gone[i]);
	buf_release(&text);
	summary_release(&s);
}

static void start_routines_only_when_asked_for(void **state)
{
	static const char *const parts[] = {
		"\"routines\": {",
		"\"timed\": 4",
		"\"untimed\": 2",
		"\"symbol\": \"handle_request\"",
		"\"addr\": \"0x55d0c0de1230\"",
		"\"symbol\": null",
		"\"module\": \"/usr/lib/libz.so.1\"",
		"\"name\": \"routine\"",
		"\"routine\": 4800",
		"\"routine\": \"handle_request\"",
		"\"routine\": null",
		"\"ns_per_start_routine\": 5300",
		"\"ns_in_routine_stage\": 4400",
	};
	const struct out_opts opts = OUT_OPTS_INIT;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_rich(&s);
	out_text("json", &s, &opts, &text);
	assert_null(strstr(text.data, "\"routine"));
	assert_non_null(strstr(text.data, "\"ns_per_start_routine\": null"));
	buf_release(&text);
	fixture_routines(&s);
	out_text("json", &s, &opts, &text);
	assert_json(&text);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strstr(text.data, parts[i]))
			fail_msg("not there: %s", parts[i]);
	buf_release(&text);
	summary_release(&s);
}

/* What is shown is an affair of the tables; --json has it all. */
static void options_change_nothing(void **state)
{
	const struct out_opts none = { .rows = 1, .sort = OUT_SORT_NAME };
	const struct out_opts all = { .threads = true, .stacks = true };
	struct summary s;
	struct buf a, b;

	(void)state;
	fixture_rich(&s);
	out_text("json", &s, &none, &a);
	out_text("json", &s, &all, &b);
	assert_string_equal(a.data, b.data);
	buf_release(&a);
	buf_release(&b);
	summary_release(&s);
}

static void reals_are_decimal_or_null(void **state)
{
	static const struct { double v; const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ -1, "-1" },
		{ 0.5, "0.5" },
		{ 2.0, "2" },
		{ 0.535, "0.535" },
		{ 0.9999999, "1" },
		{ -0.25, "-0.25" },
		{ 1e15, "1000000000000000" },
		{ 0.000001, "0.000001" },
		{ 1e300, "null" },
		{ __builtin_inf(), "null" },
		{ __builtin_nan(""), "null" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct out_stream o;
		struct err err = { 0 };
		struct json j;

		assert_int_equal(out_stream_open(&o, "/dev/null", &err), 0);
		json_init(&j, &o);
		json_real(&j, NULL, rows[i].v);
		assert_string_equal(j.buf.data, rows[i].text);
		assert_int_equal(json_finish(&j), 0);
		assert_int_equal(out_stream_close(&o, &err), 0);
	}
}

/* What HTML would take for the script's end, or for a comment, is not there. */
static void json_inside_a_page_has_no_tags(void **state)
{
	struct out_stream o;
	struct err err = { 0 };
	struct json j;

	(void)state;
	assert_int_equal(out_stream_open(&o, "/dev/null", &err), 0);
	json_init_html(&j, &o);
	json_array(&j, NULL);
	json_str(&j, NULL, "a</script><!--b");
	json_str(&j, NULL, "plain");
	json_end(&j);
	assert_string_equal(j.buf.data, "[\n  \"a\\u003c/script>\\u003c!--b\",\n  \"plain\"\n]");
	assert_int_equal(json_finish(&j), 0);
	assert_int_equal(out_stream_close(&o, &err), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_judge_judges),
		cmocka_unit_test(any_summary_is_json),
		cmocka_unit_test(the_contract_is_kept),
		cmocka_unit_test(wait_mode_claims_nothing_it_does_not_see),
		cmocka_unit_test(start_routines_only_when_asked_for),
		cmocka_unit_test(options_change_nothing),
		cmocka_unit_test(reals_are_decimal_or_null),
		cmocka_unit_test(json_inside_a_page_has_no_tags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
