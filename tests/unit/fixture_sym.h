/* SPDX-License-Identifier: MIT */
#ifndef FIXTURE_SYM_H
#define FIXTURE_SYM_H

/*
 * Real programs, compiled here without frame pointers, that block in a lock:
 * their registers and stack are read by ptrace, then the process is gone and
 * what sym says of the sample is compared with what is known of the source.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "sym/sym.h"

#define UNUSED __attribute__((unused))	/* not every test uses all */
#define STACK 4096

static char dir[PATH_MAX];	/* of the compiled programs */
static char libexec[PATH_MAX];
static char sources[PATH_MAX];
UNUSED static const char *chroot_to;	/* of the next program, below dir */

struct target {
	pid_t pid, tid;
	uint64_t lock, cond;
	struct sym_regs regs;
	char stack[STACK];
	size_t stack_bytes;
};

UNUSED __attribute__((format(printf, 1, 2)))
static int shell(const char *fmt, ...)
{
	char cmd[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd);
}

UNUSED static const char *compiler(const char *name, const char *usual)
{
	const char *c = getenv(name);

	return c && *c ? c : usual;
}

UNUSED static int setup(void **state)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *cc = compiler("TARGET_CC", "gcc"), *cxx = compiler("TARGET_CXX", "clang++");
	const char *flags = "-O2 -fomit-frame-pointer -fno-optimize-sibling-calls -pthread";

	(void)state;
	if (n <= 0)
		return -1;
	self[n] = 0;
	for (int i = 0; i < 3; i++)
		*strrchr(self, '/') = 0;
	snprintf(libexec, sizeof(libexec), "%.4000s/libexec", self);
	if (!realpath("tests/unit/symtarget", sources))
		return -1;
	snprintf(dir, sizeof(dir), "/tmp/test_sym.XXXXXX");
	if (!mkdtemp(dir) || chmod(dir, 0755))
		return -1;
	if (shell("cd %s && %s %s -fPIC -shared -o libtarget.so %s/target_lib.c", dir, cc, flags,
		  sources) ||
	    shell("cd %s && %s %s -pie -fPIE -o pie %s/target.c ./libtarget.so", dir, cc, flags,
		  sources) ||
	    shell("cd %s && %s %s -no-pie -fno-pie -o fixed %s/target.c ./libtarget.so", dir, cc,
		  flags, sources) ||
	    shell("cd %s && %s %s -g -o debug %s/target.c ./libtarget.so", dir, cc, flags,
		  sources) ||
	    shell("cd %s && strip -o stripped pie", dir) ||
	    shell("cd %s && %s %s -o cxx %s/target_cxx.cc", dir, cxx, flags, sources) ||
	    shell("cd %s && %s %s -g -o cxxdebug %s/target_cxx.cc", dir, cxx, flags, sources))
		return -1;
	return 0;
}

UNUSED static int teardown(void **state)
{
	(void)state;
	return shell("rm -rf %s", dir);
}

UNUSED static struct sym *new_sym_with(bool no_lines)
{
	struct sym_opts o = { .libexec_dir = libexec, .no_lines = no_lines };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);

	if (!s)
		fail_msg("%s", e.msg);
	return s;
}

UNUSED static struct sym *new_sym(void)
{
	return new_sym_with(false);
}

/* The newest thread of @pid: its second, or its only one. */
UNUSED static pid_t newest_thread(pid_t pid)
{
	char path[64];
	struct dirent *e;
	pid_t tid = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t t = atoi(e->d_name);

		if (t && (!tid || t != pid))
			tid = t;
	}
	if (d)
		closedir(d);
	return tid;
}

/* The thread of @pid that sleeps in the lock; 0: not yet. */
UNUSED static pid_t find_waiter(pid_t pid, bool thread)
{
	char path[64], text[64];
	pid_t tid = newest_thread(pid);
	ssize_t n;
	int fd;

	if (!tid || (tid != pid) != thread)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return !strncmp(text, "202 ", 4) ? tid : 0;
}

UNUSED static void start(struct target *t, const char *program, const char *mode)
{
	int out[2];
	FILE *f;
	unsigned long a, b;

	memset(t, 0, sizeof(*t));
	assert_int_equal(pipe(out), 0);
	t->pid = fork();
	if (!t->pid) {
		/* A failed test ends without killing it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		if (chdir(dir) || (chroot_to && (chroot(chroot_to) || chdir("/"))))
			_exit(126);
		execl(program, program, mode, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lx %lx", &a, &b), 2);
	t->lock = a;
	t->cond = b;
	fclose(f);
	for (int i = 0; i < 2000 && !t->tid; i++) {
		t->tid = find_waiter(t->pid, !strcmp(mode, "thread"));
		usleep(1000);
	}
	assert_int_not_equal(t->tid, 0);
}

UNUSED static void capture(struct target *t)
{
	struct user_regs_struct r;
	struct iovec here = { t->stack, STACK }, there;
	ssize_t n;

	assert_int_equal(ptrace(PTRACE_SEIZE, t->tid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, t->tid, 0, 0), 0);
	assert_int_equal(waitpid(t->tid, NULL, __WALL), t->tid);
	assert_int_equal(ptrace(PTRACE_GETREGS, t->tid, 0, &r), 0);
	t->regs = (struct sym_regs){
		.ax = r.rax, .dx = r.rdx, .cx = r.rcx, .bx = r.rbx, .si = r.rsi, .di = r.rdi,
		.bp = r.rbp, .sp = r.rsp, .r8 = r.r8, .r9 = r.r9, .r10 = r.r10, .r11 = r.r11,
		.r12 = r.r12, .r13 = r.r13, .r14 = r.r14, .r15 = r.r15, .ip = r.rip,
	};
	/* A page at a time, as the stack may end before: what is not there is not. */
	for (size_t got = 0; got < STACK; got += (size_t)n) {
		uint64_t at = r.rsp + got;

		there.iov_base = (void *)(uintptr_t)at;
		there.iov_len = 4096 - (at & 4095);
		if (there.iov_len > STACK - got)
			there.iov_len = STACK - got;
		here.iov_base = t->stack + got;
		here.iov_len = there.iov_len;
		n = process_vm_readv(t->tid, &here, 1, &there, 1, 0);
		if (n <= 0)
			break;
		t->stack_bytes = got + (size_t)n;
	}
	assert_true(t->stack_bytes > 256);
	ptrace(PTRACE_DETACH, t->tid, 0, 0);
}

UNUSED static void end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
}

/* Starts, samples, snapshots, ends: all later asking is of a dead process. */
UNUSED static void sample(struct sym *s, struct target *t, const char *program, const char *mode,
		   uint32_t space)
{
	start(t, program, mode);
	capture(t);
	assert_int_equal(sym_snapshot(s, space, t->pid), 0);
	end(t);
}

UNUSED static int unwind(struct sym *s, uint32_t space, const struct target *t, struct sym_frame *f)
{
	return sym_unwind(s, space, &t->regs, t->stack, t->stack_bytes, f, 64);
}

UNUSED static void print_frames(const struct sym_frame *f, int n)
{
	for (int i = 0; i < n; i++)
		print_message("#%-2d %012lx %s+0x%lx %s+0x%lx %s:%u%s\n", i,
			      (unsigned long)f[i].ip, f[i].symbol ? f[i].symbol : "?",
			      (unsigned long)f[i].offset, f[i].module ? f[i].module : "?",
			      (unsigned long)f[i].module_offset, f[i].file ? f[i].file : "?",
			      f[i].line, f[i].inlined ? " (inlined)" : "");
}

/* @want (NULL-ended) stands in the frames in this order, each right after the other. */
UNUSED static int expect_chain(const struct sym_frame *f, int n, const char *const *want)
{
	for (int i = 0; i < n; i++) {
		int j = 0;

		while (want[j] && i + j < n && f[i + j].symbol && !strcmp(f[i + j].symbol, want[j]))
			j++;
		if (!want[j])
			return i;
	}
	print_frames(f, n);
	fail_msg("%s and its callers are not in the stack", want[0]);
	return -1;
}

/* The frame @f is @symbol, inlined or not, and stands at @line of @file. */
UNUSED static void expect_frame(const struct sym_frame *f, const char *symbol, bool inlined,
				const char *file, uint32_t line)
{
	assert_string_equal(f->symbol, symbol);
	assert_int_equal(f->inlined, inlined);
	assert_non_null(f->file);
	assert_non_null(strstr(f->file, file));
	if (line)
		assert_int_equal(f->line, line);
}

UNUSED static void expect_data(struct sym *s, uint32_t space, uint64_t addr, const char *want)
{
	struct sym_name n;
	char text[256];

	assert_int_equal(sym_data(s, space, addr, &n), 0);
	sym_name_format(&n, text, sizeof(text));
	assert_string_equal(text, want);
}

UNUSED static const char *const deep[] = { "wait_here", "middle_function", "middle_function",
				    "middle_function", "outer_function", NULL };

#endif
