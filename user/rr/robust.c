/* SPDX-License-Identifier: MIT */
#include "rr/robust.h"

#define LOCKS_MOST 2048		/* ROBUST_LIST_LIMIT */
#define TID 0x3fffffffu		/* <linux/futex.h>: FUTEX_TID_MASK */
#define WAITERS 0x80000000u
#define OWNER_DIED 0x40000000u
#define IS_PI 1			/* in the address of an entry */

/* struct robust_list_head, <linux/futex.h>. */
struct head { uint64_t first, offset, pending; };

/* Below 0: the list cannot be right. */
static int mark(const struct rthread *t, uint64_t addr)
{
	const struct tracee *space = &t->space->t;
	uint32_t word;

	if (addr % sizeof(word))
		return -1;
	if (tracee_read(space, &word, addr, sizeof(word)))
		return -1;
	if ((word & TID) != t->own)
		return 0;
	word = (word & WAITERS) | OWNER_DIED;
	return tracee_put(space, addr, &word, sizeof(word));
}

void robust_die(const struct rthread *t)
{
	const struct tracee *space = &t->space->t;
	uint64_t at, next;
	struct head h;

	if (!t->robust || tracee_read(space, &h, t->robust, sizeof(h)))
		return;
	at = h.first & ~(uint64_t)IS_PI;
	for (int i = 0; i < LOCKS_MOST && at != t->robust; i++) {
		if (tracee_read(space, &next, at, sizeof(next)))
			break;
		if (at != (h.pending & ~(uint64_t)IS_PI) && mark(t, at + h.offset))
			return;
		at = next & ~(uint64_t)IS_PI;
	}
	if (h.pending)
		mark(t, (h.pending & ~(uint64_t)IS_PI) + h.offset);
}
