/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#include "out/human.h"
#include "out/utf8.h"

static void times(void **state)
{
	static const struct { uint64_t ns; const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1 ns" },
		{ 999, "999 ns" },
		{ 1000, "1.00 µs" },
		{ 1234, "1.23 µs" },
		{ 1235, "1.24 µs" },
		{ 9994, "9.99 µs" },
		{ 9996, "10.0 µs" },
		{ 99940, "99.9 µs" },
		{ 99960, "100 µs" },
		{ 999499, "999 µs" },
		{ 999500, "1.00 ms" },
		{ 45600000, "45.6 ms" },
		{ 999500000, "1.00 s" },
		{ 2413000000, "2.41 s" },
		{ 999400000000, "999 s" },
		{ 999600000000, "16m40s" },
		{ 3599400000000, "59m59s" },
		{ 3600000000000, "1h00m" },
		{ 86400000000000, "1d00h" },
		{ 86400000000000 * 1000, "2y270d" },
		{ UINT64_MAX, "584y343d" },
	};
	char out[HUMAN_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(human_ns(out, rows[i].ns, false), rows[i].text);
	assert_string_equal(human_ns(out, 1234, true), "1.23 us");
}

static void counts(void **state)
{
	static const struct { uint64_t n; const char *text;
	} rows[] = {
		{ 0, "0" },           { 999, "999" },          { 9999, "9999" },
		{ 10000, "10.0k" },   { 12345, "12.3k" },      { 99949, "99.9k" },
		{ 99950, "100k" },    { 999499, "999k" },      { 999500, "1.00M" },
		{ 4567890, "4.57M" }, { 7890000000, "7.89G" }, { UINT64_MAX, "18.4E" },
	};
	char out[HUMAN_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(human_count(out, rows[i].n), rows[i].text);
}

static void sizes(void **state)
{
	static const struct { uint64_t n; const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 1, "1 B" },
		{ 1023, "1023 B" },
		{ 1024, "1 KiB" },
		{ 1025, "1.00 KiB" },
		{ 1536, "1.5 KiB" },
		{ 65536, "64 KiB" },
		{ 100003, "97.7 KiB" },
		{ 4718592, "4.5 MiB" },
		{ 1288490188, "1.20 GiB" },
		{ 1048575, "1024 KiB" },
		{ 104857600, "100 MiB" },
		{ UINT64_MAX, "16.0 EiB" },
	};
	char out[HUMAN_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(human_bytes(out, rows[i].n), rows[i].text);
}

static void percents(void **state)
{
	static const struct { uint64_t part, whole; const char *text;
	} rows[] = {
		{ 0, 0, "0 %" },         { 1, 0, "0 %" },
		{ 0, 5, "0 %" },         { 5, 5, "100 %" },
		{ 281, 1000, "28.1 %" }, { 1, 100000, "<0.01 %" },
		{ 1, 10000, "0.01 %" },  { 9996, 10000, "100 %" },
		{ 2, 3, "66.7 %" },      { UINT64_MAX, UINT64_MAX, "100 %" },
		{ 30, 10, "300 %" },     { UINT64_MAX, 1, ">999k %" },
		{ 150, 1, "15.0k %" },
	};
	char out[HUMAN_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(human_percent(out, rows[i].part, rows[i].whole), rows[i].text);
}

/* Columns are laid out by it: no value, whatever it is, is wider than 8. */
static void none_is_wider_than_promised(void **state)
{
	uint64_t x = 88172645463325252ULL, v;
	char out[HUMAN_BYTES];
	int i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		v = x >> (i % 64);
		human_ns(out, v, false);
		assert_in_range(utf8_width(out, strlen(out)), 1, 8);
		human_count(out, v);
		assert_in_range(utf8_width(out, strlen(out)), 1, 8);
		human_bytes(out, v);
		assert_in_range(utf8_width(out, strlen(out)), 1, 8);
		human_percent(out, v, (x >> 7) % 1000);
		assert_in_range(utf8_width(out, strlen(out)), 1, 8);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(times),
		cmocka_unit_test(counts),
		cmocka_unit_test(sizes),
		cmocka_unit_test(percents),
		cmocka_unit_test(none_is_wider_than_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
