/* SPDX-License-Identifier: MIT */
#include "sym/symd.h"

#include <string.h>

/* Code without CFI (a JIT's) that keeps frame pointers; nothing else is known of it. */
static bool step_by_pointer(const struct symd_stack *m, struct symd_cpu *cpu)
{
	struct symd_cpu up = { .valid = 1u << SYMD_SP | 1u << SYMD_BP | 1u << SYMD_PC };
	uint64_t bp = cpu->r[SYMD_BP];

	if (!(cpu->valid >> SYMD_BP & 1) || bp < cpu->r[SYMD_SP] || bp & 7 ||
	    !symd_stack_read(m, bp, &up.r[SYMD_BP]) ||
	    !symd_stack_read(m, bp + 8, &up.r[SYMD_PC]))
		return false;
	up.r[SYMD_SP] = bp + 16;
	*cpu = up;
	return true;
}

static enum symd_step step(const struct symd_place *at, const struct symd_stack *m,
			   struct symd_cpu *cpu)
{
	uint64_t sp = cpu->r[SYMD_SP];
	enum symd_step s = SYMD_STEP_NO_CFI;

	if (at->file)
		s = symd_cfi_step(at->file, at->vaddr, m, cpu);
	if (s == SYMD_STEP_NO_CFI)
		s = step_by_pointer(m, cpu) ? SYMD_STEP_OK : SYMD_STEP_END;
	/* A caller's frame lies above; a signal may have come in on another stack. */
	if (s == SYMD_STEP_OK && (!(cpu->valid >> SYMD_SP & 1) || cpu->r[SYMD_SP] <= sp))
		s = SYMD_STEP_END;
	return s;
}

uint32_t symd_unwind(struct symd_spaces *s, const struct symp_unwind *u, const void *stack,
		     struct symp_ip *out)
{
	struct symd_stack m = { .base = u->regs.sp, .bytes = stack, .n = u->stack_bytes };
	struct symd_cpu cpu = { .valid = (1u << SYM_REGS) - 1 };
	struct symd_place at;
	bool exact = true;
	uint32_t n = 0;

	memcpy(cpu.r, &u->regs, sizeof(cpu.r));
	while (n < u->max) {
		uint64_t pc = cpu.r[SYMD_PC];
		bool known = symd_spaces_find(s, u->space, pc - !exact, false, &at);
		enum symd_step did;

		if (!known && n)
			break;
		out[n++] = (struct symp_ip){ .ip = pc, .kind = exact ? SYMP_CODE : SYMP_CALL };
		if (!known)
			break;
		did = step(&at, &m, &cpu);
		if (did == SYMD_STEP_END)
			break;
		exact = did == SYMD_STEP_SIGNAL;
	}
	return n;
}
