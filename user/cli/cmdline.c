/* SPDX-License-Identifier: MIT */
#include "cli/cmdline.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\n"
#define ACTS "|&;<>()$`*?[#~"	/* what a shell acts on outside of quotes */

struct split {
	const char *at;
	char *to;	/* where the next byte of a word goes */
	struct err *err;
};

static int acts(struct split *s, char c)
{
	int r = err_set(s->err, EINVAL, "'%c' means something to a shell, and there is none", c);

	err_hint(s->err, "quote it, or write sh -c '...' yourself");
	return r;
}

/* Behind the opening quote, up to and with the closing one. */
static int take_quoted(struct split *s, char quote)
{
	for (; *s->at && *s->at != quote; s->at++) {
		if (quote == '"' && (*s->at == '$' || *s->at == '`'))
			return acts(s, *s->at);
		if (quote == '"' && *s->at == '\\' && s->at[1] && strchr("$`\"\\\n", s->at[1]))
			s->at++;
		*s->to++ = *s->at;
	}
	if (!*s->at)
		return err_set(s->err, EINVAL, "a %c is not closed", quote);
	s->at++;
	return 0;
}

static int take_word(struct split *s)
{
	int r;

	while (*s->at && !strchr(BLANKS, *s->at)) {
		char c = *s->at++;

		if (c == '\'' || c == '"') {
			r = take_quoted(s, c);
			if (r)
				return r;
			continue;
		}
		if (strchr(ACTS, c))
			return acts(s, c);
		if (c == '\\' && !*s->at)
			return err_set(s->err, EINVAL, "nothing is behind the last \\");
		*s->to++ = c == '\\' ? *s->at++ : c;
	}
	*s->to++ = '\0';
	return 0;
}

int cmdline_split(struct cmdline *w, const char *line, struct err *err)
{
	struct split s = { .at = line, .err = err };
	size_t len = strlen(line);
	int r = 0;

	/* No word is longer than what it is made of, and there is a blank behind each. */
	*w = (struct cmdline){ .text = malloc(len + 2),
			       .word = calloc(len / 2 + 2, sizeof(char *)) };
	s.to = w->text;
	if (!w->text || !w->word)
		r = err_sys(err, ENOMEM, "cannot read a command line");
	while (!r) {
		s.at += strspn(s.at, BLANKS);
		if (!*s.at)
			break;
		w->word[w->n++] = s.to;
		r = take_word(&s);
	}
	if (!r && !w->n)
		r = err_set(err, EINVAL, "there is no command in it");
	if (r)
		cmdline_release(w);
	return r;
}

void cmdline_release(struct cmdline *w)
{
	free(w->text);
	free(w->word);
	*w = (struct cmdline){ 0 };
}
