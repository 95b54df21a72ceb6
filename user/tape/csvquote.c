/* SPDX-License-Identifier: MIT */
#include "tape/csvquote.h"

#include <string.h>

int csvquote_inside(tape_write_fn *write, void *arg, const char *data, size_t n)
{
	int r = 0;

	while (!r && n) {
		const char *quote = memchr(data, '"', n);
		const size_t part = quote ? (size_t)(quote - data) + 1 : n;

		r = write(arg, data, part);
		if (!r && quote)
			r = write(arg, "\"", 1);
		data += part;
		n -= part;
	}
	return r;
}

int csvquote_field(tape_write_fn *write, void *arg, const char *data, size_t n)
{
	bool needed = false;
	int r;

	for (size_t i = 0; i < n && !needed; i++)
		needed = data[i] == '"' || data[i] == ',' || data[i] == '\n' || data[i] == '\r';
	if (!needed)
		return n ? write(arg, data, n) : 0;
	r = write(arg, "\"", 1);
	r = r ? r : csvquote_inside(write, arg, data, n);
	return r ? r : write(arg, "\"", 1);
}

int csvquote_value(tape_write_fn *write, void *arg, const char *data, size_t n)
{
	int r = 0;

	while (!r && n) {
		const char *quote = memchr(data, '"', n);
		size_t part = quote ? (size_t)(quote - data) + 1 : n;

		r = write(arg, data, part);
		part += quote && part < n && data[part] == '"';
		data += part;
		n -= part;
	}
	return r;
}
