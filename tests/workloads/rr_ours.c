/* SPDX-License-Identifier: MIT */
/*
 * rr_ours KIND: programs that come near to what a replay puts among their memory, and near to
 * places that it patches. The kinds are in the table at the end.
 */
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#define CALLS 50	/* more than it takes for a place to be patched */

static void make_calls(void)
{
	for (int i = 0; i < CALLS; i++) {
		getppid();
		getuid();
		sched_yield();
	}
}

/* ---- holes --------------------------------------------------------------------------------- */

/* What lies between the program's mappings, but for what is below the first. */
static size_t find_holes(uint64_t hole[][2], size_t most)
{
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t start, end, last = 0;
	char line[4096];
	size_t n = 0;

	if (!f)
		wl_die("/proc/self/maps");
	while (n < most && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || start >> 47)
			continue;
		if (last && start > last) {
			hole[n][0] = last;
			hole[n++][1] = start;
		}
		last = end;
	}
	fclose(f);
	return n;
}

/* Each time a call that fails there, and calls from places that were patched. */
static void over_holes(int (*fn)(void *, size_t))
{
	static uint64_t hole[256][2];
	size_t n;

	make_calls();
	n = find_holes(hole, 256);
	for (size_t i = 0; i < n; i++) {
		const int r = fn((void *)hole[i][0], hole[i][1] - hole[i][0]);

		printf("%d %s\n", r, r ? strerror(errno) : "");
		make_calls();
	}
}

static int drop(void *at, size_t n)
{
	return madvise(at, n, MADV_DONTNEED);
}

static int read_only(void *at, size_t n)
{
	return mprotect(at, n, PROT_READ);
}

static int not_forked(void *at, size_t n)
{
	return madvise(at, n, MADV_DONTFORK);
}

static int wiped(void *at, size_t n)
{
	return madvise(at, n, MADV_WIPEONFORK);
}

static void dropped(void)
{
	over_holes(drop);
}

static void protected(void)
{
	over_holes(read_only);
}

static void forked(void)
{
	int status;

	over_holes(not_forked);
	over_holes(wiped);
	fflush(stdout);
	if (!fork()) {
		make_calls();
		_exit(3);
	}
	wait(&status);
	printf("child %d\n", WEXITSTATUS(status));
}

/* ---- code that is patched ------------------------------------------------------------------ */

/* By bytes that only differ in a replay: it goes another way there, amid many calls. */
static void write_if_replayed(uint64_t addr)
{
	unsigned char was[32];

	memcpy(was, (const void *)(uintptr_t)getppid, sizeof(was));
	make_calls();
	if (memcmp(was, (const void *)(uintptr_t)getppid, sizeof(was)))
		*(volatile uint64_t *)addr = 0x7fffffff0000;
	getgid();
	make_calls();
	printf("read\n");
}

/* To a fault. */
static void reads_code(void)
{
	write_if_replayed(8);
}

static void *take_turns(void *arg)
{
	const volatile bool *end = arg;

	while (!*end)
		make_calls();
	return NULL;
}

/* To where a replay has the sizes of what it keeps in the process: user/rr/inproc.h. */
static void writes_sizes(void)
{
	static volatile bool end;
	pthread_t t;

	if (pthread_create(&t, NULL, take_turns, (void *)(uintptr_t)&end))
		wl_die("pthread_create");
	write_if_replayed(0x7ffffa000000 + 64);
	end = true;
	pthread_join(t, NULL);
}

static long cell;
static volatile long nfaults;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)info;
	nfaults++;
	c->uc_mcontext.gregs[REG_RBX] = (greg_t)&cell;
}

/* The instruction behind a call, which is moved when that is patched, faults now and then. */
static void moved(void)
{
	const struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	long there, ret;

	sigaction(SIGSEGV, &act, NULL);
	for (int i = 1; i <= 4 * CALLS; i++) {
		long *to = i % CALLS ? &there : NULL;

		__asm__ volatile("syscall\n\tmov %%rax, (%%rbx)\n\tnop\n\tnop\n\tnop" :
				 "=a"(ret), "+b"(to) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	}
	printf("%ld faults, %d\n", nfaults, cell == there);
}

/* Code whose last instruction goes on in a page of its own, which is written from some time on. */
static void written_from(int from)
{
	static const unsigned char code[] = {
		0xb8, SYS_getppid, 0, 0, 0,	/* mov eax, SYS_getppid */
		0x0f, 0x05,			/* syscall */
		0x48, 0x83, 0xc0, 0,		/* add rax, 0: the number is in the next page */
		0xc3,				/* ret */
	};
	const size_t first = 10;
	unsigned char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *at = page + 4096 - first;
	long sum = 0;

	memcpy(at, code, sizeof(code));
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	for (int i = 0; i < CALLS; i++) {
		if (i == from)
			mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
		if (i >= from)
			page[4096] = (unsigned char)i;
		sum += ((long (*)(void))(uintptr_t)at)() - getppid();
	}
	printf("%ld\n", sum);
}

static void at_a_border(void)
{
	written_from(0);
	written_from(CALLS / 2);
}

/* Calls while the processor is to check that words are where they belong (the flag AC). */
static void aligned(void)
{
	long n = 0, flags, ret;

	for (int i = 0; i < CALLS; i++) {
		__asm__ volatile("sub $128, %%rsp\n\tpushfq\n\torl $0x40000, (%%rsp)\n\tpopfq\n\t"
				 "syscall\n\tnop\n\tnop\n\tnop\n\t"
				 "pushfq\n\tmov (%%rsp), %1\n\tandl $~0x40000, (%%rsp)\n\tpopfq\n\t"
				 "add $128, %%rsp" : "=a"(ret), "=&r"(flags) : "0"(SYS_getppid) :
				 "rcx", "r11", "memory", "cc");
		n += flags >> 18 & 1;
	}
	printf("%ld times\n", n);
}

/* ---- threads ------------------------------------------------------------------------------- */

static volatile int ended;

static int thread(void *arg)
{
	(void)arg;
	make_calls();
	ended++;
	return (int)syscall(SYS_exit, 0);
}

static void clone_with(int flag, int *tid)
{
	static char stack[65536] __attribute__((aligned(16)));
	const int before = ended;

	if (clone(thread, stack + sizeof(stack), CLONE_VM | CLONE_FS | CLONE_FILES |
		  CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | flag, NULL, tid, NULL, tid) < 0)
		wl_die("clone");
	while (ended == before)
		usleep(1000);
	/* It is still on the stack. */
	usleep(1000);
}

/* Their ids are to be written where there is nothing, and where nothing can be written. */
static void ids_nowhere(void)
{
	int *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 2; i++) {
		clone_with(CLONE_PARENT_SETTID, page);
		clone_with(CLONE_PARENT_SETTID, (int *)8);
		clone_with(CLONE_CHILD_SETTID, page);
		clone_with(CLONE_CHILD_SETTID, (int *)8);
		clone_with(CLONE_CHILD_CLEARTID, page);
		clone_with(CLONE_CHILD_CLEARTID, (int *)8);
	}
	printf("%d threads, %d\n", ended, *page);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void reads(void)
{
	const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char eight[8];
	long n = 0;

	for (int i = 0; i < 4 * CALLS; i++)
		n += read(fd, eight, sizeof(eight));
	printf("%ld bytes\n", n);
}

static const struct {
	const char *name;
	void (*fn)(void);
} kinds[] = {
	{ "dropped", dropped },
	{ "protected", protected },
	{ "forked", forked },
	{ "reads_code", reads_code },
	{ "writes_sizes", writes_sizes },
	{ "moved", moved },
	{ "at_a_border", at_a_border },
	{ "aligned", aligned },
	{ "reads", reads },
	{ "ids_nowhere", ids_nowhere },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 2)
			puts(kinds[i].name);
		else if (!strcmp(argv[1], kinds[i].name))
			kinds[i].fn();
	}
	return 0;
}
