/* SPDX-License-Identifier: MIT */
#include "cli/suggest.h"

#include <limits.h>
#include <string.h>

static unsigned int min_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The restricted Damerau-Levenshtein distance, in three rows. */
unsigned int cli_distance(const char *a, const char *b)
{
	unsigned int rows[3][CLI_SUGGEST_MAX + 1];
	unsigned int *before = rows[0], *last = rows[1], *now = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > CLI_SUGGEST_MAX || nb > CLI_SUGGEST_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= nb; j++)
		last[j] = before[j] = (unsigned int)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned int *spare = before;

		now[0] = (unsigned int)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned int d = last[j - 1] + (a[i - 1] != b[j - 1]);

			d = min_of(d, min_of(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = min_of(d, before[j - 2] + 1);
			now[j] = d;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[nb];
}

void cli_suggest(const char *word, const char *candidate, const char **best,
		 unsigned int *distance)
{
	size_t len = strlen(word);
	unsigned int d = cli_distance(word, candidate);
	unsigned int most = len <= 2 ? 1 : len <= 5 ? 2 : 3;

	/* A beginning of three letters is near too: "--start" for "--start-routine". */
	if (len >= 3 && !strncmp(word, candidate, len))
		d = 1;
	if (d > most || d >= strlen(candidate) || (*best && d >= *distance))
		return;
	*best = candidate;
	*distance = d;
}
