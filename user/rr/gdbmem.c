/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "rr/gdb_state.h"

/* The pages that are there: up to the first that is not. */
static size_t read_pages(const struct tracee *t, uint64_t addr, char *to, size_t n)
{
	size_t got = 0;

	if (!tracee_read(t, to, addr, n))
		return n;
	while (got < n) {
		const size_t in_page = PAGE - (addr + got) % PAGE;
		const size_t part = n - got < in_page ? n - got : in_page;

		if (tracee_read(t, to + got, addr + got, part))
			break;
		got += part;
	}
	return got;
}

long gdb_read(struct gdb *g, uint64_t addr, void *to, size_t n)
{
	const struct rthread *t = gdb_thread_find(g, 0);
	const struct tracee *from = gdb_is_away(g) ? &g->away : t ? &t->space->t : NULL;
	size_t got;

	if (!from)
		return -ESRCH;
	got = read_pages(from, addr, to, n);
	/* What a function that was called has made is still there. */
	if (!got && g->away.pid > 0)
		got = read_pages(&g->away, addr, to, n);
	return got || !n ? (long)got : -EFAULT;
}

int gdb_get_regs(struct gdb *g, struct gdb_regs *r)
{
	struct rthread *t = gdb_thread_find(g, g->tid_g);
	struct tracee *in;

	if (!t)
		return -ESRCH;
	in = gdb_is_away(g) && t->tid == g->away_tid ? &g->away :
	     t->space->in == t ? &t->space->t : NULL;
	r->general = in ? in->regs : t->regs;
	if (in)
		return tracee_get_fpu(in, r->xstate, sizeof(r->xstate), &r->xstate_bytes, g->err);
	memcpy(r->xstate, t->xstate, t->xstate_bytes);
	r->xstate_bytes = t->xstate_bytes;
	return 0;
}
