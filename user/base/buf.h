/* SPDX-License-Identifier: MIT */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A growable byte buffer with a stated maximum. A failed growth sets .failed
 * and keeps what was there; writers may check once at the end. .data is always
 * NUL-terminated once anything was added (NULL before).
 */
struct buf {
	char *data;
	size_t len, cap;
	size_t max;	/* bytes, 0: BUF_MAX_BYTES */
	bool failed;
};

#define BUF_MAX_BYTES ((size_t)1 << 30)
#define BUF_INIT { 0 }

void buf_release(struct buf *b);
void buf_reset(struct buf *b);				/* len = 0, memory kept */
int buf_add(struct buf *b, const void *data, size_t len);	/* 0 or -ENOMEM */
int buf_addc(struct buf *b, char c);
int buf_adds(struct buf *b, const char *s);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Makes room for @more further bytes; 0 or -ENOMEM. */
int buf_grow(struct buf *b, size_t more);

#endif
