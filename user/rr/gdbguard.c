/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: a watchpoint takes the right to write away from its page. What writes there faults, is
 * let through as a step, and what is watched is compared. No debug register is needed: there are
 * machines, of virtual ones most of all, where these are accepted and nothing comes of it. A page
 * that is shared cannot be written behind its protection by the replay itself: then all is
 * stepped through. The pages are as the program has them whenever the process makes a real call,
 * a fork among them.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "rr/gdb_state.h"
#include "rr/procmaps.h"

static void add_watch(struct gdb_watch *list, size_t *n, const struct gdb_point_id *id)
{
	for (size_t i = 0; i < *n; i++)
		if (list[i].id.addr == id->addr && list[i].id.bytes == id->bytes)
			return;
	if (*n < GDB_WATCHES_MAX)
		list[(*n)++].id = *id;
}

/* Whether the list is another than it was. */
static bool set_list(struct gdb *g)
{
	const struct gdb_link *l = gdb_goal_link(g);
	struct gdb_point_id was[GDB_WATCHES_MAX];
	const size_t n = g->nwatches;
	bool same;

	for (size_t i = 0; i < n; i++)
		was[i] = g->watch[i].id;
	g->nwatches = 0;
	if (l && l->kind == GDB_WATCH)
		add_watch(g->watch, &g->nwatches,
			  &(struct gdb_point_id){ l->type, l->addr, l->bytes });
	for (size_t i = 0; i < g->npoints; i++)
		if (g->point[i].id.type >= '2' && (g->mode == GDB_LIVE || g->mode == GDB_SCAN))
			add_watch(g->watch, &g->nwatches, &g->point[i].id);
	same = n == g->nwatches;
	for (size_t i = 0; same && i < n; i++)
		same = was[i].addr == g->watch[i].id.addr && was[i].bytes == g->watch[i].id.bytes;
	return !same;
}

static int protect(struct gdb *g, struct tracee *t, const struct gdb_page *p, int prot,
		   struct err *err)
{
	const uint64_t arg[6] = { p->at, PAGE, (uint64_t)prot };
	long ret;
	int r;

	g->in_guard = true;
	r = tracee_call(t, &ret, err, SYS_mprotect, arg);
	g->in_guard = false;
	return r;
}

static void add_page(struct gdb *g, const struct procmaps *maps, uint64_t at)
{
	const struct procmap *m = procmaps_find(maps, at);

	for (size_t i = 0; i < g->npages; i++)
		if (g->page[i].at == at)
			return;
	/* Where nothing may be written, and nothing is mapped, a real call comes before that. */
	if (!m || !(m->prot & PROT_WRITE))
		return;
	if (m->shared || g->npages == sizeof(g->page) / sizeof(g->page[0]))
		g->guard_by_steps = true;
	else
		g->page[g->npages++] = (struct gdb_page){ at, m->prot };
}

static int take_pages(struct gdb *g, struct tracee *t, struct err *err)
{
	struct procmaps maps;
	int r = procmaps_read(&maps, t->pid, err);

	if (r)
		return r;
	g->npages = 0;
	for (size_t i = 0; i < g->nwatches; i++) {
		const struct gdb_point_id *id = &g->watch[i].id;

		for (uint64_t at = id->addr & ~(PAGE - 1); at < id->addr + id->bytes; at += PAGE)
			add_page(g, &maps, at);
	}
	procmaps_release(&maps);
	for (size_t i = 0; !r && i < g->npages; i++)
		r = protect(g, t, &g->page[i], g->page[i].prot & ~PROT_WRITE, err);
	g->guarded = t->pid;
	return r;
}

int gdb_guard_lift(struct gdb *g, struct tracee *t, struct err *err)
{
	int r = 0;

	if (g->guarded != t->pid)
		return 0;
	g->guarded = 0;
	for (size_t i = 0; !r && i < g->npages; i++)
		r = protect(g, t, &g->page[i], g->page[i].prot, err);
	return r;
}

int gdb_on_call(struct tracee_hook *hook, struct tracee *t, struct err *err)
{
	struct gdb *g = (struct gdb *)(void *)((char *)hook - offsetof(struct gdb, hook));

	return g->in_guard ? 0 : gdb_guard_lift(g, t, err);
}

int gdb_guard(struct gdb *g, struct tracee *t, struct err *err)
{
	int r = 0;

	if (set_list(g))
		r = gdb_guard_lift(g, t, err);
	if (!r && g->guarded != t->pid) {
		g->guard_by_steps = false;
		r = g->nwatches ? take_pages(g, t, err) : 0;
	}
	for (size_t i = 0; i < g->nwatches; i++) {
		struct gdb_watch *w = &g->watch[i];

		w->changed = false;
		w->known = !tracee_read(t, w->was, w->id.addr, w->id.bytes);
	}
	return r;
}

void gdb_guard_seen(struct gdb *g)
{
	for (size_t i = 0; i < g->nwatches; i++)
		g->watch[i].changed = false;
}

void gdb_guard_look(struct gdb *g, const struct tracee *t)
{
	unsigned char now[GDB_WATCH_BYTES];

	for (size_t i = 0; i < g->nwatches; i++) {
		struct gdb_watch *w = &g->watch[i];

		w->changed = w->known && !tracee_read(t, now, w->id.addr, w->id.bytes) &&
			     memcmp(now, w->was, w->id.bytes);
	}
}

static const struct gdb_page *faulted(const struct gdb *g, const struct tracee *t)
{
	siginfo_t info;

	if (g->guarded != t->pid || ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) ||
	    info.si_code != SEGV_ACCERR)
		return NULL;
	for (size_t i = 0; i < g->npages; i++)
		if (g->page[i].at == ((uint64_t)(uintptr_t)info.si_addr & ~(PAGE - 1)))
			return &g->page[i];
	return NULL;
}

int gdb_guard_fault(struct gdb *g, struct tracee *t, bool *step, int *sig, struct err *err)
{
	const struct gdb_page *p = faulted(g, t);
	int r;

	/* One instruction may write to several of them. */
	while (p) {
		r = protect(g, t, p, p->prot, err);
		r = r ? r : gdb_resume(g, t, true, sig, err);
		if (r)
			return r;
		*step = true;
		if (*sig != SIGSEGV)
			break;
		p = faulted(g, t);
	}
	for (size_t i = 0; *step && g->guarded == t->pid && i < g->npages; i++) {
		r = protect(g, t, &g->page[i], g->page[i].prot & ~PROT_WRITE, err);
		if (r)
			return r;
	}
	return 0;
}
