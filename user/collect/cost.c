/* SPDX-License-Identifier: MIT */
#include "collect/cost.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCHES	8
#define CALLS	40
#define ROUTINES 20	/* a uprobe takes long */

static int pipe_fd[2];

static void one_call(void)
{
	syscall(SYS_getppid);
}

static void one_futex(void)
{
	static int word;

	syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

static void two_chunks(void)
{
	char c = 0;

	if (write(pipe_fd[1], &c, 1) != 1 || read(pipe_fd[0], &c, 1) != 1)
		return;
}

/*
 * A branch and an indirect call through memory, as in start_thread(): what a
 * uprobe costs depends on the instruction, which is emulated or stepped over.
 */
asm(".pushsection .text\n"
    ".type cost_routine, @function\n"
    "cost_routine:\n"
    "	push %rbp\n"
    "	test %rdi, %rdi\n"
    ".globl cost_routine_branch, cost_routine_call\n"
    "cost_routine_branch:\n"
    "	je 1f\n"
    "cost_routine_call:\n"
    "	call *0x638(%rdi)\n"
    "1:	pop %rbp\n"
    ".type cost_routine_body, @function\n"
    "cost_routine_body:\n"
    "	ret\n"
    ".popsection\n");
void cost_routine(const void *thread);
void cost_routine_body(void);

static void one_routine(void)
{
	static struct { uint64_t before_ns; char more[0x630]; void (*routine)(void); } thread = {
		.routine = cost_routine_body,
	};

	thread.before_ns = clock_mono_ns();
	cost_routine(&thread);
}

/* The quickest of some batches: the others met an interrupt or another program. */
static int64_t quickest(void (*fn)(void), int calls)
{
	uint64_t best = UINT64_MAX, start, ns;
	int batch, i;

	for (batch = 0; batch < BATCHES; batch++) {
		start = clock_mono_ns();
		for (i = 0; i < calls; i++)
			fn();
		ns = clock_mono_ns() - start;
		if (ns < best)
			best = ns;
	}
	return (int64_t)(best / (unsigned int)calls);
}

void cost_measure(struct cost *c)
{
	c->routine_ns = quickest(one_routine, ROUTINES);
	c->call_ns = quickest(one_call, CALLS);
	c->futex_ns = quickest(one_futex, CALLS);
	c->chunk_ns = 0;
	if (pipe(pipe_fd))
		return;
	c->chunk_ns = quickest(two_chunks, CALLS) / 2;
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static int64_t added_ns(int64_t bare, int64_t traced)
{
	return traced > bare ? traced - bare : 0;
}

void cost_added(const struct cost *bare, const struct cost *traced, struct cost *added)
{
	added->call_ns = added_ns(bare->call_ns, traced->call_ns);
	added->futex_ns = added_ns(bare->futex_ns, traced->futex_ns);
	added->chunk_ns = added_ns(bare->chunk_ns, traced->chunk_ns);
	added->routine_ns = added_ns(bare->routine_ns, traced->routine_ns);
}
