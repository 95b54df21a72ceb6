/* SPDX-License-Identifier: MIT */
#include "rr/tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rr/forkadvice.h"

#define PAGE ((uint64_t)4096)
#define PATH_AT 64		/* in our page */
#define USER_END ((uint64_t)0x7ffffffff000)
#define XSTATE_BV 512		/* offset in an XSAVE area */
#define TRAP_FLAG 0x100ull
#define PUSHF 0x9c
#define FCW_INIT 0x37f
#define MXCSR_INIT 0x1f80

/* What our page holds. It stands here too, for the calls that make the page. */
void tracee_stub(void);
__asm__(".text\n.globl tracee_stub\ntracee_stub: syscall\nint3\n");

static const unsigned char stub[] = { 0x0f, 0x05, 0xcc };

int tracee_read(const struct tracee *t, void *to, uint64_t addr, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)addr, n };

	if (process_vm_readv(t->pid, &local, 1, &remote, 1, 0) != (ssize_t)n)
		return -EFAULT;
	sites_hide(&t->sites, to, addr, n);
	return 0;
}

/* Also where it may only read, by /proc/PID/mem. */
static int write_anyway(const struct tracee *t, uint64_t addr, const void *from, size_t n)
{
	char path[64];
	ssize_t did;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	did = pwrite(fd, from, n, (off_t)addr);
	close(fd);
	return did == (ssize_t)n ? 0 : -EFAULT;
}

int tracee_put(const struct tracee *t, uint64_t addr, const void *from, size_t n)
{
	struct iovec local = { (void *)(uintptr_t)from, n },
		     remote = { (void *)(uintptr_t)addr, n };

	return process_vm_writev(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

int tracee_write(const struct tracee *t, uint64_t addr, const void *from, size_t n)
{
	return tracee_put(t, addr, from, n) ? write_anyway(t, addr, from, n) : 0;
}

int tracee_set_regs(struct tracee *t, struct err *err)
{
	if (ptrace(PTRACE_SETREGS, t->pid, 0, &t->regs))
		return err_sys(err, errno, "cannot set the replay's registers");
	return 0;
}

int tracee_get_fpu(struct tracee *t, void *area, size_t cap, size_t *bytes, struct err *err)
{
	struct iovec io = { area, cap };

	if (ptrace(PTRACE_GETREGSET, t->pid, NT_X86_XSTATE, &io))
		return err_sys(err, errno, "cannot read the replay's registers");
	*bytes = io.iov_len;
	return 0;
}

int tracee_set_fpu(struct tracee *t, const void *area, size_t bytes, struct err *err)
{
	struct iovec io = { (void *)(uintptr_t)area, bytes };

	if (ptrace(PTRACE_SETREGSET, t->pid, NT_X86_XSTATE, &io))
		return err_sys(err, errno, "cannot set the replay's registers");
	return 0;
}

int tracee_reset_fpu(struct tracee *t, struct err *err)
{
	static unsigned char area[16384] __attribute__((aligned(64)));
	const uint16_t fcw = FCW_INIT;
	const uint32_t mxcsr = MXCSR_INIT;
	size_t bytes = 0;
	int r = tracee_get_fpu(t, area, sizeof(area), &bytes, err);

	if (r)
		return r;
	memset(area, 0, 416);
	memset(area + XSTATE_BV, 0, 8);
	memcpy(area, &fcw, sizeof(fcw));
	memcpy(area + 24, &mxcsr, sizeof(mxcsr));
	return tracee_set_fpu(t, area, bytes, err);
}

/*
 * Waits for its next stop, of which *sig is the signal; it has to be one. Its real children
 * are ours: of their ends it does not hear.
 */
static int wait_any(struct tracee *t, int *sig, enum __ptrace_request how, struct err *err)
{
	int status;

	for (;;) {
		if (waitpid(t->pid, &status, __WALL) != t->pid)
			return err_sys(err, errno, "cannot wait for the replay");
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGCHLD)
			break;
		if (ptrace(how, t->pid, 0, 0))
			return err_sys(err, errno, "cannot run the replay");
	}
	if (!WIFSTOPPED(status)) {
		t->pid = -1;
		return err_set(err, ESRCH, "the replay's process has ended (status %#x)", status);
	}
	*sig = WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, t->pid, 0, &t->regs))
		return err_sys(err, errno, "cannot read the replay's registers");
	return 0;
}

/* A call of a patched place is one of the place itself. */
static void settle_call(struct tracee *t)
{
	const struct site *s = sites_of_page(&t->sites, t->regs.rip);

	if (s)
		t->regs.rip = t->regs.rcx = s->ip;
}

/* The same, but for what is of patches alone. */
static int wait_stop(struct tracee *t, int *sig, enum __ptrace_request how, struct err *err)
{
	uint64_t moved;
	int r;

	for (;;) {
		r = wait_any(t, sig, how, err);
		if (r)
			return r;
		if (how == PTRACE_CONT && *sig == SIGSYS && t->blocks) {
			*sig = SIGTRAP | 0x80;
			t->regs.rax = (unsigned long long)-ENOSYS;
		}
		if (*sig == (SIGTRAP | 0x80))
			settle_call(t);
		moved = *sig == SIGTRAP ? sites_moved(&t->sites, t->regs.rip) : 0;
		if (!moved)
			return 0;
		t->regs.rip = moved;
		r = tracee_set_regs(t, err);
		if (r)
			return r;
		if (ptrace(how, t->pid, 0, 0))
			return err_sys(err, errno, "cannot run the replay");
	}
}

static int call_at(struct tracee *t, uint64_t at, long *ret, struct err *err, uint64_t nr,
		   const uint64_t arg[6])
{
	const struct user_regs_struct before = t->regs;
	int sig = 0, r;

	t->regs.rip = at;
	t->regs.rsp = t->page + PAGE - 8;	/* no alternate stack in use */
	t->regs.rax = nr;
	t->regs.orig_rax = (unsigned long long)-1;
	t->regs.rdi = arg[0];
	t->regs.rsi = arg[1];
	t->regs.rdx = arg[2];
	t->regs.r10 = arg[3];
	t->regs.r8 = arg[4];
	t->regs.r9 = arg[5];
	r = tracee_set_regs(t, err);
	if (!r && ptrace(PTRACE_CONT, t->pid, 0, 0))
		r = err_sys(err, errno, "cannot run the replay");
	r = r ? r : wait_stop(t, &sig, PTRACE_CONT, err);
	/* The child of a fork was told of. */
	if (!r && nr == SYS_fork && t->regs.rip == at + 2) {
		if (ptrace(PTRACE_GETEVENTMSG, t->pid, 0, &t->forked) ||
		    ptrace(PTRACE_CONT, t->pid, 0, 0))
			return err_sys(err, errno, "cannot fork the replay");
		r = wait_stop(t, &sig, PTRACE_CONT, err);
	}
	if (r)
		return r;
	if (sig != SIGTRAP || t->regs.rip != at + sizeof(stub))
		return err_set(err, EPROTO, "a call of the replay was stopped by signal %d at "
			       "%#llx", sig, (unsigned long long)t->regs.rip);
	*ret = (long)t->regs.rax;
	t->regs = before;
	return tracee_set_regs(t, err);
}

int tracee_call(struct tracee *t, long *ret, struct err *err, uint64_t nr, const uint64_t arg[6])
{
	const int r = t->hook ? t->hook->call(t->hook, t, err) : 0;

	return r ? r : call_at(t, t->page, ret, err, nr, arg);
}

/*
 * The kernel writes to a registered area whenever a thread has lost its CPU, and kills one
 * whose area has gone. What it is registered with: rseq(2), 32 bytes in glibc up to 2.39.
 */
static void leave_rseq(void)
{
	const unsigned int most[] = { 32, __rseq_size };

	for (size_t i = 0; __rseq_size && i < 2; i++)
		if (!syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, most[i],
			     RSEQ_FLAG_UNREGISTER, RSEQ_SIG))
			return;
}

static void child(void)
{
	leave_rseq();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Its real children are ours to wait for, and would stay behind it as zombies. */
	signal(SIGCHLD, SIG_IGN);
	/* What a terminal sends to who is in its foreground would be a stop of it. */
	setsid();
	personality(ADDR_NO_RANDOMIZE);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		_exit(1);
	raise(SIGSTOP);
	_exit(1);
}

/* A call that has to succeed, of the kind that returns an address or 0. */
static int need(struct tracee *t, uint64_t at, struct err *err, const char *what, uint64_t nr,
		const uint64_t arg[6])
{
	long ret;
	int r = at == t->page ? tracee_call(t, &ret, err, nr, arg) :
		call_at(t, at, &ret, err, nr, arg);

	if (!r && ret < 0 && ret > -4096)
		r = err_sys(err, (int)-ret, "cannot %s in the replay", what);
	return r;
}

/* Our page, and nothing else. */
static int empty(struct tracee *t, struct err *err)
{
	const uint64_t own = (uint64_t)(uintptr_t)&tracee_stub;
	const uint64_t map[6] = { t->page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1 };
	const uint64_t below[6] = { 0, t->page }, above[6] = { t->page + PAGE,
				  USER_END - t->page - PAGE };
	int r = need(t, own, err, "map a page", SYS_mmap, map);

	if (!r && tracee_write(t, t->page, stub, sizeof(stub)))
		r = err_set(err, EFAULT, "cannot write to the replay");
	r = r ? r : need(t, t->page, err, "unmap all", SYS_munmap, below);
	return r ? r : need(t, t->page, err, "unmap all", SYS_munmap, above);
}

/* The first one, of which the others are made: of us there would be much to unmap each time. */
static int make_seed(struct tracee *t, uint64_t page, struct err *err)
{
	int sig, r;

	/* fork() of a thread-sanitized process gives the child a thread. */
	*t = (struct tracee){ .page = page, .pid = _Fork() };
	if (!t->pid)
		child();
	if (t->pid < 0)
		return err_sys(err, errno, "cannot fork");
	r = wait_stop(t, &sig, PTRACE_CONT, err);
	if (!r && ptrace(PTRACE_SETOPTIONS, t->pid, 0, PTRACE_O_TRACESYSGOOD |
			 PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL))
		r = err_sys(err, errno, "cannot hold the replay");
	r = r ? r : empty(t, err);
	if (r)
		tracee_kill(t);
	return r;
}

int tracee_new(struct tracee *t, struct tracee *seed, uint64_t page, struct err *err)
{
	int r = 0;

	if (seed->pid <= 0 || seed->page != page) {
		tracee_kill(seed);
		r = make_seed(seed, page, err);
	}
	return r ? r : tracee_fork(t, seed, err);
}

int tracee_fork(struct tracee *t, struct tracee *from, struct err *err)
{
	const uint64_t none[6] = { 0 };
	long ret;
	int sig, r;

	from->forked = 0;
	r = tracee_call(from, &ret, err, SYS_fork, none);
	if (!r && ret < 0)
		r = err_sys(err, (int)-ret, "cannot fork the replay");
	if (r)
		return r;
	*t = (struct tracee){ .pid = (pid_t)from->forked, .page = from->page,
			      .shares = from->shares, .advised = from->advised };
	if (sites_copy(&t->sites, &from->sites))
		return err_sys(err, ENOMEM, "cannot fork the replay");
	return wait_stop(t, &sig, PTRACE_CONT, err);
}

/* As the process has asked for what a fork is to leave out, or not. */
static int advise(struct tracee *t, const struct forkadvice *f, bool as_asked, struct err *err)
{
	long ret;
	int r = 0;

	for (size_t i = 0; !r && i < f->n; i++) {
		const struct forkadvice_range *a = &f->at[i];
		const uint64_t arg[6] = { a->start, a->end - a->start,
					  (uint64_t)(as_asked ? a->advice : a->undo) };

		r = tracee_call(t, &ret, err, SYS_madvise, arg);
		if (!r && ret)
			r = err_sys(err, (int)-ret, "cannot copy the replay");
	}
	return r;
}

int tracee_copy(struct tracee *t, struct tracee *from, struct err *err)
{
	struct forkadvice f = { 0 };
	int r = from->advised ? forkadvice_read(&f, from->pid, err) : 0;

	r = r ? r : advise(from, &f, false, err);
	r = r ? r : tracee_fork(t, from, err);
	r = r ? r : advise(from, &f, true, err);
	if (!r) {
		r = advise(t, &f, true, err);
		if (r)
			tracee_kill(t);
	}
	forkadvice_release(&f);
	return r;
}

int tracee_limit_stack(struct tracee *t, uint64_t bytes, struct err *err)
{
	struct rlimit limit;

	if (prlimit(t->pid, RLIMIT_STACK, NULL, &limit))
		return err_sys(err, errno, "cannot read the replay's limits");
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	if (prlimit(t->pid, RLIMIT_STACK, &limit, NULL))
		return err_sys(err, errno, "cannot limit the replay's stack");
	return 0;
}

void tracee_kill(struct tracee *t)
{
	sites_release(&t->sites);
	if (t->pid <= 0)
		return;
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, __WALL);
	t->pid = -1;
}

static int open_in(struct tracee *t, const char *path, bool write, long *fd, struct err *err)
{
	const uint64_t arg[6] = { (uint64_t)AT_FDCWD, t->page + PATH_AT,
				  (write ? O_RDWR : O_RDONLY) | O_CLOEXEC };
	const size_t n = strlen(path) + 1;
	int r;

	if (n > PAGE - PATH_AT)
		return err_set(err, ENAMETOOLONG, "%s is too long a name", path);
	if (tracee_write(t, t->page + PATH_AT, path, n))
		return err_set(err, EFAULT, "cannot write to the replay");
	r = tracee_call(t, fd, err, SYS_openat, arg);
	if (!r && *fd < 0)
		r = err_sys(err, (int)-*fd, "cannot open %s", path);
	return r;
}

int tracee_map(struct tracee *t, uint64_t start, uint64_t end, int prot, int flags,
	       const char *path, uint64_t offset, struct err *err)
{
	const int all = flags | MAP_FIXED | MAP_NORESERVE | (path ? 0 : MAP_ANONYMOUS);
	uint64_t map[6] = { start, end - start, (uint64_t)prot, (uint64_t)all, (uint64_t)-1,
			    offset };
	uint64_t close[6] = { 0 };
	long fd = -1;
	int r = path ? open_in(t, path, flags & MAP_SHARED, &fd, err) : 0;

	if (r)
		return r;
	map[4] = (uint64_t)fd;
	close[0] = (uint64_t)fd;
	r = need(t, t->page, err, path ? "map a file" : "map memory", SYS_mmap, map);
	if (path && !r)
		r = need(t, t->page, err, "close a file", SYS_close, close);
	return r;
}

/*
 * A step is made by a flag of the processor, which two instructions show to the program: syscall
 * in r11, pushf on the stack.
 */
static int hide_trap_flag(struct tracee *t, bool call, bool pushf, struct err *err)
{
	unsigned char flags;

	if (call && t->regs.r11 & TRAP_FLAG) {
		t->regs.r11 &= ~TRAP_FLAG;
		return tracee_set_regs(t, err);
	}
	if (!pushf || tracee_read(t, &flags, t->regs.rsp + 1, 1))
		return 0;
	flags &= (unsigned char)~(TRAP_FLAG >> 8);
	return tracee_write(t, t->regs.rsp + 1, &flags, 1) ?
	       err_set(err, EFAULT, "cannot write to the replay") : 0;
}

static bool is_pushf(const struct tracee *t)
{
	unsigned char code[2];

	if (tracee_read(t, code, t->regs.rip, sizeof(code)))
		return false;
	return code[0] == PUSHF || (code[1] == PUSHF && (code[0] == 0x66 ||
						       (code[0] & 0xf0) == 0x40));
}

int tracee_resume(struct tracee *t, bool one, int *sig, struct err *err)
{
	const enum __ptrace_request how = one ? PTRACE_SYSEMU_SINGLESTEP : PTRACE_SYSEMU;
	const bool pushf = one && is_pushf(t);
	const uint64_t from = t->regs.rip;
	int r, call;

	if (ptrace(how, t->pid, 0, 0))
		return err_sys(err, errno, "cannot run the replay");
	r = wait_stop(t, sig, how, err);
	if (r)
		return r;
	call = *sig == (SIGTRAP | 0x80);
	if (one)
		r = hide_trap_flag(t, call, pushf && t->regs.rip != from, err);
	return r ? r : call;
}

int tracee_run_blocked(struct tracee *t, int *sig, struct err *err)
{
	int r;

	if (ptrace(PTRACE_CONT, t->pid, 0, 0))
		return err_sys(err, errno, "cannot run the replay");
	r = wait_stop(t, sig, PTRACE_CONT, err);
	return r ? r : *sig == (SIGTRAP | 0x80);
}

int tracee_run(struct tracee *t, int *sig, struct err *err)
{
	return t->hook ? t->hook->run(t->hook, t, false, sig, err) :
			 tracee_resume(t, false, sig, err);
}

int tracee_step(struct tracee *t, int *sig, struct err *err)
{
	return t->hook ? t->hook->run(t->hook, t, true, sig, err) :
			 tracee_resume(t, true, sig, err);
}
