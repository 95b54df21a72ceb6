/* SPDX-License-Identifier: MIT */
#ifndef RR_JUMP_H
#define RR_JUMP_H

/*
 * Where a near jump that is put over other instructions leads to. Others may jump to the
 * second of these, and would find the jump's distance there: it is one of which the bytes at
 * such places are breakpoint instructions.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rr/procmaps.h"

#define JUMP_BYTES 5

struct jump_want {
	uint64_t at;		/* of its first byte */
	uint32_t inner;		/* bits of the bytes, counted from it, that are to be traps */
	size_t before;		/* bytes of the pages in front of where it leads to */
	size_t bytes;		/* of the pages, of which the first 4096 hold that place */
};

/*
 * The @nth address that is free, near enough and fits; the pages begin with the one that
 * holds .before. False: there are no more.
 */
bool jump_find(const struct jump_want *want, const struct procmaps *maps, unsigned int nth,
	       uint64_t *target);
void jump_make(uint8_t jump[JUMP_BYTES], uint64_t at, uint64_t target);

#endif
