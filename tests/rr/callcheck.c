/* SPDX-License-Identifier: MIT */
/*
 * callcheck [-x CALL] FILE COMMAND...: runs a program and compares all of its writable private
 * memory before and after each system call with what the table of system calls says is
 * written (include/shared/rr_calls.def). Into FILE go a line for each call that wrote more, then
 * how often each call was looked at; 1 when there was such a line, 2 when it could not be run.
 * With -x as if the table had nothing of CALL.
 *
 * Calls of a process while it has other threads are not looked at, nor is memory shared with
 * other processes: another may have written. What mmap and its like map, and what execve puts
 * there, is not the table's.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t peeked;		/* whose memory RR_PEEK reads */

static int peek(void *dst, size_t n, uint64_t addr)
{
	struct iovec to = { dst, n }, from = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(peeked, &to, 1, &from, 1, 0) == (ssize_t)n ? 0 : -1;
}
#define RR_PEEK(dst, n, addr) peek(dst, n, addr)
#include "shared/rr_outs.inc"

#include "collect/sysnames.h"

#define REGION_MAX ((size_t)256 << 20)	/* larger ones are not looked at */
#define REGIONS 512
#define PART_BYTES ((size_t)1 << 20)
#define TASKS 512		/* at a time */
#define NR_RESTART 219

struct region {
	uint64_t start, end;
	size_t at;		/* in .was of the task */
};

struct task {
	pid_t tid;
	bool inside;		/* of a call */
	bool threads;		/* it shares its memory: not looked at */
	bool begun;		/* its first stop is over */
	uint32_t nr, broken_nr;	/* the call at hand; one that restart_syscall goes on with */
	uint64_t arg[6], broken_arg[6];
	struct region region[REGIONS];
	size_t nregion, used, cap;
	unsigned char *was;
};

static struct task task[TASKS];
static uint64_t looked_at[RR_NR_CALLS], not_looked_at;
static unsigned int wrong;
static int left_out = -1;	/* -x */
static FILE *out;

static void die(const char *what)
{
	fprintf(stderr, "callcheck: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct task *task_of(pid_t tid)
{
	struct task *room = NULL;

	for (size_t i = 0; i < TASKS; i++) {
		if (task[i].tid == tid)
			return &task[i];
		if (!task[i].tid && !room)
			room = &task[i];
	}
	if (!room) {
		errno = ENOMEM;
		die("too many tasks");
	}
	*room = (struct task){ .tid = tid };
	return room;
}

/* Pages of [start, end) that are not there read as zeros. */
static void read_memory(unsigned char *dst, uint64_t start, uint64_t end)
{
	if (!peek(dst, end - start, start))
		return;
	memset(dst, 0, end - start);
	for (uint64_t at = start; at < end; at += 4096)
		peek(dst + (at - start), 4096, at);
}

static void keep_region(struct task *t, uint64_t start, uint64_t end)
{
	const size_t n = end - start;

	if (t->nregion == REGIONS)
		return;
	if (t->cap - t->used < n) {
		t->cap = 2 * t->cap + n;
		t->was = realloc(t->was, t->cap);
		if (!t->was)
			die("memory");
	}
	t->region[t->nregion++] = (struct region){ start, end, t->used };
	read_memory(t->was + t->used, start, end);
	t->used += n;
}

static void snapshot(struct task *t)
{
	char path[64], line[512], perms[8];
	uint64_t start, end;
	FILE *f;

	t->nregion = t->used = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, perms) == 3 &&
		    !strcmp(perms, "rw-p") && end - start <= REGION_MAX)
			keep_region(t, start, end);
	fclose(f);
}

/* Marks what of the @n bytes from @start on the table says was written. */
static void mark(unsigned char *mark, uint64_t start, size_t n, const struct task *t, int64_t ret)
{
	const bool again = t->nr == NR_RESTART;
	const uint64_t end = start + n;
	struct rr_range r;
	struct rr_walk w;

	memset(mark, 0, n);
	if ((int)t->nr == left_out)
		return;
	rr_begin(&w, again ? t->broken_nr : t->nr, again ? t->broken_arg : t->arg, ret);
	while (rr_next(&w, &r)) {
		uint64_t from = r.addr, to = r.addr + r.bytes;

		if (to < from || from >= end || to <= start)
			continue;
		from = from < start ? start : from;
		to = to > end ? end : to;
		memset(mark + (from - start), 1, to - from);
	}
}

static void tell(const struct task *t, int64_t ret, uint64_t addr, uint64_t n)
{
	fprintf(out, "%s(%#" PRIx64, sysname(t->nr), t->arg[0]);
	for (int i = 1; i < 6; i++)
		fprintf(out, ", %#" PRIx64, t->arg[i]);
	fprintf(out, ") = %" PRId64 " wrote %" PRIu64 " bytes from %#" PRIx64 " on", ret, n, addr);
	for (int i = 0; i < 6; i++)
		if (addr >= t->arg[i] && addr - t->arg[i] < 65536)
			fprintf(out, ", %" PRIu64 " behind argument %d", addr - t->arg[i], i + 1);
	fprintf(out, ": the table does not say so\n");
	wrong++;
}

static void compare_part(const struct task *t, int64_t ret, uint64_t start, size_t n,
			 const unsigned char *was)
{
	static unsigned char now[PART_BYTES], said[PART_BYTES];

	read_memory(now, start, start + n);
	if (!memcmp(now, was, n))
		return;
	mark(said, start, n, t, ret);
	for (size_t k = 0; k < n; k++) {
		const size_t from = k;

		while (k < n && now[k] != was[k] && !said[k])
			k++;
		if (k > from)
			tell(t, ret, start + from, k - from);
	}
}

static void compare(const struct task *t, int64_t ret)
{
	for (size_t i = 0; i < t->nregion; i++) {
		const struct region *g = &t->region[i];

		for (uint64_t at = g->start; at < g->end; at += PART_BYTES) {
			const uint64_t left = g->end - at;

			compare_part(t, ret, at, left < PART_BYTES ? left : PART_BYTES,
				     t->was + g->at + (at - g->start));
		}
	}
}

static void enter(struct task *t, const struct user_regs_struct *r)
{
	const uint64_t arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };

	t->nr = (uint32_t)r->orig_rax;
	memcpy(t->arg, arg, sizeof(arg));
	if (t->threads)
		return;
	snapshot(t);
}

static void leave(struct task *t, int64_t ret)
{
	const enum rr_action action = t->nr < RR_NR_CALLS ? rr_calls[t->nr].action : RR_REFUSE;

	if (rr_interrupted(ret) && t->nr != NR_RESTART) {
		t->broken_nr = t->nr;
		memcpy(t->broken_arg, t->arg, sizeof(t->arg));
	}
	if (!rr_understood(t->nr, t->arg, ret)) {
		fprintf(out, "%s(%#" PRIx64 ", %#" PRIx64 "): not in the table\n", sysname(t->nr),
			t->arg[0], t->arg[1]);
		wrong++;
	}
	if (t->threads) {
		not_looked_at++;
	} else if (action != RR_ABSENT && action != RR_PROCESS) {
		peeked = t->tid;
		/* What it maps or unmaps is its own; what it writes is not. */
		if (action != RR_MEMORY || rr_calls[t->nr].out[0].kind)
			compare(t, ret);
		if (t->nr < RR_NR_CALLS)
			looked_at[t->nr]++;
	}
}

/* A new task is about to run; one that shares its maker's memory makes both not looked at. */
static void follow(struct task *t, int event)
{
	unsigned long child;
	struct task *c;

	if (ptrace(PTRACE_GETEVENTMSG, t->tid, 0, &child))
		return;
	c = task_of((pid_t)child);
	if (event == PTRACE_EVENT_CLONE)
		t->threads = c->threads = true;
}

static void stopped(struct task *t, int status)
{
	const int sig = WSTOPSIG(status), event = status >> 16;
	struct user_regs_struct r;
	int pass = 0;

	if (sig == (SIGTRAP | 0x80)) {
		if (!ptrace(PTRACE_GETREGS, t->tid, 0, &r)) {
			peeked = t->tid;
			if (!t->inside)
				enter(t, &r);
			else
				leave(t, (int64_t)r.rax);
			t->inside = !t->inside;
		}
	} else if (event == PTRACE_EVENT_EXEC) {
		t->threads = false;
	} else if (event) {
		follow(t, event);
	} else if (t->begun || sig != SIGSTOP) {
		pass = sig;
	}
	t->begun = true;
	ptrace(PTRACE_SYSCALL, t->tid, 0, pass);
}

static pid_t begin(char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
			_exit(126);
		execvp(argv[0], argv);
		fprintf(stderr, "callcheck: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (waitpid(pid, NULL, 0) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
		   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
		   PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_SYSCALL, pid, 0, 0))
		die("ptrace");
	task_of(pid)->begun = true;
	return pid;
}

int main(int argc, char **argv)
{
	const int skip = argc > 2 && !strcmp(argv[1], "-x") ? 2 : 0;
	cpu_set_t one;
	int status, code = 0;
	pid_t first, tid;

	if (argc < skip + 3) {
		fprintf(stderr, "usage: callcheck [-x CALL] FILE COMMAND...\n");
		return 2;
	}
	if (skip)
		left_out = sysname_find(argv[2]);
	out = fopen(argv[skip + 1], "we");
	if (!out)
		die(argv[skip + 1]);
	/* On one CPU the kernel has no news for an rseq area. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	first = begin(argv + skip + 2);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct task *t = task_of(tid);

		if (WIFSTOPPED(status)) {
			stopped(t, status);
			continue;
		}
		if (tid == first)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		free(t->was);
		*t = (struct task){ 0 };
	}
	for (uint32_t nr = 0; nr < RR_NR_CALLS; nr++)
		if (looked_at[nr])
			fprintf(out, "%8" PRIu64 " %s\n", looked_at[nr], sysname(nr));
	fprintf(out, "%8" PRIu64 " beside other threads, not looked at\n", not_looked_at);
	fprintf(out, "exit code %d\n", code);
	return fclose(out) ? 2 : wrong ? 1 : 0;
}
