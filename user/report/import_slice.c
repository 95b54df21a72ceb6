/* SPDX-License-Identifier: MIT */
#include "report/import_slice.h"

#include <stdlib.h>
#include <string.h>

#include "out/utf8.h"

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void drop(struct slice *f, size_t n)
{
	f->s += n;
	f->n -= n;
}

bool slice_line(struct slice *rest, struct slice *line, bool *whole)
{
	const char *end;

	if (!rest->n)
		return false;
	end = memchr(rest->s, '\n', rest->n);
	*whole = end;
	*line = (struct slice){ rest->s, end ? (size_t)(end - rest->s) : rest->n };
	drop(rest, line->n + *whole);
	return true;
}

bool slice_field(struct slice *rest, struct slice *field)
{
	while (slice_is_blank(*rest))
		drop(rest, 1);
	*field = (struct slice){ rest->s, 0 };
	while (field->n < rest->n && !is_blank(rest->s[field->n]))
		field->n++;
	drop(rest, field->n);
	return field->n;
}

struct slice slice_trim(struct slice f)
{
	while (slice_is_blank(f))
		drop(&f, 1);
	while (f.n && is_blank(f.s[f.n - 1]))
		f.n--;
	return f;
}

bool slice_is(struct slice f, const char *word)
{
	return f.n == strlen(word) && !memcmp(f.s, word, f.n);
}

bool slice_begins(struct slice f, const char *word)
{
	return f.n >= strlen(word) && !memcmp(f.s, word, strlen(word));
}

bool slice_is_blank(struct slice f)
{
	return f.n && is_blank(*f.s);
}

bool slice_is_text(struct slice f)
{
	unsigned int n;
	uint32_t cp;

	for (; f.n; drop(&f, n)) {
		n = utf8_decode(f.s, f.n, &cp);
		if (!n || !cp)
			return false;
	}
	return true;
}

bool slice_is_digits(struct slice f)
{
	size_t i;

	for (i = 0; i < f.n; i++)
		if (f.s[i] < '0' || f.s[i] > '9')
			return false;
	return f.n;
}

bool slice_number(struct slice f, double *v)
{
	char copy[128], *end;

	if (!f.n || f.n >= sizeof(copy) || slice_is_blank(f))
		return false;
	memcpy(copy, f.s, f.n);
	copy[f.n] = '\0';
	*v = strtod(copy, &end);
	return end == copy + f.n;
}
