/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: what GDB writes, to registers or memory, goes to a fork of the process, which is looked
 * at from then on. It may run, as for "print f(1)"; what it calls in the system is refused, but
 * for memory and output. When its registers are again what they were, the process itself is
 * looked at; the fork waits, since an expression may go on in it: a string is put into memory by
 * a call of malloc first. It is thrown away when the replay is to run on.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "rr/gdb_state.h"

#define CALLS_MAX 100000	/* of one run: a function that spins on a lock ends */

bool gdb_is_away(const struct gdb *g)
{
	return g->away.pid > 0 && !g->away_idle;
}

void gdb_away_end(struct gdb *g)
{
	tracee_kill(&g->away);
	g->away.pid = -1;
	g->away_idle = false;
}

/* The fork, with the registers of the thread that GDB looks at. */
static int begin(struct gdb *g)
{
	struct rthread *t = gdb_thread_find(g, g->tid_g);
	struct tracee *from;
	int r;

	if (g->away.pid > 0) {
		g->away_idle = false;
		return 0;
	}
	if (!t)
		return -ESRCH;
	r = gdb_get_regs(g, &g->away_was);
	from = &t->space->t;
	r = r ? r : tracee_copy(&g->away, from, g->err);
	if (r)
		return r;
	g->away_tid = t->tid;
	g->away_ran = g->away_wrote = false;
	g->away.regs = g->away_was.general;
	r = tracee_set_regs(&g->away, g->err);
	r = r ? r : tracee_set_fpu(&g->away, g->away_was.xstate, g->away_was.xstate_bytes, g->err);
	if (r)
		gdb_away_end(g);
	return r;
}

int gdb_write(struct gdb *g, uint64_t addr, const void *from, size_t n)
{
	int r = begin(g);

	g->away_wrote = true;
	return r ? r : tracee_write(&g->away, addr, from, n);
}

static bool is_as_before(const struct gdb *g)
{
	struct user_regs_struct was = g->away_was.general, is = g->away.regs;

	was.orig_rax = is.orig_rax = 0;
	return !memcmp(&was, &is, sizeof(was));
}

int gdb_set_regs(struct gdb *g, const struct gdb_regs *to)
{
	int r = begin(g);

	if (r)
		return r;
	g->away.regs = to->general;
	r = tracee_set_regs(&g->away, g->err);
	r = r ? r : tracee_set_fpu(&g->away, to->xstate, to->xstate_bytes, g->err);
	/* The function that was called is done with. */
	g->away_idle = !r && g->away_ran && is_as_before(g);
	return r;
}

/* ---- it runs ------------------------------------------------------------------ */

static long print(struct gdb *g, int fd)
{
	char part[4096];
	uint64_t n = g->away.regs.rdx < sizeof(part) ? g->away.regs.rdx : sizeof(part);

	if (fd != 1 && fd != 2)
		return -EBADF;
	if (tracee_read(&g->away, part, g->away.regs.rsi, n))
		return -EFAULT;
	return io_write_all(fd, part, n) ? -EIO : (long)n;
}

/* The few calls that a function may make and that harm nobody. */
static int emulate(struct gdb *g)
{
	struct user_regs_struct *r = &g->away.regs;
	const uint64_t arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	long ret = -ENOSYS;
	int code = 0;

	switch (r->orig_rax) {
	case SYS_write: ret = print(g, (int)arg[0]); break;
	case SYS_getpid: ret = g->pid; break;
	case SYS_gettid: ret = g->away_tid; break;
	case SYS_futex: ret = 0; break;
	case SYS_mmap:
		if (!(arg[3] & MAP_ANONYMOUS))
			break;
		code = tracee_call(&g->away, &ret, g->err, r->orig_rax, arg);
		break;
	case SYS_munmap: case SYS_mprotect: case SYS_madvise: case SYS_mremap:
		code = tracee_call(&g->away, &ret, g->err, r->orig_rax, arg);
		break;
	}
	r->rax = (unsigned long long)ret;
	r->orig_rax = (unsigned long long)-1;
	return code ? code : tracee_set_regs(&g->away, g->err);
}

/* One run, to the signal that ends it. */
static int run(struct gdb *g, int *sig)
{
	const bool one = g->want.kind != 'c';
	int r, refused = 0;

	for (int calls = 0; calls < CALLS_MAX; calls++) {
		gdbconn_wants_stop(&g->conn);
		r = one ? 0 : gdb_arm(g, &g->away, g->err);
		r = r ? r : gdb_resume(g, &g->away, one, sig, g->err);
		if (g->away.pid > 0)
			gdb_lift(g, &g->away);
		if (!r && *sig == SIGSTOP && !gdbconn_wants_stop(&g->conn))
			continue;
		if (r <= 0)
			return r;
		r = emulate(g);
		if (r)
			return r;
		if (g->away.regs.rax == (unsigned long long)-ENOSYS && !refused++)
			gdb_tell(g, "calls of the system are refused to a function that is called "
				 "in a replay\n");
	}
	*sig = SIGINT;
	return 0;
}

static bool is_breakpoint(const struct gdb *g, uint64_t at)
{
	for (size_t i = 0; i < g->npoints; i++)
		if (g->point[i].wanted && g->point[i].id.type <= '1' &&
		    g->point[i].id.addr == at)
			return true;
	return false;
}

int gdb_away_run(struct gdb *g)
{
	struct gdb_stop stop = { .reason = GDB_TRAP };
	int sig = 0, r;

	if (g->away.pid <= 0)
		return 0;
	if (is_as_before(g)) {
		gdb_away_end(g);
		if (g->away_wrote && !g->away_ran)
			gdb_tell(g, "what was written is not in the recording, and is gone\n");
		return 0;
	}
	g->away_ran = true;
	r = run(g, &sig);
	if (r < 0) {
		gdb_away_end(g);
		gdb_tell(g, "the function has ended the process that it was called in\n");
		r = 0;
	} else if (sig == SIGTRAP && is_breakpoint(g, g->away.regs.rip - 1)) {
		g->away.regs.rip--;
		r = tracee_set_regs(&g->away, g->err);
		stop.reason = GDB_AT_BREAK;
	} else if (sig != SIGTRAP) {
		stop.reason = GDB_AT_SIGNAL;
		stop.sig = sig == SIGSTOP ? SIGINT : sig;
	}
	g->conn.interrupt = false;
	g->stop = stop;
	g->owes = true;
	return r ? r : 1;
}
