/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include "out/escape.h"
#include "out/utf8.h"

static void utf8_takes_what_rfc_3629_allows(void **state)
{
	static const struct { const char *s; size_t n; unsigned int len; uint32_t cp;
	} rows[] = {
		{ "a", 1, 1, 'a' },
		{ "\0", 1, 1, 0 },
		{ "é", 2, 2, 0xe9 },
		{ "日", 3, 3, 0x65e5 },
		{ "😀", 4, 4, 0x1f600 },
		{ "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
		{ "", 0, 0, 0 },
		{ "\x80", 1, 0, 0 },
		{ "\xff", 1, 0, 0 },
		{ "\xc3", 1, 0, 0 },
		{ "\xc0\xaf", 2, 0, 0 },
		{ "\xc1\xbf", 2, 0, 0 },
		{ "\xe0\x80\xaf", 3, 0, 0 },
		{ "\xed\xa0\x80", 3, 0, 0 },
		{ "\xf0\x80\x80\x80", 4, 0, 0 },
		{ "\xf4\x90\x80\x80", 4, 0, 0 },
		{ "\xe6\x97", 2, 0, 0 },
		{ "\xe6\x41\xa5", 3, 0, 0 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t cp = 0;

		assert_int_equal(utf8_decode(rows[i].s, rows[i].n, &cp), rows[i].len);
		assert_int_equal(cp, rows[i].cp);
	}
}

static void utf8_round_trip(void **state)
{
	uint32_t cp, back;
	char tmp[4];

	(void)state;
	for (cp = 0; cp <= 0x10ffff; cp++) {
		unsigned int len = utf8_encode(cp, tmp);

		if (cp >= 0xd800 && cp <= 0xdfff) {
			assert_int_equal(utf8_decode(tmp, len, &back), 0);
			continue;
		}
		assert_int_equal(utf8_decode(tmp, len, &back), len);
		assert_int_equal(back, cp);
	}
}

static void width_counts_columns(void **state)
{
	static const struct { const char *s; size_t width;
	} rows[] = {
		{ "", 0 },  { "abc", 3 },   { "é", 1 },        { "e\xcc\x81", 1 }, { "日本", 4 },
		{ "😀", 2 }, { "→ µ …", 5 }, { "\xff\xff", 2 }, { "▁█", 2 },        { "한글", 4 },
	};
	size_t i, used;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(utf8_width(rows[i].s, strlen(rows[i].s)), rows[i].width);
	/* A wide character that would stick out is left away, a mark stays with its letter. */
	assert_int_equal(utf8_fit("a日b", 5, 2, &used), 1);
	assert_int_equal(used, 1);
	assert_int_equal(utf8_fit("e\xcc\x81x", 4, 1, &used), 3);
}

struct row {
	const char *in, *out;
};

static void check(void (*escape)(struct buf *, const char *, size_t), const struct row *rows,
		  size_t n)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < n; i++) {
		escape(&b, rows[i].in, strlen(rows[i].in));
		assert_string_equal(b.data ? b.data : "", rows[i].out);
		assert_false(b.failed);
		buf_reset(&b);
	}
	buf_release(&b);
}

static void term(struct buf *b, const char *s, size_t n)
{
	escape_term(b, s, n, false);
}

static void term_ascii(struct buf *b, const char *s, size_t n)
{
	escape_term(b, s, n, true);
}

static void terminal_text_is_visible(void **state)
{
	static const struct row rows[] = {
		{ "", "" }, { "plain text", "plain text" }, { "<script>", "<script>" },
		{ "\x1b]0;x\x07", "\\e]0;x\\x07" }, { "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ "\x7f\x01", "\\x7f\\x01" }, { "\xc2\x9b" "31m", "\\u{9b}31m" },
		{ "\x9b" "31m", "\\x9b31m" }, { "\xff", "\\xff" }, { "é日😀", "é日😀" },
		{ "\xe2\x80\xae" "abc", "\\u{202e}abc" }, { "\xe2\x81\xa6x", "\\u{2066}x" },
		{ "a\xe2\x80\x8b", "a\\u{200b}" }, { "\\e", "\\\\e" },
		{ "\xf3\xa0\x81\x81", "\\u{e0041}" }, { "\xef\xbb\xbf", "\\u{feff}" },
	};
	static const struct row ascii[] = {
		{ "é", "\\u{e9}" },
		{ "😀", "\\u{1f600}" },
		{ "a→b", "a\\u{2192}b" },
		{ "\xff", "\\xff" },
	};

	(void)state;
	check(term, rows, sizeof(rows) / sizeof(*rows));
	check(term_ascii, ascii, sizeof(ascii) / sizeof(*ascii));
}

static void json_text_is_rfc_8259(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a\"b\\c/", "a\\\"b\\\\c/" },
		{ "\x1b]0;\x07", "\\u001b]0;\\u0007" },
		{ "\b\f\n\r\t", "\\b\\f\\n\\r\\t" },
		{ "\x7f\xc2\x9b", "\\u007f\\u009b" },
		{ "é日😀", "é日😀" },
		{ "\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x80\xae", "\\u202e" },
		{ "\xe2\x80\xa8", "\\u2028" },
		{ "\xf3\xa0\x81\x81", "\\udb40\\udc41" },
	};

	(void)state;
	check(escape_json, rows, sizeof(rows) / sizeof(*rows));
}

static void csv_fields_are_rfc_4180(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "a,b", "\"a,b\"" },
		{ "say \"x\"", "\"say \"\"x\"\"\"" },
		{ "a\nb", "a\\nb" },
		{ " lead", "\" lead\"" },
		{ "trail ", "\"trail \"" },
		{ "=1+1", "'=1+1" },
		{ "+1", "'+1" },
		{ "-1", "'-1" },
		{ "@f", "'@f" },
		{ "\t=x", "'\\t=x" },
		{ "\r=x", "'\\r=x" },
		{ "=a,b", "\"'=a,b\"" },
		{ "=\"x\"", "\"'=\"\"x\"\"\"" },
		{ "＝1", "'＝1" },
		{ "a=1", "a=1" },
		{ "\x1b]0;", "\"\\e]0;\"" },
		{ "# table x", "\"# table x\"" },
		{ "\xff", "\\xff" },
	};

	(void)state;
	check(escape_csv, rows, sizeof(rows) / sizeof(*rows));
}

/* A field goes behind others in the same buffer: nothing before it may change. */
static void csv_fields_follow_each_other(void **state)
{
	struct buf b = BUF_INIT;

	(void)state;
	buf_adds(&b, "a'");
	escape_csv(&b, "=1,2", 4);
	buf_addc(&b, ',');
	escape_csv(&b, "x,\"y", 4);
	assert_string_equal(b.data, "a'\"'=1,2\",\"x,\"\"y\"");
	buf_release(&b);
}

static void xml_text_has_no_markup_and_no_controls(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "<a href=\"x\">&amp;", "&lt;a href=&quot;x&quot;&gt;&amp;amp;" },
		{ "it's ]]>", "it&#39;s ]]&gt;" },
		{ "\x1b]0;\x07\n", "\\e]0;\\x07\\n" },
		{ "\xef\xbf\xbe\xef\xbf\xbf", "\\u{fffe}\\u{ffff}" },
		{ "\xff\xed\xa0\x80", "\\xff\\xed\\xa0\\x80" },
		{ "é日😀", "é日😀" },
	};

	(void)state;
	check(escape_xml, rows, sizeof(rows) / sizeof(*rows));
}

static void markdown_text_is_no_markup(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "Linux 6.1.0: (a-b), 3 %", "Linux 6.1.0: (a-b), 3 %" },
		{ "a*b*_c_`d`", "a&#42;b&#42;&#95;c&#95;&#96;d&#96;" },
		{ "<b>|[x](y)", "&#60;b&#62;&#124;&#91;x&#93;(y)" },
		{ "@me #1", "<code>@</code>me <code>#</code>1" },
		{ "www.x http://x", "www&#46;x http&#58;//x" },
		{ "a\nb", "a&#92;nb" },
	};

	(void)state;
	check(escape_markdown, rows, sizeof(rows) / sizeof(*rows));
}

static void markdown_code_stays_one(void **state)
{
	static const struct row rows[] = {
		{ "", "" },
		{ "futex.wait", "`futex.wait`" },
		{ "<b>*@me\\", "`<b>*@me\\\\`" },
		{ "a|b", "<code>a&#124;b</code>" },
		{ "a`@b", "<code>a&#96;&#64;b</code>" },
		{ " x", "<code> x</code>" },
		{ "x\n", "`x\\n`" },
	};

	(void)state;
	check(escape_markdown_code, rows, sizeof(rows) / sizeof(*rows));
}

static void a_full_buffer_is_told(void **state)
{
	struct buf b = { .max = 16 };

	(void)state;
	escape_term(&b, "\x01\x01\x01\x01\x01\x01", 6, false);
	assert_true(b.failed);
	buf_release(&b);
	b = (struct buf){ .max = 16 };
	escape_csv(&b, "aaaaaaaaaaaa,bbbbbbbbbbbb", 25);
	assert_true(b.failed);
	buf_release(&b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8_takes_what_rfc_3629_allows),
		cmocka_unit_test(utf8_round_trip),
		cmocka_unit_test(width_counts_columns),
		cmocka_unit_test(terminal_text_is_visible),
		cmocka_unit_test(json_text_is_rfc_8259),
		cmocka_unit_test(csv_fields_are_rfc_4180),
		cmocka_unit_test(csv_fields_follow_each_other),
		cmocka_unit_test(xml_text_has_no_markup_and_no_controls),
		cmocka_unit_test(markdown_text_is_no_markup),
		cmocka_unit_test(markdown_code_stays_one),
		cmocka_unit_test(a_full_buffer_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
