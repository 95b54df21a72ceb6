/* SPDX-License-Identifier: MIT */
#include "rr/jump.h"

#include <string.h>

#define PAGE ((uint64_t)4096)
#define LOWEST ((uint64_t)65536)
#define HIGHEST ((uint64_t)0x7ffffffff000)
#define TRAPS 0xccccccccu

/* Distances are tried from 0, -1 GiB, where what code refers to is in reach, too, and -2 GiB. */
static const uint32_t first[] = { 0, 0xc0000000u, 0x80000000u };
#define FIRSTS (sizeof(first) / sizeof(first[0]))

static uint32_t trap_mask(uint32_t inner)
{
	uint32_t mask = 0;

	for (int i = 0; i < 4; i++)
		mask |= (inner >> (i + 1) & 1) * (0xffu << 8 * i);
	return mask;
}

/* The least number of at least @low that has traps where @mask says. False: there is none. */
static bool with_traps(uint32_t low, uint32_t mask, uint32_t *got)
{
	uint64_t d = (low & ~mask) | (TRAPS & mask);
	int bit;

	if (d < low) {
		/* One more above the first bit that is too small, and as little as can be below. */
		bit = 31 - __builtin_clz((uint32_t)d ^ low);
		d = (((uint64_t)(low | mask) >> bit) + 1) << bit;
		if (d > UINT32_MAX)
			return false;
		d = (d & ~mask) | (TRAPS & mask);
	}
	*got = (uint32_t)d;
	return true;
}

/* In the room between two mappings, at distances of one sign from @from on. */
static bool find_in(const struct jump_want *w, uint64_t start, uint64_t end, uint32_t from,
		    uint64_t *target)
{
	const uint64_t behind = w->at + JUMP_BYTES;
	const uint64_t low = behind + (uint64_t)(int64_t)(int32_t)from;
	const uint64_t least = (start > low ? start : low) + w->before;
	uint64_t page;
	uint32_t d;

	if (low > HIGHEST || least >= end || least - low > UINT32_MAX / 2 ||
	    !with_traps((uint32_t)(least - behind), trap_mask(w->inner), &d) || (d ^ from) >> 31)
		return false;
	*target = behind + (uint64_t)(int64_t)(int32_t)d;
	page = (*target - w->before) & ~(PAGE - 1);
	return page >= start && page + w->bytes <= end;
}

bool jump_find(const struct jump_want *want, const struct procmaps *maps, unsigned int nth,
	       uint64_t *target)
{
	uint64_t start = LOWEST;

	for (size_t i = 0; i <= maps->n; i++) {
		/* One of the kernel's is listed that is above all. */
		const uint64_t end = i < maps->n && maps->at[i].start < HIGHEST ?
				     maps->at[i].start : HIGHEST;

		for (size_t k = 0; end > start && k < FIRSTS; k++)
			if (find_in(want, start, end, first[k], target) && !nth--)
				return true;
		if (i < maps->n && maps->at[i].end > start)
			start = maps->at[i].end;
	}
	return false;
}

void jump_make(uint8_t jump[JUMP_BYTES], uint64_t at, uint64_t target)
{
	const int32_t d = (int32_t)(target - at - JUMP_BYTES);

	jump[0] = 0xe9;
	memcpy(jump + 1, &d, sizeof(d));
}
