/* SPDX-License-Identifier: MIT */
#ifndef SHARED_RR_INSN_H
#define SHARED_RR_INSN_H

/*
 * Instructions whose result no replay would get again: those that read the time stamp counter,
 * and random numbers of the processor. Not every virtual machine lets them be trapped. So those
 * in a program's files are replaced as the files are mapped, by others of the same length that no
 * processor has and no compiler makes: a thread is stopped there, and is told a result.
 *
 *	rdtsc		0f 31			0f ff		ud0, less what follows it
 *	rdtscp		0f 01 f9		0f b9 c9	ud1 of registers
 *	rdrand, rdseed	[66] [REX] 0f c7 /6 /7	[66] [REX] 0f b9 /6 /7	the same
 */
#include "shared/rr_call.h"

#define RR_INSN_TSC	0x31u	/* second bytes; of what they are replaced by: */
#define RR_INSN_TSCP	0x01u
#define RR_INSN_RANDOM	0xc7u
#define RR_INSN_UD0	0xffu
#define RR_INSN_UD1	0xb9u
#define RR_INSN_TSCP_RM	0xf9u	/* third bytes */
#define RR_INSN_UD1_RM	0xc9u
#define RR_INSN_RM_LEAST 0xf0u	/* of registers, /6 and /7 */

/* How many prefixes of random numbers' there are in code, of which @word is the beginning. */
static inline u32 rr_insn_prefixes(u64 word)
{
	const u32 n = (word & 0xff) == 0x66;

	return n + ((word >> 8 * n & 0xf0) == 0x40);
}

/* Whether code that begins so is one that was replaced. */
static inline int rr_insn_is_replaced(u64 word)
{
	const u32 n = rr_insn_prefixes(word);
	const u32 code = (u32)(word >> 8 * n), second = code >> 8 & 0xff, third = code >> 16 & 0xff;

	if ((code & 0xff) != 0x0f)
		return 0;
	if (second == RR_INSN_UD0)
		return !n;
	return second == RR_INSN_UD1 &&
	       (third >= RR_INSN_RM_LEAST || (!n && third == RR_INSN_UD1_RM));
}

#endif
