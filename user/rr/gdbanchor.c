/* SPDX-License-Identifier: MIT */
/*
 * Calls on a stack: each word that may be an address to return to, with a call before it. A
 * breakpoint is put there, so it has to be an instruction: of the forms of a call, those of five
 * bytes are taken, whose target has to be code too. A word that is no address to return to, and
 * has such bytes before it, is not to be expected.
 */
#include <string.h>
#include <sys/mman.h>

#include "rr/gdb_state.h"
#include "rr/procmaps.h"

#define WORDS 1024
#define CALL 0xe8
#define CALL_BYTES 5

static bool is_code(const struct procmaps *m, uint64_t addr)
{
	const struct procmap *map = procmaps_find(m, addr);

	return map && map->prot & PROT_EXEC;
}

static void add(struct gdb *g, uint64_t addr)
{
	for (size_t i = 0; i < g->nanchors; i++)
		if (g->anchor[i].addr == addr)
			return;
	if (g->nanchors < GDB_ANCHORS_MAX)
		g->anchor[g->nanchors++] = (struct gdb_anchor){ .addr = addr };
}

/* The call that would return to @addr, and what it called. */
static void add_call(struct gdb *g, const struct procmaps *m, uint64_t addr)
{
	unsigned char code[CALL_BYTES];
	int32_t distance;

	if (!is_code(m, addr - CALL_BYTES) ||
	    gdb_read(g, addr - CALL_BYTES, code, sizeof(code)) != sizeof(code) || code[0] != CALL)
		return;
	memcpy(&distance, code + 1, sizeof(distance));
	if (!is_code(m, addr + (uint64_t)(int64_t)distance))
		return;
	add(g, addr - CALL_BYTES);
	add(g, addr + (uint64_t)(int64_t)distance);
}

void gdb_anchors_find(struct gdb *g, const struct rthread *t, uint64_t more)
{
	uint64_t word[WORDS], sp;
	struct procmaps maps;
	struct err err = { 0 };
	long n;

	g->nanchors = 0;
	if (more)
		add(g, more);
	if (!t || procmaps_read(&maps, t->space->t.pid, &err))
		return;
	sp = t->space->in == t ? t->space->t.regs.rsp : t->regs.rsp;
	n = gdb_read(g, sp & ~7ull, word, sizeof(word));
	for (long i = 0; i < n / (long)sizeof(word[0]); i++)
		if (is_code(&maps, word[i]))
			add_call(g, &maps, word[i]);
	procmaps_release(&maps);
}
