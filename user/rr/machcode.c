/* SPDX-License-Identifier: MIT */
#include "rr/machcode.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>

#include "rr/insn.h"

/* In the ModRM byte of opcode 0xff. */
#define FF_CALL	2u
#define FF_JUMP	4u

void machcode_put(struct machcode *c, const void *bytes, size_t n)
{
	if (c->failed || c->cap - c->n < n) {
		c->failed = true;
		return;
	}
	memcpy(c->at + c->n, bytes, n);
	c->n += n;
}

uint64_t machcode_here(const struct machcode *c)
{
	return c->base + c->n;
}

/* Whether 32 bits are enough, and they. */
static bool distance(uint64_t behind, uint64_t target, int32_t *d)
{
	const int64_t far = (int64_t)(target - behind);

	*d = (int32_t)far;
	return far == *d;
}

void machcode_near(struct machcode *c, const void *opcode, size_t n, uint64_t target)
{
	int32_t d;

	machcode_put(c, opcode, n);
	if (!distance(machcode_here(c) + sizeof(d), target, &d))
		c->failed = true;
	machcode_put(c, &d, sizeof(d));
}

void machcode_word(struct machcode *c, const void *opcode, size_t n, uint64_t word)
{
	machcode_put(c, opcode, n);
	machcode_put(c, &word, sizeof(word));
}

void machcode_aim(struct machcode *c, uint64_t behind, uint64_t target)
{
	int32_t d;

	if (c->failed || !distance(behind, target, &d)) {
		c->failed = true;
		return;
	}
	memcpy(c->at + (behind - c->base) - sizeof(d), &d, sizeof(d));
}

/* ---- instructions that are moved --------------------------------------------- */

static int decode(const uint8_t *code, size_t n, ZydisDecodedInstruction *in,
		  ZydisDecodedOperand *op)
{
	ZydisDecoder d;

	/* What a thread is to be stopped at stays where it is. */
	if (insn_at(code, n, true).kind != INSN_NONE)
		return -ENOTSUP;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&d, code, n, in, op)))
		return -ENOTSUP;
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_INTERRUPT: return -ENOTSUP;
	default: return 0;
	}
}

size_t machcode_length(const uint8_t *code, size_t n)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	return decode(code, n, &in, op) ? 0 : in.length;
}

bool machcode_repeats(const uint8_t *code, size_t n)
{
	const ZydisInstructionAttributes rep = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
					       ZYDIS_ATTRIB_HAS_REPNE;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	return !decode(code, n, &in, op) && in.attributes & rep;
}

int moved_look(struct moved *m, uint64_t ip, const uint8_t *code, size_t n)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	int r;

	*m = (struct moved){ .ip = ip, .code = code, .have = n };
	while (m->bytes < MOVED_LEAST) {
		r = decode(code + m->bytes, n - m->bytes, &in, op);
		if (r)
			return r;
		m->begin[m->n++] = (uint8_t)m->bytes;
		m->bytes += in.length;
	}
	return 0;
}

/* A jump or call to one of the moved, which is known when all are. */
struct inner {
	uint64_t behind;
	unsigned int which;
};

struct moving {
	struct machcode *to;
	struct moved *m;
	uint64_t again;
	struct inner inner[MOVED_MOST];
	unsigned int ninner;
};

static void go_to(struct moving *v, const void *opcode, size_t n, uint64_t target)
{
	const uint64_t at = target - v->m->ip;

	if (!at) {
		machcode_near(v->to, opcode, n, v->again);
		return;
	}
	machcode_near(v->to, opcode, n, at < v->m->bytes ? machcode_here(v->to) : target);
	for (unsigned int i = 1; i < v->m->n; i++)
		if (v->m->begin[i] == at)
			v->inner[v->ninner++] = (struct inner){ machcode_here(v->to), i };
}

/* What a call leaves on the stack is the address behind its own place. No flag is changed. */
static void push(struct machcode *c, uint64_t word)
{
	const uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);

	machcode_put(c, "\x68", 1);			/* push low */
	machcode_put(c, &low, sizeof(low));
	machcode_put(c, "\xc7\x44\x24\x04", 4);		/* mov dword [rsp + 4], high */
	machcode_put(c, &high, sizeof(high));
}

/* A branch that says how far it goes. */
static int move_branch(struct moving *v, const ZydisDecodedInstruction *in, uint64_t target,
		       uint64_t behind)
{
	const uint8_t condition[2] = { 0x0f, 0x80 | (in->opcode & 0xf) };

	switch (in->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		push(v->to, behind);
		go_to(v, "\xe9", 1, target);
		return 0;
	case ZYDIS_CATEGORY_UNCOND_BR:
		go_to(v, "\xe9", 1, target);
		return 0;
	case ZYDIS_CATEGORY_COND_BR:
		if (in->opcode < 0xe0 || in->opcode > 0xe3) {
			go_to(v, condition, 2, target);
			return 0;
		}
		/* loop and jrcxz go no farther than 127 bytes: here over a jump, or to one. */
		if (in->raw.prefix_count)
			return -ENOTSUP;
		machcode_put(v->to, &in->opcode, 1);
		machcode_put(v->to, "\x02\xeb\x05", 3);
		go_to(v, "\xe9", 1, target);
		return 0;
	default: return -ENOTSUP;
	}
}

/* One by way of a register or of memory: the same jump, behind a push of the address. */
static int move_call(struct moving *v, const ZydisDecodedInstruction *in,
		     const ZydisDecodedOperand *op, uint8_t *code, uint64_t behind)
{
	const bool by_stack = (op->type == ZYDIS_OPERAND_TYPE_MEMORY &&
			       op->mem.base == ZYDIS_REGISTER_RSP) ||
			      (op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
			       op->reg.value == ZYDIS_REGISTER_RSP);

	if (by_stack || in->opcode != 0xff || in->raw.modrm.reg != FF_CALL)
		return -ENOTSUP;
	push(v->to, behind);
	code[in->raw.modrm.offset] ^= (FF_CALL ^ FF_JUMP) << 3;
	return 0;
}

static int move_one(struct moving *v, unsigned int which)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
	const uint8_t *from = v->m->code + v->m->begin[which];
	const uint64_t ip = v->m->ip + v->m->begin[which];
	ZyanU64 target;
	int32_t d;

	if (decode(from, v->m->have - v->m->begin[which], &in, op))
		return -ENOTSUP;
	memcpy(code, from, in.length);
	v->m->now[which] = machcode_here(v->to);
	if (in.operand_count_visible && op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	    op[0].imm.is_relative) {
		if (ZYAN_FAILED(ZydisCalcAbsoluteAddress(&in, &op[0], ip, &target)))
			return -ENOTSUP;
		return move_branch(v, &in, target, ip + in.length);
	}
	if (in.meta.category == ZYDIS_CATEGORY_CALL && move_call(v, &in, op, code, ip + in.length))
		return -ENOTSUP;
	/* Memory by its distance from the instruction: mod 0, rm 5. */
	if (in.attributes & ZYDIS_ATTRIB_HAS_MODRM && !in.raw.modrm.mod && in.raw.modrm.rm == 5) {
		if (!distance(machcode_here(v->to) + in.length,
			      ip + in.length + (uint64_t)in.raw.disp.value, &d))
			return -ENOTSUP;
		memcpy(code + in.raw.disp.offset, &d, sizeof(d));
	} else if (in.attributes & ZYDIS_ATTRIB_IS_RELATIVE) {
		return -ENOTSUP;
	}
	machcode_put(v->to, code, in.length);
	return 0;
}

int moved_add(struct machcode *c, struct moved *m, uint64_t again)
{
	struct moving v = { .to = c, .m = m, .again = again };
	int r = 0;

	for (unsigned int i = 0; !r && i < m->n; i++)
		r = move_one(&v, i);
	if (r)
		return r;
	machcode_near(c, "\xe9", 1, m->ip + m->bytes);
	for (unsigned int i = 0; i < v.ninner; i++)
		machcode_aim(c, v.inner[i].behind, m->now[v.inner[i].which]);
	return c->failed ? -ENOTSUP : 0;
}
