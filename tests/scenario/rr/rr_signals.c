/* SPDX-License-Identifier: MIT */
/* Signals: handlers, masks, stacks, faults, what they break off, and reading them. */
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>

#include "rr_calls.h"

static volatile int got, code, count;
static volatile uintptr_t where, on_stack;
static sigjmp_buf back;
static sigset_t none;

static void handler(int sig, siginfo_t *info, void *ctx)
{
	const ucontext_t *uc = ctx;

	got = sig;
	code = info->si_code;
	count++;
	where = (uintptr_t)info->si_addr;
	on_stack = (uintptr_t)__builtin_frame_address(0);
	printf("signal %d, code %d, sp %llx\n", sig, code,
	       (unsigned long long)uc->uc_mcontext.gregs[REG_RSP]);
	SHOW("info", info, sizeof(*info));
}

static void jump(int sig, siginfo_t *info, void *ctx)
{
	handler(sig, info, ctx);
	siglongjmp(back, 1);
}

static void take(int sig, void (*fn)(int, siginfo_t *, void *), int flags)
{
	struct sigaction was, act = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO | flags };

	CHECK(!sigaction(sig, &act, &was));
	SHOW("sigaction", &was, sizeof(was));
}

static void handled(void)
{
	struct { void *fn; unsigned long flags; void *restorer; uint64_t mask; } old;
	uint64_t set = 1ull << (SIGUSR1 - 1), was = 9;

	take(SIGUSR1, handler, 0);
	OK(rt_sigaction, SIGUSR1, NULL, &old, 8L);
	SHOW("action", &old, sizeof(old));
	FAILS(EINVAL, rt_sigaction, SIGKILL, &old, NULL, 8L);
	OK(kill, getpid(), SIGUSR1);
	CHECK(got == SIGUSR1 && code == SI_USER);
	OK(tgkill, getpid(), GOT(gettid), SIGUSR1);
	CHECK(code == SI_TKILL && count == 2);
	FAILS(ESRCH, tgkill, getpid(), 999999, 0);
	OK(tkill, gettid(), SIGUSR1);
	FAILS(ESRCH, kill, 999999, SIGUSR1);
	OK(rt_sigprocmask, SIG_BLOCK, &set, &was, 8L);
	FAILS(EINVAL, rt_sigprocmask, 77, &set, &was, 8L);
	OK(kill, getpid(), SIGUSR1);
	CHECK(count == 3);
	OK(rt_sigpending, &was, 8L);
	CHECK(was == set);
	FAILS(EINVAL, rt_sigpending, &was, 99L);
	was = 0;
	FAILS(EINTR, rt_sigsuspend, &was, 8L);
	CHECK(count == 4);
	OK(rt_sigprocmask, SIG_SETMASK, &none, NULL, 8L);
}

static void fetched(void)
{
	const uint64_t set = 1ull << (SIGUSR2 - 1) | 1ull << (SIGRTMIN - 1);
	const struct timespec soon = { 0, 1000000 };
	struct signalfd_siginfo si[2];
	siginfo_t info = { .si_signo = SIGRTMIN, .si_code = SI_QUEUE };
	long fd;

	OK(rt_sigprocmask, SIG_BLOCK, &set, NULL, 8L);
	FAILS(EAGAIN, rt_sigtimedwait, &set, &info, &soon, 8L);
	OK(kill, getpid(), SIGUSR2);
	CHECK(OK(rt_sigtimedwait, &set, &info, NULL, 8L) == SIGUSR2);
	CHECK(info.si_pid == getpid());
	OK(kill, getpid(), SIGUSR2);
	CHECK(OK(rt_sigtimedwait, &set, NULL, &soon, 8L) == SIGUSR2);
	info = (siginfo_t){ .si_signo = SIGRTMIN, .si_code = SI_QUEUE };
	info.si_value.sival_int = 77;
	OK(rt_sigqueueinfo, getpid(), SIGRTMIN, &info);
	OK(rt_tgsigqueueinfo, getpid(), gettid(), SIGRTMIN, &info);
	fd = OK(signalfd4, -1, &set, 8L, SFD_NONBLOCK);
	FAILS(EINVAL, signalfd4, -1, &set, 7L, 0);
	CHECK(OK(read, fd, si, sizeof(si)) == 2 * sizeof(si[0]));
	CHECK(si[0].ssi_signo == (uint32_t)SIGRTMIN && si[1].ssi_int == 77);
	FAILS(EAGAIN, read, fd, si, sizeof(si));
	OK(close, fd);
	OK(close, GOT(signalfd, -1, &set, 8L));
	OK(rt_sigprocmask, SIG_SETMASK, &none, NULL, 8L);
}

static void stacks(void)
{
	char *room = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t alt = { .ss_sp = room, .ss_size = 65536 }, was;

	OK(sigaltstack, NULL, &was);
	CHECK(was.ss_flags == SS_DISABLE);
	OK(sigaltstack, &alt, &was);
	alt.ss_size = 1;
	FAILS(ENOMEM, sigaltstack, &alt, NULL);
	take(SIGSEGV, jump, SA_ONSTACK);
	if (!sigsetjmp(back, 1))
		*(volatile int *)0x1234 = 1;
	CHECK(got == SIGSEGV && code == SEGV_MAPERR && where == 0x1234);
	CHECK(on_stack > (uintptr_t)room && on_stack < (uintptr_t)room + 65536);
	if (!sigsetjmp(back, 1))
		*(volatile int *)(uintptr_t)&stacks = 1;
	CHECK(code == SEGV_ACCERR && where == (uintptr_t)&stacks);
	take(SIGFPE, jump, SA_ONSTACK | SA_NODEFER);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("xorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\tidivl %%ecx" ::: "rax",
				 "rcx", "rdx");
	CHECK(got == SIGFPE && code == FPE_INTDIV);
	take(SIGILL, jump, 0);
	if (!sigsetjmp(back, 1))
		__asm__ volatile("ud2");
	CHECK(got == SIGILL);
	take(SIGTRAP, handler, 0);
	__asm__ volatile("int3");
	CHECK(got == SIGTRAP);
	alt = (stack_t){ .ss_flags = SS_DISABLE };
	OK(sigaltstack, &alt, &was);
	CHECK(was.ss_sp == room && was.ss_size == 65536);
}

/* A call that a timer's signal ends, and one that goes on behind it. */
static void broken_off(void)
{
	const struct itimerval soon = { .it_value = { 0, 20000 } };
	struct itimerval is;
	struct timespec rest = { 0, 0 };
	char c;
	int p[2];

	take(SIGALRM, handler, 0);
	FAILS(EINVAL, setitimer, 9, &soon, NULL);
	OK(setitimer, ITIMER_REAL, &soon, &is);
	OK(getitimer, ITIMER_REAL, &is);
	SHOW("itimer", &is, sizeof(is));
	FAILS(EINVAL, getitimer, 9, &is);
	FAILS(EINTR, nanosleep, &(struct timespec){ 10, 0 }, &rest);
	CHECK(got == SIGALRM && rest.tv_sec == 9);
	OK(setitimer, ITIMER_REAL, &soon, NULL);
	FAILS(EINTR, clock_nanosleep, CLOCK_MONOTONIC, 0, &(struct timespec){ 10, 0 }, &rest);
	CHECK(rest.tv_sec == 9);
	OK(setitimer, ITIMER_REAL, &soon, NULL);
	FAILS(EINTR, pause);
	CHECK(!pipe(p));
	OK(setitimer, ITIMER_REAL, &soon, NULL);
	FAILS(EINTR, read, p[0], &c, 1L);
	take(SIGALRM, handler, SA_RESTART);
	OK(setitimer, ITIMER_REAL, &soon, NULL);
	if (!fork()) {
		usleep(60000);
		_exit(write(p[1], "x", 1) != 1);
	}
	CHECK(OK(read, p[0], &c, 1L) == 1 && c == 'x');
	OK(wait4, -1, NULL, 0, NULL);
	CHECK(OK(alarm, 100) == 0 && OK(alarm, 0) == 100);
}

/* Stopped and continued, a sleep goes on by restart_syscall. */
static void restarted(void)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		struct timespec rest = { 7, 7 };

		syscall(SYS_nanosleep, &(struct timespec){ 0, 150000000 }, &rest);
		_exit(9);
	}
	usleep(30000);
	OK(kill, pid, SIGSTOP);
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
	OK(kill, pid, SIGCONT);
	CHECK(waitpid(pid, &status, 0) == pid && status == 9 << 8);
	printf("count %d\n", count);
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	sigemptyset(&none);
	handled();
	fetched();
	stacks();
	broken_off();
	restarted();
	signal(SIGTERM, SIG_DFL);
	OK(kill, getpid(), SIGTERM);
	return 0;
}
