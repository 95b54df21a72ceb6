/* SPDX-License-Identifier: MIT */
/* Timelines: those drawn of a summary, and those that are read from a file. */
#include "out_text.h"

#include "json_check.h"
#include "out/timeline.h"

#define BEGIN "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
#define ONE "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"a\"}"
#define TWO "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1.000,\"dur\":2.5,\"args\":{\"a\":[1]}}"
#define END "\n]}\n"

static void copy(const char *text, size_t len, struct timeline *t, struct buf *out)
{
	struct err err = { 0 };
	struct out_stream o;
	int fd = memfd_create("out", MFD_CLOEXEC);

	if (timeline_check(t, text, len, &err))
		fail_msg("%s", err.msg);
	*out = (struct buf)BUF_INIT;
	assert_int_equal(out_stream_init(&o, fd, "memory", 0, &err), 0);
	timeline_write(t, text, len, &o);
	assert_int_equal(out_stream_close(&o, &err), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(io_read_fd(fd, out, 1 << 20), 0);
	close(fd);
}

static void a_whole_file_stays_as_it_is(void **state)
{
	static const char text[] = BEGIN ONE ",\n" TWO END;
	struct timeline t;
	struct buf out;

	(void)state;
	assert_true(timeline_is(text, strlen(text)));
	copy(text, strlen(text), &t, &out);
	assert_string_equal(out.data, text);
	assert_int_equal(t.events, 2);
	assert_false(t.cut);
	buf_release(&out);
}

/* Wherever a file is cut, its whole events are a file. */
static void a_cut_file_is_ended(void **state)
{
	static const char text[] = BEGIN ONE ",\n" TWO ",\n" ONE END;
	const size_t begin = strlen(BEGIN), one = begin + strlen(ONE), two = one + 2 + strlen(TWO);
	struct timeline t;
	struct buf out;
	size_t len, where;

	(void)state;
	for (len = begin - 1; len < strlen(text) - strlen(END); len++) {
		copy(text, len, &t, &out);
		assert_true(t.cut);
		assert_int_equal(t.events, (len >= one) + (len >= two));
		if (!json_check(out.data, out.len, &where))
			fail_msg("cut at %zu: no JSON from %zu on: %s", len, where, out.data);
		buf_release(&out);
	}
}

static void what_is_no_timeline_is_told(void **state)
{
	static const struct { const char *text, *msg; } rows[] = {
		{ BEGIN "{\"pid\":1}" END, "line 2, column 9: an event without \"ph\"" },
		{ BEGIN "{\"ph\":\"XX\"}" END, "\"ph\" is not one letter" },
		{ BEGIN "{\"ph\":\"X\",\"ts\":\"1\"}" END, "expected a number, not a string" },
		{ BEGIN "7" END, "expected an object, not a number" },
		{ BEGIN ONE " " ONE END, "expected a comma or ]" },
		{ BEGIN ONE "\n],\"traceEvents\":[]}", "\"traceEvents\" stands there twice" },
		{ "{\"displayTimeUnit\":\"ns\"}", "\"traceEvents\" is missing" },
		{ BEGIN ONE END "x", "something follows its end" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err err = { 0 };
		struct timeline t;

		assert_int_equal(timeline_check(&t, rows[i].text, strlen(rows[i].text), &err),
				 -EINVAL);
		if (!strstr(err.msg, rows[i].msg))
			fail_msg("'%s' lacks '%s'", err.msg, rows[i].msg);
	}
	assert_false(timeline_is("{\"schema\": 1}", 13));
	assert_false(timeline_is("", 0));
}

static void a_summary_is_drawn(void **state)
{
	static void (*const fill[])(struct summary *) = { fixture_rich, fixture_hostile,
							  fixture_huge };
	struct timeline t;
	struct summary s;
	struct buf text;
	struct err err = { 0 };
	size_t i, where;

	(void)state;
	for (i = 0; i < 3; i++) {
		fill[i](&s);
		out_text("perfetto", &s, &(struct out_opts){ 0 }, &text);
		if (!json_check(text.data, text.len, &where))
			fail_msg("no JSON from %zu on", where);
		assert_harmless(&text);
		assert_int_equal(timeline_check(&t, text.data, text.len, &err), 0);
		/* A life and a name for each at least. */
		assert_true(t.events > 2 * s.threads.nby_thread);
		buf_release(&text);
		summary_release(&s);
	}
}

/* Where figures of a creator overlap, the later slice is cut: a track's slices nest. */
static void creations_share_a_track(void **state)
{
	static const char *const parts[] = {
		"\"tid\":10,\"ts\":0.200,\"dur\":0.100,\"cat\":\"stage\",\"name\":\"map a stack\"",
		"\"tid\":10,\"ts\":0.300,\"dur\":0.200,\"cat\":\"stage\",\"name\":\"clone\"",
		"\"tid\":10,\"ts\":0.500,\"dur\":0.050,\"cat\":\"stage\",\"name\":\"clone\"",
		"\"tid\":12,\"ts\":0.570,\"dur\":0.030,\"cat\":\"stage\",\"name\":\"exit\"",
	};
	struct summary s;
	struct buf text;
	size_t i;

	(void)state;
	fixture_empty(&s, SUM_EXACT, SUM_THREADS);
	s.threads.nby_thread = 3;
	FIXTURE_ARRAY(s.threads.by_thread, 3);
	for (i = 0; i < 3; i++)
		s.threads.by_thread[i] = (struct sum_thread){
			.tid = (pid_t)(10 + i), .tgid = 10, .parent = i ? 10 : 1, .created = i > 0,
			.start_ns = i ? 450 + 50 * i : 0, .lifetime_ns = i ? 50 : 1000,
			.stage_ns = { [SUM_STAGE_STACK] = i ? 100 : 0,
				      [SUM_STAGE_CLONE] = i ? 200 : 0,
				      [SUM_STAGE_EXIT] = i ? 30 : 0 },
		};
	out_text("perfetto", &s, &(struct out_opts){ 0 }, &text);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (!strstr(text.data, parts[i]))
			fail_msg("not there: %s in %s", parts[i], text.data);
	buf_release(&text);
	summary_release(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_stays_as_it_is),
		cmocka_unit_test(a_cut_file_is_ended),
		cmocka_unit_test(what_is_no_timeline_is_told),
		cmocka_unit_test(a_summary_is_drawn),
		cmocka_unit_test(creations_share_a_track),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
