/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collect/commre.h"

static struct commre re;

static int match(const char *pattern, const char *name)
{
	char comm[COMMRE_NAME_BYTES] = "";
	struct err err = { 0 };

	memcpy(comm, name, strnlen(name, sizeof(comm)));
	if (commre_compile(&re, pattern, &err))
		fail_msg("%s", err.msg);
	return commre_match(&re, comm);
}

static void literals_are_searched_for_anywhere(void **state)
{
	(void)state;
	assert_true(match("redis", "redis-server"));
	assert_true(match("serv", "redis-server"));
	assert_false(match("Redis", "redis-server"));
	assert_true(match("", "anything"));
	assert_true(match("", ""));
	assert_false(match("x", ""));
}

static void anchors_hold_at_the_ends_alone(void **state)
{
	(void)state;
	assert_true(match("^kworker", "kworker/0:1"));
	assert_false(match("^worker", "kworker/0:1"));
	assert_true(match("xz$", "xz"));
	assert_false(match("xz$", "xzcat"));
	assert_true(match("^xz$", "xz"));
	assert_false(match("^xz$", "xzz"));
	assert_true(match("^$", ""));
	assert_false(match("^$", "a"));
	assert_true(match("a|^b", "xa"));
	assert_false(match("a|^b", "xb"));
	assert_false(match("a^b", "a^b"));
	assert_true(match("(^a|b)c", "xbc"));
	assert_false(match("(^a){2}", "aa"));
	assert_true(match("(^a|b)+c", "abc"));
	assert_false(match("^(ab$|c)+$", "abab"));
}

static void names_of_all_lengths_end_in_time(void **state)
{
	(void)state;
	/* 15 bytes and the NUL; 16 bytes without one must not be read past. */
	assert_true(match("o$", "abcdefghijklmno"));
	assert_true(match("p$", "abcdefghijklmnop"));
	assert_true(match("^.{15}$", "abcdefghijklmno"));
	assert_false(match("^.{15}$", "abcdefghijklmn"));
	/* Longer than any name: compiles to a state that takes nothing. */
	assert_false(match("a{40}", "aaaaaaaaaaaaaaa"));
	assert_int_equal(re.nstates, 1);
}

static void repeats_sets_and_escapes(void **state)
{
	(void)state;
	assert_true(match("^ab*c$", "ac"));
	assert_true(match("^ab+c$", "abbbc"));
	assert_false(match("^ab+c$", "ac"));
	assert_true(match("^ab?c$", "abc"));
	assert_true(match("^(ab){2,3}$", "ababab"));
	assert_false(match("^(ab){2,3}$", "abababab"));
	assert_true(match("^a{,2}$", "aa"));
	assert_false(match("^a{0}$", "a"));
	assert_true(match("^[a-c]+$", "abc"));
	assert_false(match("^[^a-c]+$", "xbx"));
	assert_true(match("[]]", "a]"));
	assert_true(match("[^]x]", "]a"));
	assert_true(match("^[a-]$", "-"));
	assert_true(match("^[[:alpha:]_]+[[:digit:]]$", "worker_7"));
	assert_true(match("1\\.2", "v1.2"));
	assert_false(match("1\\.2", "v1x2"));
	assert_true(match("^\\w+$", "worker_7"));
	assert_true(match("\\S\\s\\S", "a b"));
	assert_true(match("\\[x\\]", "[x]"));
	assert_true(match("^.$", "\xff"));
	assert_true(match("[\x80-\xff]", "a\xc3"));
	assert_true(match("(a|)(b||c)$", "x"));
}

/* The accepting sink and merging leave as few states as there can be. */
static void states_are_merged(void **state)
{
	(void)state;
	match("abc", "");
	assert_int_equal(re.nstates, 4);
	match("a|b|c|d", "");
	assert_int_equal(re.nstates, 2);
	match(".*", "");
	assert_int_equal(re.nstates, 1);
	match("(x|x|x)+(y|)", "");
	assert_int_equal(re.nstates, 2);
}

static void bad(const char *pattern, int code, const char *what)
{
	struct err err = { 0 };

	assert_int_equal(commre_compile(&re, pattern, &err), -code);
	if (!strstr(err.msg, what))
		fail_msg("'%s' does not say '%s'", err.msg, what);
}

static void bad_patterns_say_what_and_where(void **state)
{
	char big[400];

	(void)state;
	bad("ab(c", EINVAL, "bad thread name pattern 'ab(c': unmatched (, at byte 3");
	bad("ab)c", EINVAL, "unmatched ), at byte 3");
	bad("[abc", EINVAL, "unmatched [, at byte 1");
	bad("x[]", EINVAL, "unmatched [, at byte 2");
	bad("*a", EINVAL, "nothing to repeat, at byte 1");
	bad("a|*", EINVAL, "nothing to repeat, at byte 3");
	bad("^*", EINVAL, "nothing to repeat");
	bad("(+a)", EINVAL, "nothing to repeat");
	bad("a{2,1}", EINVAL, "N less than M");
	bad("a{x}", EINVAL, "not {M}");
	bad("a{", EINVAL, "not {M}");
	bad("a{256}", EINVAL, "255");
	bad("a{1,99999999999}", EINVAL, "255");
	bad("a\\", EINVAL, "nothing after \\");
	bad("\\d", EINVAL, "letter or digit");
	bad("(a)\\1", EINVAL, "letter or digit");
	bad("[[:nope:]]", EINVAL, "class");
	bad("[[=a=]]", EINVAL, "not supported");
	bad("[z-a]", EINVAL, "wrong way round");
	bad("a.{9}b", E2BIG, "more than the 64 states");
	bad("((((((a{9}){9}){9}){9}){9}){9}){9}", E2BIG, "too large");
	bad("((((((a{0}){99}){99}){99}){99}){99}){99}", E2BIG, "too large");
	memset(big, '(', sizeof(big));
	big[200] = '\0';
	bad(big, E2BIG, "too large");
	memset(big, 'a', sizeof(big));
	big[399] = '\0';
	bad(big, E2BIG, "longer than 256 bytes");
}

static uint64_t rng_state = 88172645463325252ULL;

static unsigned int rng(unsigned int n)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (unsigned int)(rng_state >> 33) % n;
}

/* A random well-formed pattern of nested parts; @s has room for @room bytes. */
static size_t random_part(char *s, size_t room, int depth)
{
	static const char *const atoms[] = { "a", "b", "c", ".", "[ab]", "[^a]", "[a-c]", "\\.",
					     "[[:upper:]b]", "\\w", "^", "$", "-", "[]c-]" };
	static const char *const repeats[] = { "*", "+", "?", "{2}", "{0,1}", "{1,}", "{,2}",
					       "{0}" };
	const char *atom;
	size_t n = 0, parts = 1 + rng(3);

	while (parts-- && n + 40 < room) {
		bool group = depth && !rng(3);

		atom = atoms[rng(sizeof(atoms) / sizeof(*atoms))];
		if (group) {
			s[n++] = '(';
			n += random_part(s + n, room - n - 8, depth - 1);
			if (!rng(2)) {
				s[n++] = '|';
				n += random_part(s + n, room - n - 8, depth - 1);
			}
			s[n++] = ')';
		} else {
			n += (size_t)sprintf(s + n, "%s", atom);
		}
		if (!rng(3) && (group || !strchr("^$", *atom)))
			n += (size_t)sprintf(s + n, "%s", repeats[rng(8)]);
		if (!rng(9))
			s[n++] = '|';
	}
	s[n] = '\0';
	return n;
}

static void random_noise(char *s)
{
	static const char bytes[] = "abc().*+?|[]^${}-,12\\:\xc3";
	size_t i, n = rng(12);

	for (i = 0; i < n; i++)
		s[i] = bytes[rng(sizeof(bytes) - 1)];
	s[n] = '\0';
}

/* Compares on random names; the number of matches among them. */
static int compare(const regex_t *libc, const char *pattern)
{
	static const char bytes[] = "aaabbbc.-B_ \xc3";
	char name[COMMRE_NAME_BYTES];
	int i, hits = 0;

	for (i = 0; i < 40; i++) {
		size_t j, n = i < 2 ? (size_t)i : rng(COMMRE_NAME_BYTES);
		int want;

		for (j = 0; j < n; j++)
			name[j] = bytes[rng(sizeof(bytes) - 1)];
		name[n] = '\0';
		want = !regexec(libc, name, 0, NULL, 0);
		hits += want;
		if (commre_match(&re, name) != want)
			fail_msg("'%s' on '%s': %d here", pattern, name, !want);
	}
	return hits;
}

/* POSIX leaves these open, or we refuse them by design; glibc takes them. */
static bool refused_by_design(const struct err *err)
{
	return err->code == E2BIG || strstr(err->msg, "unmatched )") ||
	       strstr(err->msg, "letter or digit") || strstr(err->msg, "not supported") ||
	       strstr(err->msg, "range ends in a class");
}

/*
 * Does a group with an anchor in it repeat? glibc lays the anchor out once for
 * all rounds then and takes "aa" for (^a){2}, so it is no judge of those.
 */
static bool repeats_an_anchor(const char *pattern)
{
	const char *close = pattern;

	if (!strpbrk(pattern, "^$"))
		return false;
	while ((close = strchr(close, ')')) != NULL)
		if (strchr("*+?{", *++close) && *close)
			return true;
	return false;
}

static void it_agrees_with_the_c_library(void **state)
{
	int i, compared = 0, hits = 0, both_bad = 0;

	(void)state;
	for (i = 0; i < 12000; i++) {
		char pattern[256];
		struct err err = { 0 };
		regex_t libc;
		int theirs, ours;

		if (i % 3)
			random_part(pattern, sizeof(pattern) - 1, 2);
		else
			random_noise(pattern);
		if (repeats_an_anchor(pattern))
			continue;
		theirs = regcomp(&libc, pattern, REG_EXTENDED | REG_NOSUB);
		ours = commre_compile(&re, pattern, &err);
		if (!theirs && !ours) {
			hits += compare(&libc, pattern);
			compared++;
		} else if (theirs && !ours) {
			fail_msg("'%s' is refused by the C library alone", pattern);
		} else if (!theirs && !refused_by_design(&err)) {
			fail_msg("'%s' is refused here alone: %s", pattern, err.msg);
		} else {
			both_bad++;
		}
		if (!theirs)
			regfree(&libc);
	}
	/* The comparison must have had something to compare. */
	assert_true(compared > 6000);
	assert_true(both_bad > 500);
	assert_true(hits > 20000 && hits < compared * 40 - 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_are_searched_for_anywhere),
		cmocka_unit_test(anchors_hold_at_the_ends_alone),
		cmocka_unit_test(names_of_all_lengths_end_in_time),
		cmocka_unit_test(repeats_sets_and_escapes),
		cmocka_unit_test(states_are_merged),
		cmocka_unit_test(bad_patterns_say_what_and_where),
		cmocka_unit_test(it_agrees_with_the_c_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
