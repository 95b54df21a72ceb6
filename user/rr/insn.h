/* SPDX-License-Identifier: MIT */
#ifndef RR_INSN_H
#define RR_INSN_H

/*
 * Instructions of which no replay would get the same result, as they are in a program's code and
 * as what they are replaced by, <shared/rr_insn.h>.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/rr.h"

#define INSN_MOST 5	/* bytes of one */

enum insn_kind { INSN_NONE, INSN_TSC, INSN_TSCP, INSN_RANDOM };

struct insn {
	enum insn_kind kind;
	unsigned int bytes;
	unsigned int prefixes;	/* bytes in front of the opcode */
	unsigned int reg;	/* of struct rr_place, for a random number of */
	unsigned int width;	/* bytes */
};

/* The one at @code, with @replaced what one was replaced by. .kind is INSN_NONE where none is. */
struct insn insn_at(const uint8_t *code, size_t n, bool replaced);
/* Makes of the one at @code what it is replaced by. */
void insn_replace(const struct insn *in, uint8_t *code);
/*
 * Does what it does, to registers in the order of struct rr_place: those that it changed, in bits
 * of their numbers.
 */
uint32_t insn_do(const struct insn *in, uint64_t reg[RR_PLACE_REGS]);

#endif
