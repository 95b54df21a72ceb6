/* SPDX-License-Identifier: MIT */
#include "rr/insn.h"

#include <string.h>
#include <sys/random.h>
#include <x86intrin.h>

#include "shared/rr_insn.h"

#define REX_B 1
#define REX_W 8
#define CARRY 1u
#define FLAGS_CHANGED 0x8d5u	/* carry, parity, adjust, zero, sign, overflow */
#define LOW_WORD 0xffffffffu

/* By the numbers that instructions have for them: what they are in struct rr_place. */
static const uint8_t place_of[16] = {
	RR_PLACE_AX, RR_PLACE_CX, RR_PLACE_DX, RR_PLACE_BX, RR_PLACE_SP, RR_PLACE_BP,
	RR_PLACE_SI, RR_PLACE_DI, RR_PLACE_R8, RR_PLACE_R9, RR_PLACE_R10, RR_PLACE_R11,
	RR_PLACE_R12, RR_PLACE_R13, RR_PLACE_R14, RR_PLACE_R15,
};

/* Its bytes behind prefixes of no account, as it is and as it is replaced. */
static const struct { uint8_t kind, bytes, was[3], is[3]; } fixed[] = {
	{ INSN_TSC, 2, { 0x0f, RR_INSN_TSC }, { 0x0f, RR_INSN_UD0 } },
	{ INSN_TSCP, 3, { 0x0f, RR_INSN_TSCP, RR_INSN_TSCP_RM },
	  { 0x0f, RR_INSN_UD1, RR_INSN_UD1_RM } },
};

static struct insn random_at(uint64_t word, size_t n, uint8_t opcode)
{
	const unsigned int at = rr_insn_prefixes(word);
	uint8_t b[sizeof(word)], rex;

	memcpy(b, &word, sizeof(b));
	rex = at && b[at - 1] != 0x66 ? b[at - 1] : 0;
	if (b[at] != 0x0f || b[at + 1] != opcode || b[at + 2] < RR_INSN_RM_LEAST || at + 3 > n)
		return (struct insn){ .kind = INSN_NONE };
	return (struct insn){
		.kind = INSN_RANDOM, .bytes = at + 3, .prefixes = at,
		.reg = place_of[(b[at + 2] & 7) | (rex & REX_B) << 3],
		.width = rex & REX_W ? 8 : b[0] == 0x66 ? 2 : 4,
	};
}

struct insn insn_at(const uint8_t *code, size_t n, bool replaced)
{
	uint64_t word = 0;

	memcpy(&word, code, n < sizeof(word) ? n : sizeof(word));
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (!memcmp(&word, replaced ? fixed[i].is : fixed[i].was, fixed[i].bytes))
			return (struct insn){ .kind = fixed[i].kind, .bytes = fixed[i].bytes };
	return random_at(word, n, replaced ? RR_INSN_UD1 : RR_INSN_RANDOM);
}

void insn_replace(const struct insn *in, uint8_t *code)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (fixed[i].kind == in->kind)
			memcpy(code, fixed[i].is, fixed[i].bytes);
	if (in->kind == INSN_RANDOM)
		code[in->prefixes + 1] = RR_INSN_UD1;
}

/* Without a number the carry says so, as the processor's does. */
static uint32_t do_random(const struct insn *in, uint64_t reg[RR_PLACE_REGS])
{
	uint64_t number = 0;
	const bool got = getrandom(&number, in->width, 0) == (ssize_t)in->width;

	/* 32 bits clear those above them, 16 do not. */
	if (in->width == 2)
		number |= reg[in->reg] & ~(uint64_t)0xffff;
	reg[in->reg] = number;
	reg[RR_PLACE_FLAGS] = (reg[RR_PLACE_FLAGS] & ~(uint64_t)FLAGS_CHANGED) | (got ? CARRY : 0);
	return 1u << in->reg | 1u << RR_PLACE_FLAGS;
}

uint32_t insn_do(const struct insn *in, uint64_t reg[RR_PLACE_REGS])
{
	uint32_t changed = 1u << RR_PLACE_IP;
	unsigned int aux = 0;
	uint64_t tsc;

	reg[RR_PLACE_IP] += in->bytes;
	if (in->kind == INSN_RANDOM)
		return changed | do_random(in, reg);
	tsc = in->kind == INSN_TSC ? __rdtsc() : __rdtscp(&aux);
	reg[RR_PLACE_AX] = tsc & LOW_WORD;
	reg[RR_PLACE_DX] = tsc >> 32;
	changed |= 1u << RR_PLACE_AX | 1u << RR_PLACE_DX;
	if (in->kind == INSN_TSC)
		return changed;
	reg[RR_PLACE_CX] = aux;
	return changed | 1u << RR_PLACE_CX;
}
