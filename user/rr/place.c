/* SPDX-License-Identifier: MIT */
#include "rr/place.h"

#include <string.h>

#define FLAGS_SEEN 0xcd5u	/* carry to overflow; not those of traps and steps */

void place_get(const struct user_regs_struct *r, uint64_t to[RR_PLACE_REGS])
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

void place_set(struct user_regs_struct *r, const uint64_t from[RR_PLACE_REGS])
{
	unsigned long long *const to[RR_PLACE_REGS] = {
		&r->r15, &r->r14, &r->r13, &r->r12, &r->rbp, &r->rbx, &r->r11, &r->r10, &r->r9,
		&r->r8, &r->rax, &r->rcx, &r->rdx, &r->rsi, &r->rdi, &r->rip, &r->eflags, &r->rsp,
	};

	for (unsigned int i = 0; i < RR_PLACE_REGS; i++)
		*to[i] = from[i];
}

uint32_t place_compare(const uint64_t is[RR_PLACE_REGS], const uint64_t was[RR_PLACE_REGS])
{
	uint32_t differ = (uint32_t)(((is[RR_PLACE_FLAGS] ^ was[RR_PLACE_FLAGS]) & FLAGS_SEEN) != 0)
			  << RR_PLACE_FLAGS;

	for (unsigned int i = 0; i < RR_PLACE_REGS; i++)
		if (i != RR_PLACE_FLAGS)
			differ |= (uint32_t)(is[i] != was[i]) << i;
	return differ;
}

uint32_t place_differs(const struct tracee *t, const struct place *p)
{
	uint64_t is[RR_PLACE_REGS], was[RR_PLACE_REGS];

	place_get(&t->regs, is);
	memcpy(was, p->at, sizeof(was));
	return place_compare(is, was);
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
