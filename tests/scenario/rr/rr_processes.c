/* SPDX-License-Identifier: MIT */
/* Processes and threads: how they begin, end, are waited for, and see each other's memory. */
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "rr_calls.h"

#define STACK_BYTES 65536

static char *self;
static int word;

static void waited(void)
{
	struct rusage use;
	siginfo_t info;
	int status = -1;
	long pid = OK(fork);

	if (!pid)
		_exit(5);
	FAILS(ECHILD, wait4, 1, &status, 0, NULL);
	CHECK(OK(wait4, pid, &status, 0, &use) == pid && status == 5 << 8);
	SHOW("rusage", &use, sizeof(use));
	FAILS(ECHILD, wait4, pid, NULL, 0, NULL);
	pid = OK(fork);
	if (!pid)
		for (;;)
			pause();
	CHECK(OK(wait4, pid, &status, WNOHANG, NULL) == 0);
	OK(kill, pid, SIGSTOP);
	CHECK(OK(wait4, -1, &status, WUNTRACED, NULL) == pid && WIFSTOPPED(status));
	OK(kill, pid, SIGCONT);
	OK(kill, pid, SIGKILL);
	OK(waitid, P_PID, pid, &info, WEXITED | WNOWAIT, &use);
	CHECK(info.si_code == CLD_KILLED && info.si_status == SIGKILL && info.si_pid == pid);
	SHOW("rusage", &use, sizeof(use));
	OK(waitid, P_ALL, 0, NULL, WEXITED, NULL);
	FAILS(ECHILD, waitid, P_ALL, 0, &info, WEXITED, NULL);
	FAILS(ESRCH, kill, pid, 0);
}

static void images(char **env)
{
	char *args[] = { self, (char *)"image", NULL };
	int status;
	long pid = OK(fork);

	FAILS(ENOENT, execve, "/nonexistent", args, env);
	if (!pid) {
		syscall(SYS_execve, self, args, env);
		_exit(1);
	}
	CHECK(OK(wait4, pid, &status, 0, NULL) == pid && status == 42 << 8);
	pid = OK(fork);
	if (!pid) {
		syscall(SYS_execveat, open(self, O_PATH), "", args, env, AT_EMPTY_PATH);
		_exit(1);
	}
	CHECK(OK(wait4, pid, &status, 0, NULL) == pid && status == 42 << 8);
	FAILS(ENOENT, execveat, AT_FDCWD, "nonexistent", args, env, 0);
	pid = vfork();
	if (!pid) {
		word = 7;
		syscall(SYS_execve, self, args, env);
		_exit(1);
	}
	CHECK(word == 7 && OK(wait4, pid, &status, 0, NULL) == pid && status == 42 << 8);
	pid = vfork();
	if (!pid) {
		word = 8;
		_exit(3);
	}
	CHECK(word == 8 && OK(wait4, pid, &status, 0, NULL) == pid && status == 3 << 8);
}

static int started(void *arg)
{
	int *p = arg;

	*p += 1;
	syscall(SYS_exit, 6);
	return 0;
}

/* By clone and clone3, with all they write. */
static void clones(void)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int parent = 0, child = 99, pidfd = -1, status;
	struct clone_args a = { .flags = CLONE_PIDFD | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID,
				.pidfd = (uintptr_t)&pidfd, .parent_tid = (uintptr_t)&parent,
				.child_tid = (uintptr_t)&child, .exit_signal = SIGCHLD };
	siginfo_t info;
	long pid;

	FAILS(EINVAL, clone3, &a, 3L);
	pid = OK(clone3, &a, sizeof(a));
	if (!pid)
		_exit(child == getpid() ? 4 : 5);
	CHECK(parent == pid && child == 99 && pidfd > 2);
	OK(waitid, P_PIDFD, pidfd, &info, WEXITED, NULL);
	CHECK(info.si_status == 4 && info.si_pid == pid);
	OK(close, pidfd);
	pid = OK(clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, 0L, &parent, &child,
		 0L);
	if (!pid)
		_exit(child == getpid() ? 4 : 5);
	CHECK(OK(wait4, pid, &status, 0, NULL) == pid && status == 4 << 8 && parent == pid);
	FAILS(EINVAL, clone, CLONE_THREAD, 0L, NULL, NULL, 0L);
	word = 10;
	pid = clone(started, stack + STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
		    &word);
	CHECK(OK(wait4, pid, &status, 0, NULL) == pid && status == 6 << 8 && word == 11);
	child = 1;
	pid = clone(started, stack + STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES |
		    CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		    CLONE_CHILD_CLEARTID, &word, &parent, NULL, &child);
	CHECK(pid > 0 && parent == pid);
	while (__atomic_load_n(&child, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &child, 0 /* wait */, 1, NULL, NULL, 0);
	CHECK(word == 12);
	printf("thread %ld\n", pid);
	OK(set_tid_address, &child);
}

/* Another's memory, by calls. */
static void across(void)
{
	char here[64] = "", text[16] = "in the parent", *shared;
	struct iovec v[2] = { { here, 5 }, { here + 8, 20 } }, w = { text, 13 }, bad = { NULL, 9 };
	const long pid = OK(fork);
	int status;

	if (!pid) {
		struct iovec mine = { (char *)"CHILD", 5 }, his = { text, 5 };

		CHECK(OK(process_vm_writev, getppid(), &mine, 1L, &his, 1L, 0L) == 5);
		fflush(stdout);
		_exit(0);
	}
	CHECK(OK(wait4, pid, &status, 0, NULL) == pid && !status);
	printf("%s\n", text);
	CHECK(!memcmp(text, "CHILD", 5));
	CHECK(OK(process_vm_readv, getpid(), v, 2L, &w, 1L, 0L) == 13);
	CHECK(!memcmp(here, "CHILD", 5) && !memcmp(here + 8, "e parent", 8));
	FAILS(EFAULT, process_vm_readv, getpid(), v, 2L, &bad, 1L, 0L);
	FAILS(ESRCH, process_vm_readv, pid, v, 2L, &w, 1L, 0L);
	FAILS(ESRCH, process_vm_writev, pid, v, 2L, &w, 1L, 0L);
	w.iov_base = here + 30;
	CHECK(OK(process_vm_writev, getpid(), v, 1L, &w, 1L, 0L) == 5);
	CHECK(!memcmp(here + 30, "CHILD", 5));
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!OK(fork)) {
		strcpy(shared, "from the child");
		_exit(0);
	}
	OK(wait4, -1, NULL, 0, NULL);
	CHECK(!strcmp(shared, "from the child"));
}

static void groups(void)
{
	struct rlimit lim;
	long pid;

	printf("%ld %ld %ld\n", OK(getpid), OK(gettid), OK(getppid));
	FAILS(ESRCH, getpgid, 999999);
	pid = OK(fork);
	if (!pid) {
		CHECK(OK(setpgid, 0, 0) == 0);
		CHECK(OK(getpgid, 0) == getpid() && OK(getpgrp) == getpid());
		FAILS(EPERM, setsid);
		if (!OK(fork)) {
			CHECK(OK(setsid) == getpid() && OK(getsid, 0) == getpid());
			fflush(stdout);
			_exit(0);
		}
		OK(wait4, -1, NULL, 0, NULL);
		fflush(stdout);
		_exit(0);
	}
	OK(wait4, pid, NULL, 0, NULL);
	FAILS(ESRCH, setpgid, 999999, 1);
	OK(getrlimit, RLIMIT_NOFILE, &lim);
	SHOW("rlimit", &lim, sizeof(lim));
	FAILS(EINVAL, getrlimit, 99, &lim);
	OK(prlimit64, 0, RLIMIT_CORE, NULL, &lim);
	OK(prlimit64, 0, RLIMIT_CORE, &(struct rlimit){ 0, lim.rlim_max }, &lim);
	SHOW("rlimit", &lim, sizeof(lim));
	FAILS(ESRCH, prlimit64, 999999, RLIMIT_CORE, NULL, &lim);
	OK(setrlimit, RLIMIT_CORE, &lim);
	FAILS(ESRCH, ptrace, 16 /* attach */, 999999, 0L, 0L);
}


int main(int argc, char **argv, char **env)
{
	char path[4096] = "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1)
		return !strcmp(argv[1], "image") ? 42 : 1;
	CHECK(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	self = path;
	waited();
	images(env);
	clones();
	across();
	groups();
	return 0;
}
