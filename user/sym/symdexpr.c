/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH 32
#define OPS_MAX 256

struct machine {
	uint64_t v[DEPTH];
	unsigned int n;
	bool is_value;
	const struct symd_cpu *cpu;
	const struct symd_stack *mem;
	const uint64_t *cfa;
};

bool symd_stack_read(const struct symd_stack *m, uint64_t addr, uint64_t *out)
{
	if (addr < m->base || m->n < sizeof(*out) || addr - m->base > m->n - sizeof(*out))
		return false;
	memcpy(out, (const char *)m->bytes + (addr - m->base), sizeof(*out));
	return true;
}

static int push(struct machine *m, uint64_t v)
{
	if (m->n == DEPTH)
		return -1;
	m->v[m->n++] = v;
	return 0;
}

static int push_register(struct machine *m, uint64_t reg, uint64_t plus)
{
	if (reg >= SYM_REGS || !(m->cpu->valid >> reg & 1))
		return -1;
	return push(m, m->cpu->r[reg] + plus);
}

/* Two values to one. */
static int binary(struct machine *m, unsigned int atom)
{
	uint64_t a, b;

	if (m->n < 2)
		return -1;
	b = m->v[--m->n];
	a = m->v[--m->n];
	switch (atom) {
	case DW_OP_and:		return push(m, a & b);
	case DW_OP_or:		return push(m, a | b);
	case DW_OP_xor:		return push(m, a ^ b);
	case DW_OP_plus:	return push(m, a + b);
	case DW_OP_minus:	return push(m, a - b);
	case DW_OP_mul:		return push(m, a * b);
	case DW_OP_shl:		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_eq:		return push(m, a == b);
	case DW_OP_ne:		return push(m, a != b);
	case DW_OP_ge:		return push(m, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:		return push(m, (int64_t)a > (int64_t)b);
	case DW_OP_le:		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:		return push(m, (int64_t)a < (int64_t)b);
	}
	return -1;
}

/* Operations on what is on the stack already. */
static int on_top(struct machine *m, const Dwarf_Op *op)
{
	uint64_t *top;

	if (!m->n)
		return -1;
	top = &m->v[m->n - 1];
	switch (op->atom) {
	case DW_OP_dup:		return push(m, *top);
	case DW_OP_drop:	m->n--; return 0;
	case DW_OP_over:	return m->n < 2 ? -1 : push(m, top[-1]);
	case DW_OP_deref:	return symd_stack_read(m->mem, *top, top) ? 0 : -1;
	case DW_OP_plus_uconst:	*top += op->number; return 0;
	case DW_OP_neg:		*top = -*top; return 0;
	case DW_OP_not:		*top = ~*top; return 0;
	case DW_OP_stack_value:	m->is_value = true; return 0;
	}
	return binary(m, op->atom);
}

static int one(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, op->atom - DW_OP_lit0);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_const1u: case DW_OP_const1s: case DW_OP_const2u: case DW_OP_const2s:
	case DW_OP_const4u: case DW_OP_const4s: case DW_OP_const8u: case DW_OP_const8s:
	case DW_OP_constu: case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_regx:
		m->is_value = true;
		return push_register(m, op->number, 0);
	case DW_OP_call_frame_cfa:
		return m->cfa ? push(m, *m->cfa) : -1;
	case DW_OP_nop:
		return 0;
	}
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		m->is_value = true;
		return push_register(m, op->atom - DW_OP_reg0, 0);
	}
	return on_top(m, op);
}

int symd_expr(const Dwarf_Op *op, size_t n, const struct symd_cpu *cpu, const uint64_t *cfa,
	      const struct symd_stack *mem, uint64_t *out, bool *is_value)
{
	struct machine m = { .cpu = cpu, .mem = mem, .cfa = cfa };

	if (n > OPS_MAX)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (one(&m, &op[i]))
			return -1;
	}
	if (!m.n)
		return -1;
	*out = m.v[m.n - 1];
	*is_value = m.is_value;
	return 0;
}
