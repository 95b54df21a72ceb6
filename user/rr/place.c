/* SPDX-License-Identifier: MIT */
#include "rr/place.h"

#include <string.h>

#define FLAGS_SEEN 0xcd5u	/* carry to overflow; not those of traps and steps */

static void place_regs(const struct user_regs_struct *r, uint64_t to[RR_PLACE_REGS])
{
	const struct rr_place p = {
		.r15 = r->r15, .r14 = r->r14, .r13 = r->r13, .r12 = r->r12, .bp = r->rbp,
		.bx = r->rbx, .r11 = r->r11, .r10 = r->r10, .r9 = r->r9, .r8 = r->r8, .ax = r->rax,
		.cx = r->rcx, .dx = r->rdx, .si = r->rsi, .di = r->rdi, .ip = r->rip,
		.flags = r->eflags, .sp = r->rsp,
	};

	_Static_assert(sizeof(p) == RR_PLACE_REGS * sizeof(*to), "registers alone");
	memcpy(to, &p, sizeof(p));
}

uint32_t place_differs(const struct tracee *t, const struct place *p)
{
	uint64_t is[RR_PLACE_REGS], was[RR_PLACE_REGS];
	uint32_t differ = 0;

	place_regs(&t->regs, is);
	memcpy(was, p->at, sizeof(was));
	is[RR_PLACE_FLAGS] &= FLAGS_SEEN;
	was[RR_PLACE_FLAGS] &= FLAGS_SEEN;
	for (unsigned int i = 0; i < RR_PLACE_REGS; i++)
		differ |= (uint32_t)(is[i] != was[i]) << i;
	return differ;
}

/* All pieces, without more memory than one of them. */
static bool is_evident(const struct tracee *t, const struct place *p)
{
	char now[RR_STACK_BYTES];

	for (size_t at = 0; at + sizeof(struct rr_piece) <= p->bytes;) {
		const struct rr_piece *piece = (const void *)(p->pieces + at);

		at += sizeof(*piece);
		if (piece->bytes > p->bytes - at || piece->bytes > sizeof(now) ||
		    tracee_read(t, now, piece->addr, piece->bytes) ||
		    memcmp(now, p->pieces + at, piece->bytes))
			return false;
		at += (piece->bytes + 7) & ~7u;
	}
	return true;
}

bool place_is_here(const struct tracee *t, const struct place *p)
{
	return !place_differs(t, p) && is_evident(t, p);
}
