/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: two registers are kept beside and used; the first comparison changes no flag (lea,
 * jrcxz), the others are behind lahf and seto. Nothing is put on the stack, where a red zone
 * may be. The instructions that the jump lies over are done in our code.
 */
#include "rr/fastbreak.h"

#include <errno.h>
#include <string.h>

#define PAGE ((uint64_t)4096)
#define INT3 0xccu
#define AX RR_PLACE_AX
#define CX RR_PLACE_CX
#define IP RR_PLACE_IP
#define FLAGS RR_PLACE_FLAGS
#define KEPT_BYTES 24		/* at the beginning of the pages: cx, ax, flags */
#define OVERFLOW 0x800
#define LAHF_FLAGS 0xd5u	/* what lahf gives, beside bit 1 */

/* The processor's numbers of the registers of struct rr_place. */
static const uint8_t number[RR_PLACE_REGS] = { 15, 14, 13, 12, 5, 3, 11, 10, 9, 8, 0, 1, 2, 6, 7,
					       0, 0, 4 };

static uint64_t value_of(const struct rr_place *p, unsigned int i)
{
	uint64_t v;

	memcpy(&v, (const char *)p + i * sizeof(v), sizeof(v));
	return v;
}

enum kept { KEPT_CX, KEPT_AX, KEPT_FLAGS };

static uint64_t kept(const struct fastbreak *f, enum kept which)
{
	return f->page + 8 * which;
}

/* An instruction of rcx or rax, and register @i: @op, with it as ModRM's reg. */
static void with_reg(struct machcode *c, uint8_t op, uint8_t rm, unsigned int i)
{
	const uint8_t n = number[i];
	const uint8_t in[3] = { (uint8_t)(0x48 | n >> 3 << 2), op,
				(uint8_t)(0xc0 | (n & 7) << 3 | rm) };

	machcode_put(c, in, sizeof(in));
}

/* rcx = what tells. */
static void load_telling(struct machcode *c, const struct fastbreak_want *w, uint64_t *value)
{
	if (w->tell < RR_PLACE_REGS) {
		*value = value_of(w->at, w->tell);
		with_reg(c, 0x89, 1, w->tell);			/* mov rcx, reg */
		return;
	}
	*value = w->word[w->tell - RR_PLACE_REGS].value;
	machcode_word(c, "\x48\xb9", 2, w->word[w->tell - RR_PLACE_REGS].addr);
	machcode_put(c, "\x48\x8b\x09", 3);			/* mov rcx, [rcx] */
}

static void restore_flags(struct machcode *c, const struct fastbreak *f)
{
	machcode_near(c, "\x48\x8b\x05", 3, kept(f, KEPT_FLAGS));	/* mov rax, [] */
	machcode_put(c, "\x04\x7f\x9e", 3);			/* add al, 127; sahf */
	machcode_near(c, "\x48\x8b\x05", 3, kept(f, KEPT_AX));
	machcode_near(c, "\x48\x8b\x0d", 3, kept(f, KEPT_CX));	/* mov rcx, [] */
}

/* Jumps of which the target is not known as yet: all of them to the same. */
struct jumps {
	uint64_t behind[RR_PLACE_REGS + FASTBREAK_WORDS];
	size_t n;
};

static void unless_equal(struct machcode *c, struct jumps *j)
{
	machcode_near(c, "\x0f\x85", 2, machcode_here(c));	/* jne */
	j->behind[j->n++] = machcode_here(c);
}

static void compare_flags(struct machcode *c, const struct fastbreak *f, uint64_t flags,
			  struct jumps *j)
{
	const uint16_t ax = (uint16_t)(((flags & LAHF_FLAGS) | 2) << 8 | !!(flags & OVERFLOW));

	machcode_near(c, "\x48\x8b\x05", 3, kept(f, KEPT_FLAGS));
	machcode_put(c, "\x66\x3d", 2);				/* cmp ax, imm16 */
	machcode_put(c, &ax, sizeof(ax));
	unless_equal(c, j);
}

static void compare_registers(struct machcode *c, const struct fastbreak *f,
			      const struct fastbreak_want *w, struct jumps *j)
{
	for (unsigned int i = 0; i < RR_PLACE_REGS; i++) {
		if (i == IP || i == FLAGS || w->skip >> i & 1)
			continue;
		machcode_word(c, "\x48\xb9", 2, value_of(w->at, i));	/* mov rcx, imm64 */
		if (i == AX || i == CX)
			machcode_near(c, "\x48\x3b\x0d", 3, kept(f, i == AX ? KEPT_AX : KEPT_CX));
		else
			with_reg(c, 0x39, 1, i);		/* cmp rcx, reg */
		unless_equal(c, j);
	}
}

static void compare_words(struct machcode *c, const struct fastbreak_want *w, struct jumps *j)
{
	for (size_t i = 0; i < w->nword; i++) {
		machcode_word(c, "\x48\xb9", 2, w->word[i].addr);
		machcode_put(c, "\x48\x8b\x09", 3);
		machcode_word(c, "\x48\xb8", 2, w->word[i].value);	/* mov rax, imm64 */
		machcode_put(c, "\x48\x39\xc1", 3);		/* cmp rcx, rax */
		unless_equal(c, j);
	}
}

/* The code, of which the first byte is where the jump goes. */
static int emit(struct fastbreak *f, const struct fastbreak_want *w, struct machcode *c)
{
	const uint64_t entry = machcode_here(c);
	struct jumps differ = { .n = 0 };
	uint64_t value, go_on, look;

	machcode_near(c, "\x48\x89\x0d", 3, kept(f, KEPT_CX));	/* mov [], rcx */
	machcode_near(c, "\x48\x89\x05", 3, kept(f, KEPT_AX));
	load_telling(c, w, &value);
	machcode_word(c, "\x48\xb8", 2, -value);
	machcode_put(c, "\x48\x8d\x0c\x01", 4);			/* lea rcx, [rcx + rax] */
	machcode_near(c, "\x48\x8b\x05", 3, kept(f, KEPT_AX));
	machcode_put(c, "\xe3\x02\xeb\x05", 4);			/* jrcxz +2; jmp +5 */
	machcode_near(c, "\xe9", 1, machcode_here(c));
	look = machcode_here(c);
	go_on = machcode_here(c);
	machcode_near(c, "\x48\x8b\x0d", 3, kept(f, KEPT_CX));
	if (moved_add(c, &f->moved, entry))
		return -ENOTSUP;
	machcode_aim(c, look, machcode_here(c));
	machcode_put(c, "\x9f\x0f\x90\xc0", 4);			/* lahf; seto al */
	machcode_near(c, "\x48\x89\x05", 3, kept(f, KEPT_FLAGS));
	compare_registers(c, f, w, &differ);
	if (!(w->skip >> FLAGS & 1))
		compare_flags(c, f, w->at->flags, &differ);
	compare_words(c, w, &differ);
	restore_flags(c, f);
	machcode_put(c, "\xcc", 1);
	f->hit = machcode_here(c);
	machcode_near(c, "\xe9", 1, go_on);
	for (size_t i = 0; i < differ.n; i++)
		machcode_aim(c, differ.behind[i], machcode_here(c));
	restore_flags(c, f);
	machcode_near(c, "\xe9", 1, go_on);
	return c->failed ? -ENOTSUP : 0;
}

/* The bytes of the jump at which others may arrive. */
static uint32_t inner_bytes(const struct moved *m)
{
	uint32_t bits = 0;

	for (unsigned int i = 1; i < m->n; i++)
		bits |= 1u << m->begin[i];
	return bits;
}

int fastbreak_build(struct fastbreak *f, const struct fastbreak_want *want, const uint8_t *code,
		    size_t n, const struct procmaps *maps)
{
	struct jump_want w = { .at = want->at->ip, .before = KEPT_BYTES, .bytes = sizeof(f->code) };
	uint64_t entry;
	int r = moved_look(&f->moved, want->at->ip, code, n);

	if (r)
		return r;
	w.inner = inner_bytes(&f->moved);
	for (unsigned int i = 0; jump_find(&w, maps, i, &entry); i++) {
		struct machcode c = { .at = f->code, .cap = sizeof(f->code) };

		f->page = c.base = (entry - KEPT_BYTES) & ~(PAGE - 1);
		c.n = entry - f->page;
		memset(f->code, INT3, sizeof(f->code));
		if (emit(f, want, &c))
			continue;
		jump_make(f->jump, w.at, entry);
		return 0;
	}
	return -ENOTSUP;
}

bool fastbreak_is_inner(const struct fastbreak *f, uint64_t ip)
{
	for (unsigned int i = 1; i < f->moved.n; i++)
		if (ip == f->moved.ip + f->moved.begin[i] + 1)
			return true;
	return false;
}
