/* SPDX-License-Identifier: MIT */
#include "rr/cpuid.h"

#include <cpuid.h>

enum { EAX, EBX, ECX, EDX };

/*
 * Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E. Not of these: what tells one CPU of
 * a machine from another, ids and, in leaf 1, the whole of ebx.
 */
static const struct { uint32_t leaf, part, reg; } words[CPUID_WORDS] = {
	{ 0, 0, EBX }, { 0, 0, EDX }, { 0, 0, ECX },		/* vendor */
	{ 1, 0, EAX },						/* family, model, stepping */
	{ 1, 0, ECX }, { 1, 0, EDX },				/* features */
	{ 7, 0, EBX }, { 7, 0, ECX }, { 7, 0, EDX }, { 7, 1, EAX },
	{ 0xd, 0, EAX }, { 0xd, 1, EAX },			/* what XSAVE saves */
	{ 0x80000001, 0, ECX }, { 0x80000001, 0, EDX },
};

void cpuid_read(uint32_t word[CPUID_WORDS])
{
	for (int i = 0; i < CPUID_WORDS; i++) {
		uint32_t r[4] = { 0 };

		__get_cpuid_count(words[i].leaf, words[i].part, &r[EAX], &r[EBX], &r[ECX], &r[EDX]);
		word[i] = r[words[i].reg];
	}
}
