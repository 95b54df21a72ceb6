/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

/*
 * Edits (insert, delete, replace, swap of neighbours) from @a to @b; words of
 * more than CLI_SUGGEST_MAX bytes are as far apart as can be.
 */
#define CLI_SUGGEST_MAX 64
unsigned int cli_distance(const char *a, const char *b);

/*
 * For "did you mean": *best starts NULL with *distance 0; each call keeps
 * @candidate when it is near to @word and nearer than what was kept.
 */
void cli_suggest(const char *word, const char *candidate, const char **best,
		 unsigned int *distance);

#endif
