/* SPDX-License-Identifier: MIT */
#ifndef OUT_STRTAB_H
#define OUT_STRTAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Strings, each once, numbered from 0 in the order in which they came; number 0
 * is the empty one. Zeroed is empty. .failed: memory ran out, numbers are 0 since.
 */
struct strtab {
	struct buf text;	/* all of them, each with its NUL */
	uint32_t *at;		/* where string I begins in .text */
	uint32_t *slot;		/* 1 + number, by hash; 0: free */
	uint32_t n, slots;
	bool failed;
};

void strtab_release(struct strtab *t);
/* The number of @s. */
uint32_t strtab_add(struct strtab *t, const char *s);
/* Until the next strtab_add. */
const char *strtab_get(const struct strtab *t, uint32_t number);

#endif
