/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: each run of a process that GDB is shown comes through gdb_run(). Breakpoints are in its
 * memory for as long as it runs, and no longer: nobody sees them, and no fork copies them. One that
 * is met lies between two instructions, an instant: what is to happen there is gdb_instant()'s.
 * Where the replay has set a breakpoint of its own at the same place, it gets that first, and
 * comes back for the instruction.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rr/gdb_state.h"

#define INT3 0xcc
struct rthread *gdb_in(const struct tracee *t)
{
	return ((const struct rspace *)(const void *)((const char *)t -
		offsetof(struct rspace, t)))->in;
}

static int open_mem(struct gdb *g, const struct tracee *t, struct err *err)
{
	char path[64];

	if (g->mem_pid == t->pid)
		return 0;
	if (g->mem_pid)
		close(g->mem);
	g->mem_pid = 0;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	g->mem = open(path, O_RDWR | O_CLOEXEC);
	if (g->mem < 0)
		return err_sys(err, errno, "cannot open the replay's memory");
	g->mem_pid = t->pid;
	return 0;
}

static void arm_at(struct gdb *g, uint64_t addr)
{
	static const unsigned char trap = INT3;
	unsigned char was;

	for (size_t i = 0; i < g->narmed; i++)
		if (g->armed[i] == addr)
			return;
	if (g->narmed == g->armed_cap) {
		const size_t cap = 2 * g->armed_cap + 64;
		uint64_t *at = realloc(g->armed, cap * sizeof(*at));
		unsigned char *wases;

		if (!at)
			return;
		g->armed = at;
		wases = realloc(g->armed_was, cap);
		if (!wases)
			return;
		g->armed_was = wases;
		g->armed_cap = cap;
	}
	/* Where nothing is mapped as yet, nothing runs. */
	if (pread(g->mem, &was, 1, (off_t)addr) != 1 || pwrite(g->mem, &trap, 1, (off_t)addr) != 1)
		return;
	g->armed[g->narmed] = addr;
	g->armed_was[g->narmed++] = was;
}

int gdb_arm(struct gdb *g, struct tracee *t, struct err *err)
{
	const struct gdb_link *l = gdb_goal_link(g);
	int r = open_mem(g, t, err);

	g->narmed = 0;
	if (r)
		return r;
	for (size_t i = 0; i < g->npoints; i++)
		if (g->point[i].id.type <= '1' && (g->mode == GDB_LIVE || g->mode == GDB_SCAN))
			arm_at(g, g->point[i].id.addr);
	if (g->stop_at)
		arm_at(g, g->stop_at);
	if (l && l->kind == GDB_BREAK)
		arm_at(g, l->addr);
	for (size_t i = 0; i < g->nanchors; i++)
		if (gdb_anchor_counts(g, i) &&
		    (g->mode == GDB_ANCHORS || (g->mode == GDB_COUNT && i == g->last_anchor)))
			arm_at(g, g->anchor[i].addr);
	return 0;
}

void gdb_lift(struct gdb *g, struct tracee *t)
{
	unsigned char now;

	struct err err = { 0 };

	if (!g->narmed || open_mem(g, t, &err))
		return;
	/* What the program wrote there in the meantime stays. */
	while (g->narmed) {
		const off_t at = (off_t)g->armed[--g->narmed];

		if (pread(g->mem, &now, 1, at) == 1 && now == INT3)
			(void)!pwrite(g->mem, &g->armed_was[g->narmed], 1, at);
	}
}

/* Whether it stands before an instruction in whose place a breakpoint would be. */
static bool is_armed_at(const struct gdb *g, uint64_t ip, unsigned char *was)
{
	for (size_t i = 0; i < g->narmed; i++) {
		if (g->armed[i] != ip)
			continue;
		*was = g->armed_was[i];
		return true;
	}
	return false;
}

/* SIGSTOP was sent, and another stop came first: it would come at the next run. */
static int swallow_stop(struct tracee *t, struct err *err)
{
	const struct user_regs_struct was = t->regs;
	int sig, r = tracee_resume(t, false, &sig, err);

	if (r < 0)
		return r;
	t->regs = was;
	return tracee_set_regs(t, err);
}

/* SIGTRAP by an INT3: the kernel tells no address for it. */
static bool is_int3(const struct tracee *t)
{
	siginfo_t info;

	return !ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info) && info.si_code == SI_KERNEL;
}

int gdb_resume(struct gdb *g, struct tracee *t, bool one, int *sig, struct err *err)
{
	bool sent;
	int r;

	gdbconn_begin_run(t->pid);
	r = tracee_resume(t, one, sig, err);
	sent = gdbconn_end_run();
	g->int3 = !r && *sig == SIGTRAP && is_int3(t);
	if (sent && r >= 0 && *sig != SIGSTOP && swallow_stop(t, err))
		return -EIO;
	return r;
}

/* What it did, as of now. */
static void note_run(struct gdb *g, bool stepped, bool call)
{
	g->moved |= !g->same;
	g->ran_free |= !g->same && !stepped;
	g->stepped = stepped && (!call || g->mode != GDB_LIVE);
	/* A call that is stepped over may end only after much else. */
	g->step_pending = stepped && call && g->mode == GDB_LIVE;
}

/* To its next stop, with what GDB waits for in place. As tracee_resume(). */
static int run_armed(struct gdb *g, struct tracee *t, bool step, int *sig, bool *ours,
		     struct err *err)
{
	unsigned char was = 0;
	int r;

	if (step)
		gdb_lift(g, t);
	r = gdb_resume(g, t, step, sig, err);
	*ours = false;
	if (t->pid <= 0)
		return r;
	if (!r && *sig == SIGSEGV)
		r = gdb_guard_fault(g, t, &step, sig, err);
	*ours = !r && !step && *sig == SIGTRAP && is_armed_at(g, t->regs.rip - 1, &was) &&
		was != INT3 && g->int3;
	gdb_lift(g, t);
	return r;
}

int gdb_run_once(struct gdb *g, struct tracee *t, bool one, int *sig, struct err *err)
{
	const struct user_regs_struct from = t->regs;
	const bool wanted = gdb_wants_step(g, gdb_in(t));
	unsigned char was;
	bool step, ours, trap, ended;
	int r = gdb_guard(g, t, err);

	r = r ? r : gdb_arm(g, t, err);
	if (r)
		return r;
	step = one || wanted || g->guard_by_steps || is_armed_at(g, t->regs.rip, &was);
	r = run_armed(g, t, step, sig, &ours, err);
	if (r < 0)
		return r;
	g->same = !r && *sig == SIGSTOP && !memcmp(&from, &t->regs, sizeof(from));
	/* Of a step; what was written to a watched page was made a step of. */
	trap = !r && *sig == SIGTRAP && !g->int3;
	/* A replaced instruction ends as a call does, with its event. */
	ended = r || (*sig == SIGILL && replay_is_replaced(gdb_in(t), t->regs.rip));
	note_run(g, wanted && (ended || trap), ended);
	if (r != 1)
		gdb_guard_look(g, t);
	if (ours) {
		t->regs.rip--;
		r = tracee_set_regs(t, err);
		return r ? r : 2;
	}
	return r ? r : trap || *sig == SIGSTOP ? 2 : 0;
}

int gdb_run(struct tracee_hook *hook, struct tracee *t, bool one, int *sig, struct err *err)
{
	struct gdb *g = (struct gdb *)(void *)((char *)hook - offsetof(struct gdb, hook));
	int r;

	/* Before the process is shown, GDB is not listened to. */
	if (!g->begun)
		return tracee_resume(t, one, sig, err);
	for (;;) {
		r = gdb_instant(g, t);
		if (r)
			return r;
		r = gdb_run_to_link(g, t, sig, err);
		if (r < 0)
			return r;
		if (r)
			continue;
		/* What came stops the run again and again until it is looked at. */
		gdbconn_wants_stop(&g->conn);
		r = gdb_run_once(g, t, one, sig, err);
		if (r < 0)
			return r;
		if (r == 2 && (!one || *sig != SIGTRAP))
			continue;
		gdb_ran(g, t, r == 1);
		return r == 1;
	}
}
