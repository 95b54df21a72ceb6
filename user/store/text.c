/* SPDX-License-Identifier: MIT */
#include "store/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/codepoint.h"
#include "store/store.h"

#define BLOCK_BYTES 4000

struct text_block {
	struct text_block *next;
	size_t used, size;
	char data[];
};

const char *text_keep(struct text_block **pool, const char *s, size_t n)
{
	struct text_block *b = *pool;
	char *p;

	if (!b || b->size - b->used <= n) {
		size_t size = n < BLOCK_BYTES ? BLOCK_BYTES : n + 1;

		b = malloc(sizeof(*b) + size);
		if (!b)
			return NULL;
		b->next = *pool;
		b->used = 0;
		b->size = size;
		*pool = b;
	}
	p = b->data + b->used;
	if (n)
		memcpy(p, s, n);
	p[n] = '\0';
	b->used += n + 1;
	return p;
}

void text_free(struct text_block *pool)
{
	while (pool) {
		struct text_block *next = pool->next;

		free(pool);
		pool = next;
	}
}

int text_check(const char *what, const char *s, struct err *err)
{
	size_t n, i = 0;
	uint32_t cp;

	if (!s)
		return err_set(err, EINVAL, "the %s is missing", what);
	n = strlen(s);
	if (n > STORE_TEXT_MAX)
		return err_set(err, EINVAL, "the %s has %zu bytes, and a store takes %zu", what, n,
			       STORE_TEXT_MAX);
	while (i < n) {
		unsigned int len = utf8_decode(s + i, n - i, &cp);

		if (!len)
			return err_set(err, EINVAL, "the %s is not UTF-8 at byte %zu", what, i + 1);
		i += len;
	}
	return 0;
}

bool text_is_hex(const char *s)
{
	return !s[strspn(s, "0123456789abcdef")];
}
