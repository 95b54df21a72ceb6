/* SPDX-License-Identifier: MIT */
#ifndef BASE_TEXTCOPY_H
#define BASE_TEXTCOPY_H

#include <stdlib.h>
#include <string.h>

/*
 * @n bytes and a zero behind them, to be freed; NULL: no memory. Unlike strndup() of what does
 * not end there by itself, which a sanitizer takes for a read behind it.
 */
static inline char *text_copy(const void *bytes, size_t n)
{
	char *to = malloc(n + 1);

	if (!to)
		return NULL;
	memcpy(to, bytes, n);
	to[n] = '\0';
	return to;
}

#endif
