/* SPDX-License-Identifier: MIT */
#ifndef TAPE_RANGES_H
#define TAPE_RANGES_H

/* LIST of -l, -c and -f, as cut(1) has it: N, N-, -M, N-M, parted by commas; from 1 on. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct range {
	uint64_t low, high;	/* both are in it; high: UINT64_MAX for N- */
};

/* Ascending; ranges that overlap are one, those that only touch are two. */
struct ranges {
	struct range *at;
	size_t n;
};

/*
 * Reads @list. -EINVAL: "range 'X' was invalid: " and why, in the words of cut's kin;
 * -ENOMEM. ranges_release() after success.
 */
int ranges_parse(struct ranges *r, const char *list, struct err *err);
/* What is in none of them, which may be nothing; 0 or -ENOMEM. */
int ranges_invert(struct ranges *r);
void ranges_release(struct ranges *r);

/*
 * Whether @n is in a range, for numbers that ascend: *at, 0 at first, is where the last
 * call left off. NULL: in none.
 */
const struct range *ranges_find(const struct ranges *r, size_t *at, uint64_t n);

#endif
