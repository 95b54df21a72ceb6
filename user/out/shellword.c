/* SPDX-License-Identifier: MIT */
#include "out/shellword.h"

#include <string.h>

#include "out/jread.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			    "_@%+=:,./-";

static bool is_plain(const char *word, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!memchr(plain, word[i], sizeof(plain) - 1))
			return false;
	return n;
}

static void add_word(struct buf *b, const char *word, size_t n)
{
	size_t i;

	if (is_plain(word, n)) {
		buf_add(b, word, n);
		return;
	}
	buf_addc(b, '\'');
	for (i = 0; i < n; i++) {
		if (word[i] == '\'')
			buf_adds(b, "'\"'\"'");
		else
			buf_addc(b, word[i]);
	}
	buf_addc(b, '\'');
}

void shellword_add(struct buf *b, const char *word)
{
	add_word(b, word, strlen(word));
}

/* One word alone is a line that another tool gave to a shell, or needs no quotes. */
static int add_words(struct buf *b, struct buf *first, struct jread *j)
{
	size_t n = 0;
	int r = jread_array(j);

	while (!r && (r = jread_element(j)) > 0) {
		r = jread_string(j);
		if (r)
			return r;
		if (!n++)
			buf_add(first, j->s, j->n);
		else
			buf_addc(b, ' ');
		add_word(b, j->s, j->n);
	}
	return r ? r : n == 1;
}

void shellword_add_argv(struct buf *b, const char *json)
{
	struct buf words = BUF_INIT, first = BUF_INIT;
	struct err ignored = { 0 };
	struct jread j;
	int r;

	jread_init(&j, json, strlen(json), &ignored);
	r = add_words(&words, &first, &j);
	if (r < 0)
		buf_adds(b, json);
	else if (r)
		buf_add(b, first.data, first.len);
	else
		buf_add(b, words.data, words.len);
	jread_release(&j);
	buf_release(&words);
	buf_release(&first);
}
