/* SPDX-License-Identifier: MIT */
/*
 * rr_edges KIND [N]: programs at the edges of what the kernel grants them: of the stack, of
 * signals, of calls. The kinds are in the table at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, strerror(errno)); \
	exit(1); } } while (0)
#define FRAME 4096

static long number = 1;
static volatile long depth;
static volatile char sink;

/* So many frames, or for ever. */
static __attribute__((noinline)) void dive(long frames)
{
	volatile char frame[FRAME];

	frame[0] = (char)frames;
	depth++;
	if (frames)
		dive(frames - 1);
	sink += frame[0];
}

/* MiB of stack. */
static void deep(void)
{
	dive((number << 20) / FRAME);
	printf("%ld\n", depth);
}

static void on_overflow(int sig, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d at depth %ld, %p\n", sig, depth, info->si_addr);
	exit(3);
}

static void handle_segv(int flags)
{
	static char stack[65536];
	const stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO | flags };

	CHECK(!sigaltstack(&alt, NULL) && !sigaction(SIGSEGV, &act, NULL));
}

static void overflow(void)
{
	handle_segv(SA_ONSTACK);
	dive(-1);
}

/* The same behind a limit that is the program's own. */
static void limited(void)
{
	const struct rlimit limit = { (rlim_t)number << 20, RLIM_INFINITY };

	CHECK(!prlimit(getpid(), RLIMIT_STACK, &limit, NULL));
	overflow();
}

static void set_old(void)
{
	struct rlimit limit = { (rlim_t)number << 20, RLIM_INFINITY };

	CHECK(!syscall(SYS_setrlimit, RLIMIT_STACK, &limit));
	overflow();
}

static void on_usr1(int sig)
{
	printf("signal %d\n", sig);
	exit(4);
}

/* Handlers, and a stack on which they have no room: the kernel ends the program. */
static void no_room(void)
{
	puts("and now");
	fflush(stdout);
	handle_segv(0);
	dive(-1);
}

/* There is none for SIGUSR1; SIGSEGV, by which the kernel says so, has another stack. */
static void no_room_for_one(void)
{
	const pid_t pid = getpid();

	handle_segv(SA_ONSTACK);
	signal(SIGUSR1, on_usr1);
	__asm__ volatile("mov %%rsp, %%rbx\n\tmov $64, %%esp\n\tsyscall\n\tmov %%rbx, %%rsp" :
			 : "a"(SYS_kill), "D"(pid), "S"(SIGUSR1) :
			 "rbx", "rcx", "r11", "memory");
}

/* All of the stack, up to where it ends, may be run. */
static void executable(void)
{
	unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };	/* mov $42, %eax; ret */
	int (*fn)(void) = (int (*)(void))(void *)code;
	void *page = (void *)((unsigned long)code & -4096ul);

	CHECK(!mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN));
	printf("%d\n", fn());
}

static void grows_down(void)
{
	char *low = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *at;

	CHECK(low != MAP_FAILED && !munmap(low, 1 << 20));
	at = mmap(low + (1 << 20) - 4096, 4096, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	CHECK(at != MAP_FAILED);
	for (int i = 0; i < 20; i++)
		at[-4096 * i] = (char)i;
	printf("%d\n", at[-4096 * 19]);
}

/* So many rounds of a computation and a call. */
static void computes(void)
{
	for (long i = 0; i < number; i++) {
		for (long k = 0; k < 2000000; k++)
			sink += (char)k;
		getppid();
	}
	puts("computed");
}

static volatile long alarms;

static void on_alarm(int sig)
{
	alarms += sig == SIGALRM;
}

/* Numbers of calls that are none, and what is more than the kernel looks at; with signals. */
static void numbers(void)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	static const long nr[] = { -1, -2, 0xffffffff, SYS_getpid | 1l << 32 };
	const pid_t pid = getpid();
	long answers = 0;

	signal(SIGALRM, on_alarm);
	CHECK(!setitimer(ITIMER_REAL, &often, NULL));
	for (long i = 0; i < number; i++)
		for (size_t k = 0; k < sizeof(nr) / sizeof(nr[0]); k++)
			answers += syscall(nr[k]) == (k < 3 ? -1 : pid);
	CHECK(!setitimer(ITIMER_REAL, &never, NULL));
	printf("%ld answers, %ld alarms\n", answers, alarms);
}

#define PARTS 3

/* Lines that are a part each. */
static void fill(struct iovec v[PARTS], char text[PARTS][16], const char *what)
{
	for (int i = 0; i < PARTS; i++) {
		snprintf(text[i], sizeof(text[i]), "%s %d\n", what, i);
		v[i] = (struct iovec){ text[i], strlen(text[i]) };
	}
}

static void messages(void)
{
	char text[PARTS][16], more[PARTS][16];
	struct iovec v[PARTS], w[PARTS];
	struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = PARTS } },
				{ .msg_hdr = { .msg_iov = w, .msg_iovlen = PARTS } } };

	fill(v, text, "one");
	fill(w, more, "two");
	CHECK(sendmsg(1, &m[0].msg_hdr, 0) > 0);
	CHECK(sendmmsg(1, m, 2, 0) == 2);
	CHECK(send(1, "end\n", 4, 0) == 4);
}

/* What is spliced has to stay: the pipe has the pages themselves. */
static void splices(void)
{
	static char text[PARTS][16];
	struct iovec v[PARTS];

	fill(v, text, "spliced");
	CHECK(vmsplice(1, v, PARTS, 0) > 0);
}

static const struct {
	const char *name;
	void (*fn)(void);
} kinds[] = {
	{ "deep", deep },
	{ "overflow", overflow },
	{ "limited", limited },
	{ "set_old", set_old },
	{ "no_room", no_room },
	{ "no_room_for_one", no_room_for_one },
	{ "executable", executable },
	{ "grows_down", grows_down },
	{ "computes", computes },
	{ "numbers", numbers },
	{ "messages", messages },
	{ "splices", splices },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		number = atol(argv[2]);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			kinds[i].fn();
			return 0;
		}
	fprintf(stderr, "rr_edges KIND [N]\n");
	return 2;
}
