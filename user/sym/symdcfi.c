/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. What .eh_frame (else .debug_frame) says of an address is turned once
 * into a row of simple rules, kept by address: nearly all code has only "CFA is
 * a register plus a number" and "saved at CFA plus a number". A row with real
 * expressions (signal trampolines, PLTs) keeps libdw's frame for them.
 */
#include "sym/symd.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/map.h"

#define ROWS_KEPT 65536u

enum how { SAME, UNKNOWN, SAVED, VALUE, EXPRESSION };

struct rule {
	uint8_t how;
	int64_t off;	/* SAVED and VALUE: from the CFA */
};

struct row {
	bool good;
	bool signal;
	bool cfa_simple;
	uint8_t cfa_reg, ra;
	int64_t cfa_off;
	struct rule reg[SYM_REGS];
	Dwarf_Frame *frame;	/* NULL: all is simple */
};

struct symd_cfi {
	struct map *rows;	/* uint64_t vaddr → struct row */
	Dwarf_CFI *eh, *debug;
	Dwarf_Addr eh_bias, debug_bias;
	bool debug_tried;
};

static void forget_rows(struct symd_cfi *c)
{
	size_t it = 0;
	const void *key;
	void *value;

	while (map_next(c->rows, &it, &key, &value))
		free(((struct row *)value)->frame);
	map_clear(c->rows);
}

void symd_cfi_free(struct symd_cfi *c)
{
	if (!c)
		return;
	forget_rows(c);
	map_free(c->rows);
	free(c);
}

static struct symd_cfi *cfi_new(struct symd_file *f)
{
	struct symd_cfi *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->rows = map_new(sizeof(uint64_t), sizeof(struct row));
	if (!c->rows) {
		free(c);
		return NULL;
	}
	c->eh = dwfl_module_eh_cfi(f->mod, &c->eh_bias);
	return c;
}

static Dwarf_Frame *find_frame(struct symd_file *f, struct symd_cfi *c, uint64_t vaddr)
{
	Dwarf_Frame *frame;

	if (c->eh && !dwarf_cfi_addrframe(c->eh, vaddr - c->eh_bias, &frame))
		return frame;
	if (!c->debug_tried) {
		c->debug_tried = true;
		c->debug = dwfl_module_dwarf_cfi(f->mod, &c->debug_bias);
	}
	if (c->debug && !dwarf_cfi_addrframe(c->debug, vaddr - c->debug_bias, &frame))
		return frame;
	return NULL;
}

static bool read_cfa(Dwarf_Frame *frame, struct row *r)
{
	Dwarf_Op *op;
	size_t n;

	if (dwarf_frame_cfa(frame, &op, &n) || !n)
		return false;
	if (n != 1)
		return true;
	if (op->atom == DW_OP_bregx && op->number < SYM_REGS) {
		r->cfa_reg = (uint8_t)op->number;
		r->cfa_off = (int64_t)op->number2;
		r->cfa_simple = true;
	} else if (op->atom >= DW_OP_breg0 && op->atom < DW_OP_breg0 + SYM_REGS) {
		r->cfa_reg = (uint8_t)(op->atom - DW_OP_breg0);
		r->cfa_off = (int64_t)op->number;
		r->cfa_simple = true;
	}
	return true;
}

static struct rule read_rule(Dwarf_Frame *frame, int reg)
{
	struct rule r = { .how = EXPRESSION };
	Dwarf_Op mem[3], *op;
	size_t n, at = 1;

	if (dwarf_frame_register(frame, reg, mem, &op, &n)) {
		r.how = UNKNOWN;
		return r;
	}
	if (!n) {
		r.how = op ? UNKNOWN : SAME;
		return r;
	}
	if (op->atom != DW_OP_call_frame_cfa)
		return r;
	if (at < n && op[at].atom == DW_OP_plus_uconst)
		r.off = (int64_t)op[at++].number;
	if (at == n)
		r.how = SAVED;
	else if (at + 1 == n && op[at].atom == DW_OP_stack_value)
		r.how = VALUE;
	return r;
}

static void read_row(struct symd_file *f, struct symd_cfi *c, uint64_t vaddr, struct row *r)
{
	Dwarf_Frame *frame = find_frame(f, c, vaddr);
	bool keep = false;
	int ra;

	if (!frame)
		return;
	ra = dwarf_frame_info(frame, NULL, NULL, &r->signal);
	if (ra >= 0 && ra < SYM_REGS && read_cfa(frame, r)) {
		r->good = true;
		r->ra = (uint8_t)ra;
		keep = !r->cfa_simple;
		for (int i = 0; i < SYM_REGS; i++) {
			r->reg[i] = read_rule(frame, i);
			keep |= r->reg[i].how == EXPRESSION;
		}
	}
	if (keep)
		r->frame = frame;
	else
		free(frame);
}

static const struct row *row_of(struct symd_file *f, uint64_t vaddr)
{
	struct symd_cfi *c = f->cfi;
	struct row *r;

	if (!c)
		c = f->cfi = cfi_new(f);
	if (!c)
		return NULL;
	r = map_get(c->rows, &vaddr);
	if (r)
		return r;
	if (map_count(c->rows) >= ROWS_KEPT)
		forget_rows(c);
	r = map_put(c->rows, &vaddr);
	if (r)
		read_row(f, c, vaddr, r);
	return r;
}

static bool find_cfa(const struct row *r, const struct symd_cpu *cpu, const struct symd_stack *m,
		     uint64_t *cfa)
{
	bool is_value;
	Dwarf_Op *op;
	size_t n;

	if (r->cfa_simple) {
		*cfa = cpu->r[r->cfa_reg] + (uint64_t)r->cfa_off;
		return cpu->valid >> r->cfa_reg & 1;
	}
	return !dwarf_frame_cfa(r->frame, &op, &n) &&
	       !symd_expr(op, n, cpu, NULL, m, cfa, &is_value);
}

static bool by_expression(const struct row *r, int reg, const struct symd_cpu *cpu, uint64_t cfa,
			  const struct symd_stack *m, uint64_t *out)
{
	Dwarf_Op mem[3], *op;
	bool is_value;
	size_t n;

	if (dwarf_frame_register(r->frame, reg, mem, &op, &n) || !n ||
	    symd_expr(op, n, cpu, &cfa, m, out, &is_value))
		return false;
	return is_value || symd_stack_read(m, *out, out);
}

static bool find_register(const struct row *r, int reg, const struct symd_cpu *cpu, uint64_t cfa,
			  const struct symd_stack *m, uint64_t *out)
{
	const struct rule *rule = &r->reg[reg];

	switch ((enum how)rule->how) {
	case SAME:
		*out = cpu->r[reg];
		return cpu->valid >> reg & 1;
	case UNKNOWN:
		return false;
	case SAVED:
		return symd_stack_read(m, cfa + (uint64_t)rule->off, out);
	case VALUE:
		*out = cfa + (uint64_t)rule->off;
		return true;
	case EXPRESSION:
		return by_expression(r, reg, cpu, cfa, m, out);
	}
	return false;
}

enum symd_step symd_cfi_step(struct symd_file *f, uint64_t vaddr, const struct symd_stack *m,
			     struct symd_cpu *cpu)
{
	const struct row *r = symd_file_open(f) && f->x86_64 ? row_of(f, vaddr) : NULL;
	struct symd_cpu up = { .valid = 0 };
	uint64_t cfa;

	if (!r || !r->good)
		return SYMD_STEP_NO_CFI;
	if (!find_cfa(r, cpu, m, &cfa))
		return SYMD_STEP_END;
	for (int i = 0; i < SYM_REGS; i++) {
		if (find_register(r, i, cpu, cfa, m, &up.r[i]))
			up.valid |= 1u << i;
	}
	if (!(up.valid >> r->ra & 1) || r->reg[r->ra].how == SAME)
		return SYMD_STEP_END;
	up.r[SYMD_PC] = up.r[r->ra];
	up.valid |= 1u << SYMD_PC;
	*cpu = up;
	return r->signal ? SYMD_STEP_SIGNAL : SYMD_STEP_OK;
}
