/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tape/spill.h"
#include "tracer/tape.h"

static struct buf out;

static int take(void *arg, const char *data, size_t n)
{
	return arg ? *(int *)arg : buf_add(&out, data, n);
}

static struct tape_joiner *begin(void)
{
	buf_reset(&out);
	return tape_joiner_new(take, NULL, '\n', 1 << 16);
}

static void keep(struct tape_joiner *j, const char *text)
{
	assert_int_equal(tape_joiner_keep(j, text, strlen(text)), 0);
}

static void hole(struct tape_joiner *j, enum tape_kind kind)
{
	assert_int_equal(tape_joiner_hole(j, kind), 0);
}

static void answer(struct tape_joiner *j, const char *text)
{
	assert_int_equal(tape_joiner_answer(j, text, strlen(text)), 0);
}

static void text_without_holes_passes_at_once(void **state)
{
	struct tape_joiner *j = begin();

	(void)state;
	keep(j, "abc");
	assert_string_equal(out.data, "abc");
	hole(j, TAPE_PLAIN);
	keep(j, "d");
	assert_string_equal(out.data, "abc");
	assert_int_equal(tape_joiner_open(j), 1);
	tape_joiner_free(j);
}

static void answers_come_in_any_pieces(void **state)
{
	struct tape_joiner *j = begin();

	(void)state;
	hole(j, TAPE_PLAIN);
	keep(j, "-");
	hole(j, TAPE_PLAIN);
	hole(j, TAPE_PLAIN);
	keep(j, ".");
	answer(j, "x");
	assert_string_equal(out.data, "x");
	answer(j, "y\nz");
	assert_string_equal(out.data, "xy-z");
	answer(j, "\n\r\n\n");
	assert_string_equal(out.data, "xy-z\r.");
	assert_int_equal(tape_joiner_open(j), 0);
	assert_int_equal(tape_joiner_surplus_bytes(j), 1);
	assert_int_equal(tape_joiner_drop(j), 1);
	tape_joiner_free(j);
}

static void answers_may_come_before_holes(void **state)
{
	struct tape_joiner *j = begin();

	(void)state;
	answer(j, "1\n2\n");
	hole(j, TAPE_PLAIN);
	keep(j, ",");
	hole(j, TAPE_PLAIN);
	assert_int_equal(tape_joiner_settle(j), 0);
	assert_string_equal(out.data, "1,2");
	tape_joiner_free(j);
}

static void a_last_line_without_its_end_counts(void **state)
{
	struct tape_joiner *j = begin();

	(void)state;
	hole(j, TAPE_PLAIN);
	hole(j, TAPE_PLAIN);
	answer(j, "a\nb");
	assert_int_equal(tape_joiner_open(j), 1);
	answer(j, "");
	assert_string_equal(out.data, "ab");
	assert_int_equal(tape_joiner_open(j), 0);
	hole(j, TAPE_PLAIN);
	answer(j, "");
	assert_int_equal(tape_joiner_open(j), 1);
	tape_joiner_free(j);
}

static void csv_is_quoted_again(void **state)
{
	struct tape_joiner *j = begin();

	(void)state;
	hole(j, TAPE_QUOTED);
	keep(j, "|");
	hole(j, TAPE_BARE);
	keep(j, "|");
	hole(j, TAPE_BARE);
	answer(j, "a\"b\npl");
	answer(j, "ain\nx,\"y\n");
	assert_string_equal(out.data, "a\"\"b|plain|\"x,\"\"y\"");
	tape_joiner_free(j);
}

static void a_failed_write_is_passed_on(void **state)
{
	int code = -ENOSPC;
	struct tape_joiner *j = tape_joiner_new(take, &code, '\n', 0);

	(void)state;
	assert_int_equal(tape_joiner_keep(j, "a", 1), -ENOSPC);
	hole(j, TAPE_PLAIN);
	assert_int_equal(tape_joiner_answer(j, "x\n", 2), -ENOSPC);
	tape_joiner_free(j);
}

static void many_holes_wait_in_little(void **state)
{
	struct tape_joiner *j = begin();
	const size_t n = 1000000;
	char *lines = malloc(2 * n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		hole(j, TAPE_PLAIN);
		memcpy(lines + 2 * i, "x\n", 2);
	}
	assert_true(tape_joiner_waiting_bytes(j) <= n);
	assert_int_equal(tape_joiner_answer(j, lines, 2 * n), 0);
	assert_int_equal(out.len, n);
	assert_true(tape_joiner_spilled_bytes(j) > n / 2);
	free(lines);
	tape_joiner_free(j);
}

/* A queue against one that cannot be wrong. */
static void a_queue_gives_what_it_took(void **state)
{
	struct spill s;
	uint64_t seed = 7, put = 0, got = 0;
	char piece[5000];

	(void)state;
	spill_init(&s, 1 << 17);
	for (int i = 0; i < 20000; i++) {
		const char *data;
		size_t n;
		ptrdiff_t have;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		n = (size_t)(seed >> 40) % sizeof(piece);
		for (size_t k = 0; k < n; k++)
			piece[k] = (char)((put + k) * 31 >> 3);
		assert_int_equal(spill_add(&s, piece, n), 0);
		put += n;
		have = spill_peek(&s, &data);
		assert_true(have >= 0);
		/* Behind for the first half, then ahead. */
		n = i < 10000 ? (size_t)have / 40 : (size_t)have;
		for (size_t k = 0; k < n; k++)
			assert_int_equal(data[k], (char)((got + k) * 31 >> 3));
		spill_take(&s, n);
		got += n;
		assert_int_equal(spill_bytes(&s), put - got);
	}
	assert_true(s.most_bytes > 1 << 20);
	spill_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_without_holes_passes_at_once),
		cmocka_unit_test(answers_come_in_any_pieces),
		cmocka_unit_test(answers_may_come_before_holes),
		cmocka_unit_test(a_last_line_without_its_end_counts),
		cmocka_unit_test(csv_is_quoted_again),
		cmocka_unit_test(a_failed_write_is_passed_on),
		cmocka_unit_test(many_holes_wait_in_little),
		cmocka_unit_test(a_queue_gives_what_it_took),
	};
	int r = cmocka_run_group_tests(tests, NULL, NULL);

	buf_release(&out);
	return r;
}
