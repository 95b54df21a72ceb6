/* SPDX-License-Identifier: MIT */
#include "out_text.h"

/* Each line: frames by semicolons, a blank, digits. Returns the sum of the figures. */
static uint64_t lines_are_folded(char *text, size_t *lines)
{
	uint64_t sum = 0;
	char *line, *save = NULL, *last, *end;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		last = strrchr(line, ' ');
		assert_non_null(last);
		sum += strtoull(last + 1, &end, 10);
		assert_true(end > last + 1 && !*end);
		*last = '\0';
		assert_non_null(strchr(line, ';'));
		assert_null(strstr(line, ";;"));
		++*lines;
	}
	return sum;
}

static void all_that_was_waited_is_there(void **state)
{
	struct summary s;
	struct buf text;
	uint64_t want = 0, got;
	size_t i, lines = 0;

	(void)state;
	fixture_rich(&s);
	out_text("folded", &s, &(struct out_opts){ 0 }, &text);
	/* Outermost first, the lock last. */
	assert_non_null(strstr(text.data, "queue_pop;pthread_mutex_lock;__lll_lock_wait;"
				"lock queue_lock "));
	for (i = 0; i < s.nlock; i++)
		want += s.lock[i].wait.sum / 1000;
	got = lines_are_folded(text.data, &lines);
	assert_true(lines >= s.nlock);
	/* Each line is cut to a whole microsecond. */
	assert_true(got <= want && got + lines >= want);
	buf_release(&text);
	summary_release(&s);
}

/* By each weight the lines add up to what the locks have of it. */
static void other_weights_add_up(void **state)
{
	static const enum out_weight weights[] = { OUT_WEIGHT_WAITS, OUT_WEIGHT_SAMPLES };
	uint64_t want[2] = { 0 };
	struct summary s;
	struct buf text;
	size_t i, k, lines;

	(void)state;
	fixture_rich(&s);
	for (i = 0; i < s.nlock; i++) {
		want[0] += s.lock[i].waits;
		for (k = 0; k < s.lock[i].nsite; k++)
			want[1] += s.lock[i].site[k].samples;
	}
	for (i = 0; i < 2; i++) {
		lines = 0;
		out_text("folded", &s, &(struct out_opts){ .weight = weights[i] }, &text);
		assert_int_equal(lines_are_folded(text.data, &lines), want[i]);
		assert_true(lines >= s.lock[0].nsite);
		buf_release(&text);
	}
	summary_release(&s);
}

static void hostile_names_stay_in_their_frames(void **state)
{
	struct summary s;
	struct buf text;
	size_t lines = 0;

	(void)state;
	fixture_hostile(&s);
	free(s.lock[0].symbol);
	s.lock[0].symbol = strdup("a;b\nc 7");
	out_text("folded", &s, &(struct out_opts){ 0 }, &text);
	assert_harmless(&text);
	assert_non_null(strstr(text.data, ";lock a:b\\nc 7 "));
	lines_are_folded(text.data, &lines);
	assert_true(lines > 0);
	buf_release(&text);
	summary_release(&s);
}

static void figures_of_any_size(void **state)
{
	struct summary s;
	struct buf text;
	size_t lines = 0;

	(void)state;
	fixture_huge(&s);
	out_text("folded", &s, &(struct out_opts){ 0 }, &text);
	lines_are_folded(text.data, &lines);
	assert_true(lines > 0);
	buf_release(&text);
	summary_release(&s);
	fixture_empty(&s, SUM_EXACT, SUM_FUTEX);
	out_text("folded", &s, &(struct out_opts){ 0 }, &text);
	assert_int_equal(text.len, 0);
	buf_release(&text);
	summary_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_was_waited_is_there),
		cmocka_unit_test(other_weights_add_up),
		cmocka_unit_test(hostile_names_stay_in_their_frames),
		cmocka_unit_test(figures_of_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
