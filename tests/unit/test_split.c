/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "tape_through.h"

#define CASES 30000

static struct tape_splitter *make(struct tape_select sel)
{
	char message[TAPE_MESSAGE_BYTES];
	struct tape_splitter *s;

	sel.size = sizeof(sel);
	sel.pattern_bytes = sel.pattern ? strlen(sel.pattern) : 0;
	sel.delimiter_bytes = sel.delimiter ? strlen(sel.delimiter) : 0;
	s = tape_splitter_new(&sel, message);
	if (!s)
		fail_msg("%s", message);
	return s;
}

/* @text with the holes between brackets. */
static const char *shown(struct tape_select sel, const char *text)
{
	static char out[512];
	struct tape_splitter *s = make(sel);
	const size_t n = strlen(text);
	struct tape_span hole;
	ptrdiff_t bytes;
	size_t o = 0, at = 0, seen;

	for (; at < n; at += (size_t)bytes) {
		bytes = tape_splitter_record(s, text + at, n - at, true);
		assert_true(bytes > 0);
		for (seen = 0; tape_splitter_holes(s, &hole, 1) == 1; seen = hole.end)
			o += (size_t)snprintf(out + o, sizeof(out) - o, "%.*s%c%.*s]",
					      (int)(hole.start - seen), text + at + seen,
					      "[{<"[hole.kind], (int)(hole.end - hole.start),
					      text + at + hole.start);
		o += (size_t)snprintf(out + o, sizeof(out) - o, "%.*s", (int)((size_t)bytes - seen),
				      text + at + seen);
	}
	tape_splitter_free(s);
	return out;
}

static void each_way_finds_its_holes(void **state)
{
	(void)state;
	assert_string_equal(shown((struct tape_select){ .by = TAPE_LINES, .list = "2" },
				  "a\nb\r\nc"), "a\n[b]\r\nc");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_CHARS, .list = "2-3" },
				  "abcd\n\ne"), "a[bc]d\n\ne");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_FIELDS, .list = "1,3" },
				  " a b\n"), "[] a [b]\n");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_FIELDS_AT, .list = "2-",
				  .delimiter = "::" }, "a::b:c::\n"), "a::[b:c]::[]\n");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_FIELDS_MATCHING, .list = "2",
				  .pattern = "[,;]+" }, "a,;b;c\n"), "a,;[b];c\n");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_MATCHES, .pattern = "b*" },
				  "abba\n"), "[]a[bb]a[]\n");
	assert_string_equal(shown((struct tape_select){ .by = TAPE_MATCHING, .pattern = "x",
				  .before = 1, .after = 1 }, "a\nb\nx\nc\nd\n"),
			    "a\n[b]\n[x]\n[c]\nd\n");
}

static void csv_is_rfc_4180(void **state)
{
	const struct tape_select two = { .by = TAPE_CSV, .list = "2" };
	struct tape_select sel = two;

	(void)state;
	assert_string_equal(shown(two, "a,b,c\n,,\n"), "a,[b],c\n,,\n");
	assert_string_equal(shown(two, "a,\"b\"\"\",c\n"), "a,[\"b\"\"\"],c\n");
	assert_string_equal(shown(two, "a,\"b\n\nc\",d\n1,2\n"), "a,[\"b]\n[]\n[c\"],d\n1,[2]\n");
	assert_string_equal(shown(two, "a,\"b"), "a,[\"b]");
	sel.whole = true;
	assert_string_equal(shown(sel, "a,\"b\n\nc\",d\n1,2\n"), "a,[\"b\n\nc\"],d\n1,[2]\n");
	sel.unquote = true;
	assert_string_equal(shown(sel, "a,\"b\"\"\",c\n1,2\n"), "a,\"{b\"\"]\",c\n1,<2]\n");
	sel = two;
	sel.header = 1;
	assert_string_equal(shown(sel, "a,\"b\nc\",d\n1,2\n"), "a,\"b\nc\",d\n1,[2]\n");
}

static void numbers_decide_records(void **state)
{
	struct tape_splitter *s = make((struct tape_select){ .by = TAPE_NUMBERED });
	struct tape_span hole;

	(void)state;
	assert_false(tape_splitter_decided(s, 1));
	assert_int_equal(tape_splitter_number(s, 0), 0);
	assert_int_equal(tape_splitter_number(s, 2), 0);
	assert_int_equal(tape_splitter_number(s, 2), 0);
	assert_int_equal(tape_splitter_number(s, 1), -EINVAL);
	assert_true(tape_splitter_decided(s, 2));
	assert_false(tape_splitter_decided(s, 3));
	assert_int_equal(tape_splitter_record(s, "a\nb\n", 4, false), 2);
	assert_int_equal(tape_splitter_holes(s, &hole, 1), 0);
	assert_int_equal(tape_splitter_record(s, "b\n", 2, false), 2);
	assert_int_equal(tape_splitter_holes(s, &hole, 1), 1);
	assert_int_equal(tape_splitter_line(s), 2);
	assert_int_equal(tape_splitter_number(s, UINT64_MAX), 0);
	assert_true(tape_splitter_decided(s, 1000));
	tape_splitter_free(s);
}

static void draw_select(uint64_t *seed, struct tape_select *sel)
{
	static const char *const lists[] = { "1-", "2", "1,3-4", "-2,2-5", "3-" };
	static const char *const patterns[] = { ".", "a*", "[ab]+", "\\s|\"", "", "\\w+,?", "a|b" };
	static const char *const delimiters[] = { ",", "", ", ", "\n", "\"", "\xff" };

	*sel = (struct tape_select){
		.by = (enum tape_by)through_draw(seed, TAPE_CSV + 1),
		.list = lists[through_draw(seed, 5)], .pattern = patterns[through_draw(seed, 7)],
		.delimiter = delimiters[through_draw(seed, 6)],
		.invert = !through_draw(seed, 3), .nul = !through_draw(seed, 3),
		.unquote = !through_draw(seed, 3), .header = through_draw(seed, 3) / 2,
	};
	if (sel->by == TAPE_NUMBERED)
		sel->by = TAPE_MATCHING;
	if (sel->by == TAPE_MATCHING) {
		sel->before = through_draw(seed, 3);
		sel->after = through_draw(seed, 3);
	}
	sel->whole = sel->nul;
}

static size_t draw_text(uint64_t *seed, char *text, size_t cap)
{
	static const char *const pieces[] = { "a", "b", " ", ",", "\"", "\"\"", "\r", "\n", "\r\n",
		"\xff", "\xe3\x81", "\xc3\xa9", "\xe2\x80\x83", ", ", "\n", "ab" };
	size_t n = 0, want = through_draw(seed, cap - 4);

	while (n < want) {
		const char *p = pieces[through_draw(seed, 16)];

		if (!through_draw(seed, 20)) {
			text[n++] = '\0';
		} else {
			memcpy(text + n, p, strlen(p));
			n += strlen(p);
		}
	}
	return n;
}

static void what_cat_gives_back_is_the_input(void **state)
{
	uint64_t seed = 1;
	char text[128];

	(void)state;
	for (int i = 0; i < CASES; i++) {
		const uint64_t begin = seed;
		struct tape_select sel;
		struct buf out = BUF_INIT;
		struct tape_splitter *s;
		size_t n;

		draw_select(&seed, &sel);
		n = draw_text(&seed, text, sizeof(text));
		s = make(sel);
		assert_int_equal(through(s, text, n, sel.nul ? '\0' : '\n', &seed, &out), 0);
		if (out.len != n || memcmp(out.data ? out.data : "", text, n))
			fail_msg("case %d, seed %llu, by %d: %zu bytes of %zu", i,
				 (unsigned long long)begin, (int)sel.by, out.len, n);
		tape_splitter_free(s);
		buf_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_way_finds_its_holes),
		cmocka_unit_test(csv_is_rfc_4180),
		cmocka_unit_test(numbers_decide_records),
		cmocka_unit_test(what_cat_gives_back_is_the_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
