/* SPDX-License-Identifier: MIT */
#include "out_text.h"

#include <math.h>

#include "out/summary_read.h"

static void read_ok(struct summary_file *f, const struct buf *text)
{
	struct err err = { 0 };

	if (summary_read(f, text->data, text->len, &err))
		fail_msg("%s", err.msg);
}

static void same_text(const struct buf *got, const struct buf *wanted)
{
	size_t i, line = 1;

	for (i = 0; i < got->len && i < wanted->len && got->data[i] == wanted->data[i]; i++)
		line += got->data[i] == '\n';
	if (got->len != wanted->len || i < got->len)
		fail_msg("line %zu: got %.60s, want %.60s", line, got->data + i, wanted->data + i);
}

/* It has figures that wait mode never has, and JSON leaves out: no other format is the same. */
static void wait_mode(struct summary *s)
{
	fixture_rich(s);
	s->mode = SUM_WAIT;
	s->judged = (struct sum_judged){ 20, 9, 8, 3 };
}

static void with_kernel(struct sum_site *site)
{
	site->nkernel = 2;
	FIXTURE_ARRAY(site->kernel, 2);
	fixture_frame(&site->kernel[0], 0, "futex_do_wait", "[kernel]", NULL, 0);
	fixture_frame(&site->kernel[1], 0, NULL, "[nf_tables]", NULL, 0);
	site->kernel[0].kernel = site->kernel[1].kernel = true;
	site->kernel[0].offset = 0x2c;
}

static void with_routines(struct summary *s)
{
	fixture_rich(s);
	fixture_routines(s);
	s->exit_signal = 9;
	s->exit_code = 0;
	with_kernel(&s->lock[0].site[0]);
	s->lock[0].module_offset = UINT64_MAX;
	s->lock[0].site[0].frame[0].module_offset = 0x1170;
	s->lock[0].site[0].frame[1].inlined = true;
	s->lock[0].site[0].frame[1].offset = 0;
	s->comm = "work.*";
	s->cgroup = "/system.slice";
	s->calls = "read,%file";
}

static void nothing_seen(struct summary *s)
{
	fixture_empty(s, SUM_WAIT, SUM_FUTEX);
}

static const struct { void (*fill)(struct summary *); bool plain; } summaries[] = {
	{ fixture_rich, true }, { wait_mode, false }, { with_routines, true },
	{ nothing_seen, true }, { fixture_hostile, false }, { fixture_huge, false },
};
#define SUMMARIES (sizeof(summaries) / sizeof(*summaries))

static void what_went_out_comes_back(void **state)
{
	const struct out_opts opts = OUT_OPTS_INIT;
	struct buf first, second;
	struct summary_file f;
	struct summary s;
	size_t i;

	(void)state;
	for (i = 0; i < SUMMARIES; i++) {
		summaries[i].fill(&s);
		out_text("json", &s, &opts, &first);
		read_ok(&f, &first);
		out_text("json", &f.s, &opts, &second);
		same_text(&second, &first);
		buf_release(&first);
		buf_release(&second);
		summary_file_release(&f);
		summary_release(&s);
	}
}

/* Names that JSON has to replace apart, all other formats print the same as well. */
static void the_other_formats_lose_nothing(void **state)
{
	static const char *const formats[] = { "table", "csv", "folded" };
	struct out_opts opts = { .threads = true, .stacks = true, .width = 120 };
	struct buf json, first, second;
	struct summary_file f;
	struct summary s;
	size_t i, k;

	(void)state;
	for (i = 0; i < SUMMARIES; i++) {
		if (!summaries[i].plain)
			continue;
		summaries[i].fill(&s);
		out_text("json", &s, &opts, &json);
		read_ok(&f, &json);
		for (k = 0; k < sizeof(formats) / sizeof(*formats); k++) {
			out_text(formats[k], &s, &opts, &first);
			out_text(formats[k], &f.s, &opts, &second);
			same_text(&second, &first);
			buf_release(&first);
			buf_release(&second);
		}
		buf_release(&json);
		summary_file_release(&f);
		summary_release(&s);
	}
}

#define HEAD "{\"schema\": \"tracer.summary/1\", \"mode\": \"exact\""

static void read_text(struct summary_file *f, const char *text)
{
	const struct buf b = { .data = (char *)(uintptr_t)text, .len = strlen(text) };

	read_ok(f, &b);
}

static void order_and_strangers_do_not_matter(void **state)
{
	struct summary_file f;

	(void)state;
	read_text(&f, "{\"new\": [{\"a\": [1, {}]}, \"\\ud83d\\ude00\"], \"threads\": "
		  "{\"by_thread\": [{\"routine\": \"b\", \"tid\": 7, "
		  "\"stages\": {\"nap\": {}, \"exit\": 3}}], "
		  "\"routines\": {\"by_routine\": [{\"symbol\": null}, {\"symbol\": \"c\"}, "
		  "{\"symbol\": \"b\"}]}}, \"mode\": \"exact\", \"schema\": \"tracer.summary/1\"}");
	assert_int_equal(f.s.mode, SUM_EXACT);
	assert_int_equal(f.s.threads.nby_thread, 1);
	assert_int_equal(f.s.threads.by_thread[0].tid, 7);
	assert_int_equal(f.s.threads.by_thread[0].routine, 3);
	assert_int_equal(f.s.threads.by_thread[0].stage_ns[SUM_STAGE_EXIT], 3);
	summary_file_release(&f);
}

static void all_64_bits_are_kept(void **state)
{
	struct summary_file f;

	(void)state;
	read_text(&f, HEAD ", \"duration_ns\": 18446744073709551615, \"still_running\": 5.0, "
		  "\"compat_calls\": 2e3, \"hidden_programs\": 3, "
		  "\"overhead\": {\"ns_per_futex\": -9223372036854775808}, "
		  "\"pipes\": [{\"kind\": \"fifo\", \"inode\": 9223372036854775809}]}");
	assert_true(f.s.duration_ns == UINT64_MAX);
	assert_int_equal(f.s.still_running, 5);
	assert_int_equal(f.s.compat_calls, 2000);
	assert_int_equal(f.s.hidden, 3);
	assert_true(f.s.overhead.ns_per_futex == INT64_MIN);
	assert_true(f.s.pipe[0].inode == (1ull << 63) + 1);
	summary_file_release(&f);
}

static void near(uint64_t got, uint64_t wanted)
{
	if (fabs((double)got - (double)wanted) > 0.25 * (double)wanted)
		fail_msg("got %" PRIu64 ", want about %" PRIu64, got, wanted);
}

/* As files have it that were written before there were buckets. */
static void quantiles_without_buckets_are_near(void **state)
{
	struct summary_file f;
	const struct hist *h;

	(void)state;
	read_text(&f, HEAD ", \"syscalls\": [{\"name\": \"read\", \"calls\": 40, "
		  "\"total_ns\": 9000, \"p50_ns\": 100, \"p99_ns\": 3000, \"max_ns\": 5000}], "
		  "\"sched\": {\"runq_ns\": "
		  "{\"count\": 1000, \"total\": 7, \"p50\": 10, \"p99\": 70000, \"max\": 90000}}}");
	h = &f.s.sched.runq;
	near(hist_quantile(h, 0.5), 10);
	near(hist_quantile(h, 0.99), 70000);
	assert_int_equal(hist_quantile(h, 1), 90000);
	h = &f.s.syscall[0].wall;
	assert_int_equal(h->count, 40);
	assert_int_equal(h->sum, 9000);
	near(hist_quantile(h, 0.5), 100);
	summary_file_release(&f);
}

static void errors_say_where_and_what(void **state)
{
	static const struct { const char *text; int code; const char *msg; } rows[] = {
		{ "", EINVAL, "line 1, column 1: it ends too soon" },
		{ "[]", EINVAL, "line 1, column 1: expected an object, not an array" },
		{ "{}", EINVAL, "line 1, column 2: 'schema' is missing" },
		{ "{\"schema\": \"tracer.summary/1\"}", EINVAL, "'mode' is missing" },
		{ "{\"schema\": \"tracer.summary/2\"}", EPROTO,
		  "schema: it is 'tracer.summary/2', and this tracer reads tracer.summary/1" },
		{ "{\"schema\": \"tracer.top/1\"}", EINVAL, "it is 'tracer.top/1'" },
		{ "{\"schema\": 1}", EINVAL, "schema: expected a string, not a number" },
		{ HEAD ",\n \"pids\": [1, \"2\"]}", EINVAL,
		  "line 2, column 14: pids: expected a number, not a string" },
		{ HEAD ", \"threads\": {\"by_thread\": [{\"tid\": 1}, {\"tid\": 1, \"calls\": "
		  "-1}]}}", EINVAL, "threads.by_thread[1].calls: a number is below 0" },
		{ HEAD ", \"threads\": {\"by_thread\": [{\"comm\": \"a\"}]}}", EINVAL,
		  "threads.by_thread[0]: 'tid' is missing" },
		{ HEAD ", \"threads\": {\"by_thread\": [{\"tid\": 1, \"comm\": "
		  "\"0123456789abcdef0\"}]}}", EINVAL, "comm: a thread's name has more than 16" },
		{ HEAD ", \"duration_ns\": 18446744073709551616}", EINVAL,
		  "duration_ns: a number is too large" },
		{ HEAD ", \"duration_ns\": 1.5}", EINVAL, "expected a whole number" },
		{ HEAD ", \"duration_ns\": 01}", EINVAL, "a number is not written as JSON wants" },
		{ HEAD ", \"duration_ns\": +1}", EINVAL, "duration_ns: expected a number" },
		{ HEAD ", \"duration_ns\": 1, \"duration_ns\": 1}", EINVAL,
		  "duration_ns: it stands there twice" },
		{ HEAD ", \"locks\": [{\"addr\": \"12\"}]}", EINVAL,
		  "locks[0].addr: expected an address" },
		{ HEAD ", \"locks\": [{\"addr\": \"0x 1\"}]}", EINVAL, "expected an address" },
		{ HEAD ", \"locks\": [{\"addr\": \"0x1\", \"kind\": \"soft\"}]}", EINVAL,
		  "locks[0].kind: 'soft' is not known" },
		{ HEAD ", \"locks\": [{\"addr\": null}]}", EINVAL, "locks[0].addr: it is null" },
		{ HEAD ", \"locks\": [{\"addr\": \"0x1\", \"kind\": \"pi\", \"sites\": "
		  "[{\"frames\": [{\"kernel\": true}]}]}]}", EINVAL,
		  "locks[0].sites[0]: a frame of the kernel has no 'module'" },
		{ HEAD ", \"exit\": {\"code\": 4294967296}}", EINVAL,
		  "exit.code: a number is out of" },
		{ HEAD ", \"sched\": {\"runq_ns\": {\"buckets\": [[5, 1], [5, 1]]}}}", EINVAL,
		  "sched.runq_ns.buckets: a bucket is not one" },
		{ HEAD ", \"sched\": {\"runq_ns\": {\"buckets\": [[9, 1]]}}}", EINVAL,
		  "a bucket is not" },
		{ HEAD ", \"sched\": {\"runq_ns\": {\"buckets\": [[1, 1, 1]]}}}", EINVAL,
		  "a bucket is [from, count]" },
		{ HEAD ", \"syscalls\": [{\"name\": \"x\", \"by_errno\": {\"EX\": 1}}]}", EINVAL,
		  "'EX' is no error's name" },
		{ HEAD ", \"x\": \"\xff    \"}", EINVAL, "a string is not UTF-8" },
		{ HEAD ", \"x\": \"\\ud800\"    }", EINVAL, "half a surrogate pair" },
		{ HEAD ", \"x\": \"\\u0000\"}", EINVAL, "\\u0000 stands in a string" },
		{ HEAD ", \"x\": \"\n\"}", EINVAL, "a control character stands in a string" },
		{ HEAD ", \"x\": \"\\x41\"}", EINVAL, "an unknown escape" },
		{ HEAD ", \"x\": [1,]}", EINVAL, "nothing follows the comma" },
		{ HEAD ", \"x\": [1 2]}", EINVAL, "expected a comma or ]" },
		{ HEAD ", \"x\": tru}", EINVAL, "expected true, false or null" },
		{ HEAD ", \"x\": {1: 2}}", EINVAL, "expected a name in quotes" },
		{ HEAD ", \"x\": 1", EINVAL, "it ends too soon" },
		{ HEAD "} {", EINVAL, "something follows its end" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = { 0 };
		struct summary_file f;

		if (summary_read(&f, rows[i].text, strlen(rows[i].text), &err) != -rows[i].code)
			fail_msg("%s: %s", rows[i].text, err.msg);
		if (!strstr(err.msg, rows[i].msg))
			fail_msg("%s: '%s' lacks '%s'", rows[i].text, err.msg, rows[i].msg);
	}
}

/* Wherever a file is cut, that is an error, and never more than that. */
static void a_cut_file_is_an_error_at_each_byte(void **state)
{
	const struct out_opts opts = OUT_OPTS_INIT;
	struct summary_file f;
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_hostile(&s);
	out_text("json", &s, &opts, &text);
	/* All but the newline behind the last brace. */
	for (i = 0; i + 1 < text.len; i += 1 + i % 7) {
		struct err err = { 0 };

		assert_int_equal(summary_read(&f, text.data, i, &err), -EINVAL);
		assert_true(strlen(err.msg) > 10);
	}
	buf_release(&text);
	summary_release(&s);
}

static void what_is_too_much_is_refused(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = { 0 };
	struct summary_file f;
	int i;

	(void)state;
	buf_adds(&b, HEAD ", \"x\": ");
	for (i = 0; i < 100; i++)
		buf_addc(&b, '[');
	assert_int_equal(summary_read(&f, b.data, b.len, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "it is nested too deep"));
	/* A lock in 30 bytes of text takes 1.6 KB of memory. */
	buf_reset(&b);
	buf_adds(&b, HEAD ", \"locks\": [{\"addr\":\"0x1\",\"kind\":\"pi\"}");
	for (i = 0; i < 300000; i++)
		buf_adds(&b, ",{\"addr\":\"0x1\",\"kind\":\"pi\"}");
	buf_adds(&b, "]}");
	assert_int_equal(summary_read(&f, b.data, b.len, &err), -EFBIG);
	assert_non_null(strstr(err.msg, "takes more than 512 MiB"));
	buf_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_went_out_comes_back),
		cmocka_unit_test(the_other_formats_lose_nothing),
		cmocka_unit_test(order_and_strangers_do_not_matter),
		cmocka_unit_test(all_64_bits_are_kept),
		cmocka_unit_test(quantiles_without_buckets_are_near),
		cmocka_unit_test(errors_say_where_and_what),
		cmocka_unit_test(a_cut_file_is_an_error_at_each_byte),
		cmocka_unit_test(what_is_too_much_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
