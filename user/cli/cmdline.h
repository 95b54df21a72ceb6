/* SPDX-License-Identifier: MIT */
#ifndef CLI_CMDLINE_H
#define CLI_CMDLINE_H

/* A command line in one string, as words. */
#include <stddef.h>

#include "base/err.h"

struct cmdline {
	char **word;	/* .n of them, and a NULL behind */
	size_t n;
	char *text;
};

/*
 * Splits @line as a POSIX shell does (2.2, quoting): blanks part words, '...', "..." and \
 * quote. What a shell would expand or act on without quotes (| & ; < > ( ) $ ` * ? [ # ~)
 * is -EINVAL, named, as are an open quote and an empty line; -ENOMEM. cmdline_release()
 * after success.
 */
int cmdline_split(struct cmdline *w, const char *line, struct err *err);
void cmdline_release(struct cmdline *w);

#endif
