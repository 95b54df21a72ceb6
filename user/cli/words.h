/* SPDX-License-Identifier: MIT */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

/* A command line in one string, as words. */
#include <stddef.h>

#include "base/err.h"

struct words {
	char **word;	/* .n of them, and a NULL behind */
	size_t n;
	char *text;
};

/*
 * Splits @line as a POSIX shell does (2.2, quoting): blanks part words, '...', "..." and \
 * quote. What a shell would expand or act on without quotes (| & ; < > ( ) $ ` * ? [ # ~)
 * is -EINVAL, named, as are an open quote and an empty line; -ENOMEM. words_release()
 * after success.
 */
int words_split(struct words *w, const char *line, struct err *err);
void words_release(struct words *w);

#endif
