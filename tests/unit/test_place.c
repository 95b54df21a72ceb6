/* SPDX-License-Identifier: MIT */
/*
 * Functions are stepped through once, with the registers and the memory at each instruction
 * kept; then a copy is brought to one of these points, of which the steps that are left to
 * the end are as many as they were.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "rr/place.h"
#include "rr/tracee.h"

#define STEPS_MOST 60000
#define POINTS 15
#define PAGE_AT ((void *)0x10000000)
#define STACK_BYTES 65536	/* behind the page */

static volatile long counter, total, table[8];
static char from[4096], to[4096];

/* ---- what is stepped through --------------------------------------------------- */

/* With what it counts in memory. */
#ifdef __clang__
#define SLOW __attribute__((noinline, optnone))
#else
#define SLOW __attribute__((optimize("O0")))
#endif

/* As it stands here: without what a sanitizer would add. */
#define STEPPED __attribute__((noinline, no_sanitize("thread"), no_sanitize("address"), \
			       no_sanitize("undefined")))

STEPPED SLOW static void counters_in_memory(void)
{
	for (int i = 0; i < 30; i++)
		for (int j = 0; j < 12; j++)
			total += table[j & 7] += i ^ counter++;
}

STEPPED static long recurse(long n)
{
	return n < 2 ? counter++ & 1 : recurse(n - 1) + recurse(n - 2);
}

STEPPED static void recursion(void)
{
	total = recurse(10);
}

/* All registers are the same each time; memory alone is not. */
STEPPED static void nothing_in_registers(void)
{
	__asm__ volatile("1: addq $1, %0\n\t"
			 "cmpq $700, %0\n\t"
			 "mov $0, %%eax\n\t"
			 "jne 2f\n\t"
			 "jmp 3f\n"
			 "2: cmpq $0, %1\n\t"
			 "jmp 1b\n"
			 "3: cmpq $9, %0" : "+m"(counter), "+m"(total) : : "rax", "cc");
}

/* Short instructions, of which the second is jumped to. */
STEPPED static void jumps_into_the_middle(void)
{
	long n = 300, sum = 0;

	__asm__ volatile("1: inc %1\n"
			 "2: dec %0\n\t"
			 "push %%rbx\n\t"
			 "pop %%rbx\n\t"
			 "jz 3f\n\t"
			 "test $3, %b0\n\t"
			 "jz 2b\n\t"
			 "jmp 1b\n"
			 "3: nop" : "+c"(n), "+d"(sum) : : "cc", "memory");
	total = sum;
}

STEPPED static void calls_and_loops(void)
{
	long n = 150, sum = 0;

	__asm__ volatile("lea 4f(%%rip), %%rsi\n\t"
			 "1: call 3f\n\t"
			 "call *%%rsi\n\t"
			 "test %0, %0\n\t"
			 "jrcxz 2f\n\t"
			 "loop 1b\n"
			 "2: jmp 5f\n"
			 "3: add %0, %1\n\t"
			 "ret\n"
			 "4: xor $5, %1\n\t"
			 "ret\n"
			 "5: nop" : "+c"(n), "+d"(sum) : : "rsi", "cc", "memory");
	total = sum;
}

STEPPED static void strings(void)
{
	for (long i = 1; i < 60; i++) {
		void *d = to, *s = from;
		long n = i;

		__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
		n = i;
		d = to + i;
		__asm__ volatile("rep stosq" : "+D"(d), "+c"(n) : "a"(i) : "memory");
		n = i + 1;
		d = from;
		__asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(7) : "memory", "cc");
		total += n;
	}
}

/* ---- how ------------------------------------------------------------------------ */

struct point {
	struct rr_place at;
	struct { struct rr_piece piece; char data[RR_STACK_BYTES]; } stack;
	struct { struct rr_piece piece; char data[RR_BLOCK]; } global;
};

/* On a stack of its own, and with the same registers each time. */
STEPPED static void run_alone(void (*run)(void))
{
	__asm__ volatile("mov %0, %%rsp\n\t"
			 "xor %%ebx, %%ebx\n\txor %%ebp, %%ebp\n\txor %%r12d, %%r12d\n\t"
			 "xor %%r13d, %%r13d\n\txor %%r14d, %%r14d\n\txor %%r15d, %%r15d\n\t"
			 "xor %%eax, %%eax\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
			 "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\t"
			 "xor %%r10d, %%r10d\n\txor %%r11d, %%r11d\n\t"
			 "int3\n\t"
			 "call *%1\n\t"
			 "mov %2, %%eax\n\tsyscall" : :
			 "r"((char *)PAGE_AT + 4096 + STACK_BYTES - 2048), "c"(run),
			 "i"(SYS_getppid) : "memory");
	__builtin_unreachable();
}

static void start(struct tracee *t, void (*run)(void))
{
	int status;

	*t = (struct tracee){ .page = (uint64_t)(uintptr_t)PAGE_AT, .pid = _Fork() };
	if (!t->pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		run_alone(run);
	}
	assert_true(t->pid > 0);
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, t->pid, 0, PTRACE_O_TRACESYSGOOD |
				PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL), 0);
	assert_int_equal(ptrace(PTRACE_GETREGS, t->pid, 0, &t->regs), 0);
}

static struct point *record(const struct tracee *t)
{
	const struct user_regs_struct *r = &t->regs;
	const uint64_t block = (uint64_t)(uintptr_t)&counter & ~(uint64_t)(RR_BLOCK - 1);
	struct point *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->at = (struct rr_place){
		.r15 = r->r15, .r14 = r->r14, .r13 = r->r13, .r12 = r->r12, .bp = r->rbp,
		.bx = r->rbx, .r11 = r->r11, .r10 = r->r10, .r9 = r->r9, .r8 = r->r8, .ax = r->rax,
		.cx = r->rcx, .dx = r->rdx, .si = r->rsi, .di = r->rdi, .ip = r->rip,
		.flags = r->eflags, .sp = r->rsp,
	};
	p->stack.piece = (struct rr_piece){ r->rsp - RR_STACK_BELOW, RR_STACK_BYTES, 0 };
	p->global.piece = (struct rr_piece){ block, RR_BLOCK, 0 };
	assert_int_equal(tracee_read(t, p->stack.data, p->stack.piece.addr, RR_STACK_BYTES), 0);
	assert_int_equal(tracee_read(t, p->global.data, block, RR_BLOCK), 0);
	return p;
}

/* Steps to the getppid; how many. */
static size_t steps_left(struct tracee *t, struct point **kept, const size_t *which)
{
	struct err err = { 0 };
	size_t n = 0, k = 0;
	int sig, r;

	for (;;) {
		r = tracee_step(t, &sig, &err);
		if (r == 1)
			return n;
		assert_int_equal(r, 0);
		assert_int_equal(sig, SIGTRAP);
		while (kept && k < POINTS && which[k] == n)
			kept[k++] = record(t);
		n++;
		assert_true(n < STEPS_MOST);
	}
}

static int by_number(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void check(void (*run)(void), struct point *p, size_t left)
{
	const struct place place = { &p->at, (const char *)&p->stack,
				     sizeof(p->stack) + sizeof(p->global) };
	struct err err = { 0 };
	struct tracee t;
	int sig, r;

	start(&t, run);
	r = place_run_to(&t, &place, &sig, &err);
	if (r != 1)
		print_message("%d, signal %d: %s\n", r, sig, err.msg);
	assert_int_equal(r, 1);
	assert_int_equal(steps_left(&t, NULL, NULL), left);
	tracee_kill(&t);
}

static void check_all(void (*run)(void))
{
	size_t which[POINTS], n, total_steps;
	struct point *kept[POINTS] = { NULL };
	struct tracee t;

	start(&t, run);
	total_steps = steps_left(&t, NULL, NULL);
	tracee_kill(&t);
	for (n = 0; n < POINTS; n++)
		which[n] = (size_t)random() % (total_steps - 1);
	qsort(which, POINTS, sizeof(which[0]), by_number);
	start(&t, run);
	assert_int_equal(steps_left(&t, kept, which), total_steps);
	tracee_kill(&t);
	for (n = 0; n < POINTS; n++) {
		check(run, kept[n], total_steps - which[n] - 1);
		free(kept[n]);
	}
}

#define OF(function) \
static void test_##function(void **state) { (void)state; check_all(function); }
OF(counters_in_memory)
OF(recursion)
OF(nothing_in_registers)
OF(jumps_into_the_middle)
OF(calls_and_loops)
OF(strings)

static int setup(void **state)
{
	static const unsigned char stub[] = { 0x0f, 0x05, 0xcc };
	void *page = mmap(PAGE_AT, 4096 + STACK_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	cpu_set_t one;

	(void)state;
	/* A stop costs a sixth on one processor. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (page != PAGE_AT)
		return -1;
	memcpy(page, stub, sizeof(stub));
	srandom(1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_in_memory),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_nothing_in_registers),
		cmocka_unit_test(test_jumps_into_the_middle),
		cmocka_unit_test(test_calls_and_loops),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
