/* SPDX-License-Identifier: MIT */
#ifndef RR_FASTBREAK_H
#define RR_FASTBREAK_H

/*
 * A breakpoint with a condition that the process looks at by itself: a near jump at the
 * instruction leads to code of ours, which compares registers and words of memory with what
 * they are to be, and traps when all are equal. A pass that is not the one costs some
 * instructions, not a stop of the process.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "rr/jump.h"
#include "rr/machcode.h"
#include "rr/procmaps.h"
#include "shared/rr.h"

#define FASTBREAK_WORDS 64
#define FASTBREAK_PAGES 2

struct fastbreak_word {
	uint64_t addr, value;	/* it can be read at each pass */
};

struct fastbreak_want {
	const struct rr_place *at;
	struct fastbreak_word word[FASTBREAK_WORDS];
	size_t nword;
	uint32_t skip;		/* bits of registers that are not compared */
	/*
	 * What is compared first, as what is seldom equal: a register by its number in
	 * struct rr_place, not .ip nor .flags, or behind RR_PLACE_REGS a word.
	 */
	unsigned int tell;
};

struct fastbreak {
	uint64_t page;		/* where FASTBREAK_PAGES pages are to be mapped */
	uint8_t code[FASTBREAK_PAGES * 4096];
	uint8_t jump[JUMP_BYTES];	/* at the instruction */
	struct moved moved;
	uint64_t hit;		/* where a trap has ended when all were equal; it goes on there */
};

/*
 * @code is what is at the instruction, for as long as @f is used; @maps, what is mapped. 0;
 * -ENOTSUP: it cannot be put there.
 */
int fastbreak_build(struct fastbreak *f, const struct fastbreak_want *want, const uint8_t *code,
		    size_t n, const struct procmaps *maps);
/* Whether a trap that ended at @ip is one at an instruction that the jump lies over. */
bool fastbreak_is_inner(const struct fastbreak *f, uint64_t ip);

#endif
