/* SPDX-License-Identifier: MIT */
/*
 * Real programs, compiled here without frame pointers, that block in a lock:
 * their registers and stack are read by ptrace, then the process is gone and
 * what sym says of the sample is compared with what is known of the source.
 */
#include <dirent.h>
#include <errno.h>
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
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/err.h"
#include "sym/sym.h"

#define STACK 4096

static char dir[PATH_MAX];	/* of the compiled programs */
static char libexec[PATH_MAX];
static char sources[PATH_MAX];

struct target {
	pid_t pid, tid;
	uint64_t lock, cond;
	struct sym_regs regs;
	char stack[STACK];
	size_t stack_bytes;
};

static int shell(const char *fmt, ...)
{
	char cmd[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	return system(cmd);
}

static const char *compiler(const char *name, const char *usual)
{
	const char *c = getenv(name);

	return c && *c ? c : usual;
}

static int setup(void **state)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *cc = compiler("TARGET_CC", "gcc"), *cxx = compiler("TARGET_CXX", "g++");
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
	    shell("cd %s && %s %s -o cxx %s/target_cxx.cc", dir, cxx, flags, sources))
		return -1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	return shell("rm -rf %s", dir);
}

static struct sym *new_sym(void)
{
	struct sym_opts o = { .libexec_dir = libexec };
	struct err e = { 0 };
	struct sym *s = sym_new(&o, &e);

	if (!s)
		fail_msg("%s", e.msg);
	return s;
}

/* The newest thread of @pid: its second, or its only one. */
static pid_t newest_thread(pid_t pid)
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
static pid_t find_waiter(pid_t pid, bool thread)
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

static void start(struct target *t, const char *program, const char *mode)
{
	int out[2];
	FILE *f;
	unsigned long a, b;

	memset(t, 0, sizeof(*t));
	assert_int_equal(pipe(out), 0);
	t->pid = fork();
	if (!t->pid) {
		dup2(out[1], 1);
		close(out[0]);
		close(out[1]);
		if (chdir(dir))
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

static void capture(struct target *t)
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

static void end(struct target *t)
{
	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
}

/* Starts, samples, snapshots, ends: all later asking is of a dead process. */
static void sample(struct sym *s, struct target *t, const char *program, const char *mode,
		   uint32_t space)
{
	start(t, program, mode);
	capture(t);
	assert_int_equal(sym_snapshot(s, space, t->pid), 0);
	end(t);
}

static int unwind(struct sym *s, uint32_t space, const struct target *t, struct sym_frame *f)
{
	return sym_unwind(s, space, &t->regs, t->stack, t->stack_bytes, f, 64);
}

static void print_frames(const struct sym_frame *f, int n)
{
	for (int i = 0; i < n; i++)
		print_message("#%-2d %012lx %s+0x%lx %s %s:%u\n", i, (unsigned long)f[i].ip,
			      f[i].symbol ? f[i].symbol : "?", (unsigned long)f[i].offset,
			      f[i].module ? f[i].module : "?", f[i].file ? f[i].file : "?",
			      f[i].line);
}

/* @want (NULL-ended) stands in the frames in this order, each right after the other. */
static int expect_chain(const struct sym_frame *f, int n, const char *const *want)
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

static void expect_data(struct sym *s, uint32_t space, uint64_t addr, const char *want)
{
	struct sym_name n;
	char text[256];

	assert_int_equal(sym_data(s, space, addr, &n), 0);
	sym_name_format(&n, text, sizeof(text));
	assert_string_equal(text, want);
}

static const char *const deep[] = { "wait_here", "middle_function", "middle_function",
				    "middle_function", "outer_function", NULL };

static void check_deep(const char *program)
{
	static const char *const to_main[] = { "outer_function", "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	sample(s, &t, program, "bss", 1);
	n = unwind(s, 1, &t, f);
	assert_true(n > 0);
	at = expect_chain(f, n, deep);
	assert_true(at > 0);
	/* The C library, which has no frame pointers either. */
	assert_string_equal(f[at - 1].symbol, "pthread_mutex_lock");
	assert_non_null(strstr(f[at - 1].module, "libc.so"));
	assert_non_null(strstr(f[at].module, program));
	expect_chain(f, n, to_main);
	/* _start ends the stack: no garbage behind it. */
	assert_string_equal(f[n - 1].symbol, "_start");
	expect_data(s, 1, t.lock, "lock_in_bss");
	expect_data(s, 1, t.lock + 4, "lock_in_bss+0x4");
	expect_data(s, 1, t.cond + 0x28, "exported_cond+0x28");
	sym_free(s);
}

static void test_pie(void **state)
{
	(void)state;
	check_deep("pie");
}

static void test_fixed(void **state)
{
	(void)state;
	check_deep("fixed");
}

static void test_data(void **state)
{
	struct sym *s = new_sym();
	struct sym_name n;
	struct target t;

	(void)state;
	sample(s, &t, "pie", "data", 7);
	expect_data(s, 7, t.lock, "holder_in_data+0x20");
	assert_int_equal(sym_data(s, 7, t.lock, &n), 0);
	assert_non_null(strstr(n.module, "/pie"));
	/* The stack, nowhere, the middle of the code, an unknown space. */
	assert_int_equal(sym_data(s, 7, t.regs.sp, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, 8, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, UINT64_MAX, &n), -ENOENT);
	assert_int_equal(sym_data(s, 7, t.regs.ip, &n), -ENOENT);
	assert_int_equal(sym_data(s, 8, t.lock, &n), -ENOENT);
	assert_int_equal(sym_code(s, 7, t.lock, &n), -ENOENT);
	sym_free(s);
}

static void test_thread(void **state)
{
	static const char *const to_routine[] = { "outer_function", "thread_routine", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "pie", "thread", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, deep);
	/* Then start_thread and clone3, which has marked its end. */
	assert_int_equal(n - expect_chain(f, n, to_routine), 4);
	sym_free(s);
}

static void test_signal(void **state)
{
	static const char *const handler[] = { "wait_here", "on_signal", NULL };
	static const char *const raised[] = { "raise", "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "pie", "signal", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, handler);
	/* run() is in main by inlining; the frame in between is the trampoline. */
	expect_chain(f, n, raised);
	sym_free(s);
}

static void test_library(void **state)
{
	static const char *const chain[] = { "pthread_mutex_lock", "hidden_function", "lib_wait",
					     "main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_name name;
	struct target t;
	int n, at;

	(void)state;
	sample(s, &t, "pie", "lib", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, chain);
	assert_non_null(strstr(f[at + 1].module, "/libtarget.so"));
	expect_data(s, 1, t.lock, "lock_in_library");
	assert_int_equal(sym_data(s, 1, t.lock, &name), 0);
	assert_non_null(strstr(name.module, "/libtarget.so"));
	sym_free(s);
}

static void test_lines(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	(void)state;
	sample(s, &t, "debug", "bss", 1);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	assert_non_null(f[at].file);
	assert_non_null(strstr(f[at].file, "symtarget/target.c"));
	assert_int_equal(f[at].line, 24);	/* of pthread_mutex_lock(m) */
	sym_free(s);
}

static void test_stripped(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_name name;
	struct target t;
	int n, unnamed = 0;

	(void)state;
	sample(s, &t, "stripped", "bss", 1);
	n = unwind(s, 1, &t, f);
	/* All frames are there, of ours only without names, and none with a wrong one. */
	for (int i = 0; i < n; i++) {
		if (f[i].module && strstr(f[i].module, "/stripped")) {
			unnamed++;
			assert_null(f[i].symbol);
		}
	}
	assert_int_equal(unnamed, 7);
	assert_int_equal(sym_data(s, 1, t.lock, &name), -ENOENT);
	sym_free(s);
}

static void test_minidebug(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	if (shell("cd %s && objcopy -S --keep-symbol=wait_here --keep-symbol=middle_function "
		  "--keep-symbol=outer_function pie mini.sym && xz -f mini.sym && "
		  "strip -o mini pie && objcopy --add-section .gnu_debugdata=mini.sym.xz mini",
		  dir)) {
		sym_free(s);
		skip();
	}
	sample(s, &t, "mini", "bss", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, deep);
	sym_free(s);
}

static void test_deleted(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n, at;

	(void)state;
	assert_int_equal(shell("cp %s/pie %s/gone", dir, dir), 0);
	start(&t, "gone", "bss");
	capture(&t);
	assert_int_equal(shell("rm %s/gone && cp /bin/true %s/gone", dir, dir), 0);
	assert_int_equal(sym_snapshot(s, 1, t.pid), 0);
	end(&t);
	n = unwind(s, 1, &t, f);
	at = expect_chain(f, n, deep);
	/* The path is given as it was, without the kernel's remark. */
	assert_string_equal(f[at].module + strlen(f[at].module) - 5, "/gone");
	expect_data(s, 1, t.lock, "lock_in_bss");
	sym_free(s);
}

static void test_cxx(void **state)
{
	static const char *const chain[] = {
		"work::queue<long>::push(long)",
		"work::runner::operator()(std::__cxx11::basic_string<char, std::char_traits<char>, "
		"std::allocator<char> > const&, int)",
		"main", NULL };
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	int n;

	(void)state;
	sample(s, &t, "cxx", "", 1);
	n = unwind(s, 1, &t, f);
	expect_chain(f, n, chain);
	expect_data(s, 1, t.lock, "work::queue<long>::guard");
	sym_free(s);
}

/* Stacks that are cut short or nonsense give few frames, never an error. */
static void test_bad_stacks(void **state)
{
	struct sym *s = new_sym();
	struct sym_regs wild;
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	char noise[STACK];
	int n;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	n = sym_unwind(s, 1, &t.regs, t.stack, 0, f, 64);
	assert_int_equal(n, 1);
	assert_non_null(f[0].symbol);
	assert_true(sym_unwind(s, 1, &t.regs, t.stack, 301, f, 64) < unwind(s, 1, &t, f + 0));
	assert_int_equal(sym_unwind(s, 1, &t.regs, t.stack, t.stack_bytes, f, 2), 2);
	srandom(1);
	for (int i = 0; i < 500; i++) {
		for (size_t j = 0; j < STACK; j++)
			noise[j] = (char)random();
		/* Return addresses into the program at random places, too. */
		for (size_t j = 0; j + 8 <= STACK; j += 64) {
			uint64_t a = t.regs.ip + (uint64_t)(random() % 400000) - 200000;

			memcpy(noise + j, &a, 8);
		}
		wild = t.regs;
		wild.ip += (uint64_t)(random() % 400000) - 200000;
		n = sym_unwind(s, 1, &wild, noise, STACK, f, 64);
		assert_in_range(n, 1, 64);
	}
	memset(&wild, 0xff, sizeof(wild));
	assert_int_equal(sym_unwind(s, 1, &wild, noise, STACK, f, 64), 1);
	assert_int_equal(sym_unwind(s, 2, &wild, noise, STACK, f, 64), -ENOENT);
	sym_stats(s, &st);
	assert_int_equal(st.failed, 0);
	assert_int_equal(st.restarts, 0);
	sym_free(s);
}

static void test_many_stacks(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	uint64_t ns;

	(void)state;
	sample(s, &t, "pie", "thread", 1);
	assert_true(unwind(s, 1, &t, f) > 0);
	ns = clock_mono_ns();
	for (int i = 0; i < 1000; i++) {
		t.regs.ax = (uint64_t)i;	/* another stack, by the hash */
		assert_true(unwind(s, 1, &t, f) > 5);
	}
	ns = clock_mono_ns() - ns;
	print_message("1000 distinct stacks: %.1f ms\n", (double)ns / 1e6);
	assert_true(ns < 1000000000);
	ns = clock_mono_ns();
	for (int i = 0; i < 1000; i++) {
		t.regs.ax = (uint64_t)i;
		assert_true(unwind(s, 1, &t, f) > 5);
	}
	ns = clock_mono_ns() - ns;
	print_message("1000 known stacks: %.1f ms\n", (double)ns / 1e6);
	sym_stats(s, &st);
	assert_int_equal(st.stacks, 2001);
	assert_int_equal(st.cached, 1000);
	sym_free(s);
}

static pid_t child_of_ours(void)
{
	char path[64], text[256] = "";
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f))
		pid = atoi(text);
	if (f)
		fclose(f);
	return pid;
}

static void test_child_dies(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct sym_stats st;
	struct target t;
	pid_t child;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	assert_int_equal(child_of_ours(), 0);	/* not before it is needed */
	assert_true(unwind(s, 1, &t, f) > 5);
	child = child_of_ours();
	assert_true(child > 0);
	kill(child, SIGKILL);
	t.regs.ax++;
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	sym_stats(s, &st);
	assert_int_equal(st.failed, 1);
	assert_int_equal(st.restarts, 1);
	/* Anew, with all files although the process is gone. */
	assert_true(unwind(s, 1, &t, f) > 5);
	expect_data(s, 1, t.lock, "lock_in_bss");
	/* What killed twice is not tried again. */
	kill(child_of_ours(), SIGKILL);
	t.regs.ax++;
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(unwind(s, 1, &t, f), -EIO);
	assert_int_equal(child_of_ours(), 0);
	/* And another space is not hurt. */
	sample(s, &t, "fixed", "bss", 2);
	assert_true(unwind(s, 2, &t, f) > 5);
	sym_free(s);
}

/* The value of a line of /proc/PID/status. */
static void status_of(pid_t pid, const char *name, char *out, size_t bytes)
{
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	*out = 0;
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			snprintf(out, bytes, "%s", line + strlen(name) + 1);
	}
	fclose(f);
}

static void test_child_is_unprivileged(void **state)
{
	struct sym *s = new_sym();
	struct sym_frame f[64];
	struct target t;
	char text[256];
	pid_t child;

	(void)state;
	sample(s, &t, "pie", "bss", 1);
	assert_true(unwind(s, 1, &t, f) > 5);
	child = child_of_ours();
	status_of(child, "CapEff:", text, sizeof(text));
	assert_int_equal(strtoull(text, NULL, 16), 0);
	status_of(child, "CapPrm:", text, sizeof(text));
	assert_int_equal(strtoull(text, NULL, 16), 0);
	status_of(child, "NoNewPrivs:", text, sizeof(text));
	assert_int_equal(atoi(text), 1);
	if (!geteuid()) {
		status_of(child, "Uid:", text, sizeof(text));
		assert_int_equal(atoi(text), 65534);
		status_of(child, "Groups:", text, sizeof(text));
		assert_int_equal(atoi(text), 0);
	}
	assert_int_not_equal(getsid(child), getsid(0));
	sym_free(s);
	/* Reaped, not left behind. */
	assert_int_equal(kill(child, 0), -1);
}

static void test_gone(void **state)
{
	struct sym *s = new_sym();
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	/* A zombie has no memory any more. */
	waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT);
	assert_int_equal(sym_snapshot(s, 1, pid), -ESRCH);
	waitpid(pid, NULL, 0);
	assert_int_equal(sym_snapshot(s, 1, pid), -ESRCH);
	sym_free(s);
	sym_free(NULL);
}

/* A copy of the library, some bytes changed or cut off, mapped as code by a process. */
static pid_t map_hostile(unsigned int seed, uint64_t *addr)
{
	void *want = (void *)(uintptr_t)0x200000000000;
	char path[PATH_MAX + 16], *p;
	struct stat st;
	pid_t pid;
	int fd;

	snprintf(path, sizeof(path), "%s/hostile", dir);
	assert_int_equal(shell("cp %s/libtarget.so %s", dir, path), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0 && !fstat(fd, &st));
	srandom(seed);
	for (int i = 0; i < 1 + (int)(seed % 40); i++) {
		/* Headers more often than what is between. */
		long at = random() % (i & 1 ? st.st_size : i & 2 ? 1024 : 64);
		char c = (char)random();

		if (at > 4)
			assert_int_equal(pwrite(fd, &c, 1, at), 1);
	}
	if (seed % 5 == 0)
		assert_int_equal(ftruncate(fd, 4096 + random() % st.st_size), 0);
	p = mmap(want, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(p != MAP_FAILED);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	munmap(p, (size_t)st.st_size);
	close(fd);
	unlink(path);
	*addr = (uint64_t)(uintptr_t)p;
	return pid;
}

static void test_hostile_files(void **state)
{
	int answered = 0;

	(void)state;
	for (unsigned int seed = 0; seed < 60; seed++) {
		struct sym *s = new_sym();
		struct sym_regs regs = { 0 };
		struct sym_frame f[64];
		struct sym_name name;
		struct sym_stats st;
		uint64_t addr, stack[512];
		pid_t pid = map_hostile(seed, &addr);
		int rc;

		assert_int_equal(sym_snapshot(s, 1, pid), 0);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		for (uint64_t at = 0; at < 0x4000; at += 0x300) {
			rc = sym_code(s, 1, addr + at, &name);
			assert_true(!rc || rc == -ENOENT || rc == -EIO);
			rc = sym_data(s, 1, addr + at, &name);
			assert_true(!rc || rc == -ENOENT || rc == -EIO);
			for (int i = 0; i < 512; i++)
				stack[i] = addr + 0x1000 + (uint64_t)(random() % 0x400);
			regs.ip = addr + 0x1000 + at / 8;
			rc = sym_unwind(s, 1, &regs, stack, sizeof(stack), f, 64);
			assert_true((rc > 0 && rc <= 64) || rc == -EIO);
		}
		sym_stats(s, &st);
		answered += !st.failed;
		sym_free(s);
	}
	/* Corrupt files are no reason to give up the rest. */
	print_message("%d of 60 corrupt files without the child's death\n", answered);
	assert_true(answered > 30);
}

static void test_no_child_program(void **state)
{
	struct sym_opts o = { .libexec_dir = "/nonexistent" };
	struct err e = { 0 };

	(void)state;
	assert_null(sym_new(&o, &e));
	assert_int_equal(e.code, ENOENT);
	assert_non_null(strstr(e.msg, "/nonexistent/tracer-sym"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pie),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_thread),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_minidebug),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_bad_stacks),
		cmocka_unit_test(test_many_stacks),
		cmocka_unit_test(test_child_dies),
		cmocka_unit_test(test_child_is_unprivileged),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_hostile_files),
		cmocka_unit_test(test_no_child_program),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
