/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_FIRST_BYTES 256

void buf_release(struct buf *b)
{
	free(b->data);
	b->data = NULL;
	b->len = b->cap = 0;
	b->failed = false;
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

int buf_grow(struct buf *b, size_t more)
{
	size_t max = b->max ? b->max : BUF_MAX_BYTES;
	size_t need, cap;
	char *data;

	/* The maximum counts what was added; the NUL behind it is on top. */
	if (more > max || b->len > max - more)
		goto fail;
	need = b->len + more + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap ? b->cap : BUF_FIRST_BYTES;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	if (cap > max + 1)
		cap = max + 1;
	data = realloc(b->data, cap);
	if (!data)
		goto fail;
	if (!b->data)
		data[0] = '\0';
	b->data = data;
	b->cap = cap;
	return 0;
fail:
	b->failed = true;
	return -ENOMEM;
}

int buf_add(struct buf *b, const void *data, size_t len)
{
	int r = buf_grow(b, len);

	if (r)
		return r;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
	return 0;
}

int buf_addc(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

int buf_adds(struct buf *b, const char *s)
{
	return buf_add(b, s, strlen(s));
}

int buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n, r = 0;

	va_copy(again, ap);
	n = vsnprintf(b->cap ? b->data + b->len : NULL, b->cap ? b->cap - b->len : 0, fmt, ap);
	if (n < 0) {
		b->failed = true;
		r = -ENOMEM;
	} else if ((size_t)n >= b->cap - b->len || b->cap == 0) {
		r = buf_grow(b, (size_t)n);
		if (!r)
			vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	va_end(again);
	if (!r)
		b->len += (size_t)n;
	/* A print that did not fit left its beginning behind the old end. */
	if (b->data)
		b->data[b->len] = '\0';
	return r;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = buf_vaddf(b, fmt, ap);
	va_end(ap);
	return r;
}
