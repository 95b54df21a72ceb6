/* SPDX-License-Identifier: MIT */
/*
 * bench_stacks [N]: takes N distinct stacks of itself, by registers and copied bytes
 * as the BPF programs take them, and prints what unwinding and naming them costs:
 * together, when all are known, and one by one in another address space.
 * bench_stacks spin MS: runs through such stacks, for others to sample.
 *
 * A stack is 12 calls through 1,024 places in 256 functions, a fourth of them by an
 * inlined one, and then the C library's qsort and back.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "sym/sym.h"

#define DEPTH 12
#define STACK 4096
#define FRAMES 64

struct stack {
	struct sym_regs regs;
	char bytes[STACK];
};

struct path {
	uint8_t fn[DEPTH], site[DEPTH];
};

typedef long step_fn(const struct path *p, int depth);
static step_fn *const step[256];

static struct stack *taking;	/* NULL: burn some time */
static volatile long steps;

static int leaf(const void *a, const void *b)
{
	struct stack *s = taking;

	if (!s) {
		for (int i = 0; i < 200; i++)
			steps++;
		return a < b ? -1 : 1;
	}
	__asm__ volatile(
		"movq %%rdx, 8(%0)\n\t movq %%rcx, 16(%0)\n\t movq %%rbx, 24(%0)\n\t"
		"movq %%rsi, 32(%0)\n\t movq %%rdi, 40(%0)\n\t movq %%rbp, 48(%0)\n\t"
		"movq %%rsp, 56(%0)\n\t movq %%r8, 64(%0)\n\t movq %%r9, 72(%0)\n\t"
		"movq %%r10, 80(%0)\n\t movq %%r11, 88(%0)\n\t movq %%r12, 96(%0)\n\t"
		"movq %%r13, 104(%0)\n\t movq %%r14, 112(%0)\n\t movq %%r15, 120(%0)\n\t"
		"leaq 0f(%%rip), %%rdx\n\t movq %%rdx, 128(%0)\n\t 0:"
		: : "a"(&s->regs) : "rdx", "memory");
	memcpy(s->bytes, (const void *)(uintptr_t)s->regs.sp, STACK);
	return a < b ? -1 : 1;
}

__attribute__((noinline)) static long at_the_end(void)
{
	char two[2] = { 0 };

	qsort(two, 2, 1, leaf);
	return steps + two[0];
}

static inline __attribute__((always_inline)) long onward(const struct path *p, int depth)
{
	return depth < DEPTH ? step[p->fn[depth]](p, depth) : at_the_end();
}

static inline __attribute__((always_inline)) long through_inlined(const struct path *p, int depth)
{
	return onward(p, depth) * 11 + 5;
}

#define STEP(n)									\
__attribute__((noinline)) static long step_##n(const struct path *p, int depth)	\
{										\
	volatile char room[16 + 0x##n % 9 * 8];					\
										\
	room[0] = (char)depth;							\
	switch (p->site[depth] & 3) {						\
	case 0: return onward(p, depth + 1) * 3 + room[0];			\
	case 1: return onward(p, depth + 1) * 5 + room[0];			\
	case 2: return onward(p, depth + 1) * 7 + room[0];			\
	default: return through_inlined(p, depth + 1) + room[0];		\
	}									\
}

#define EACH(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)	\
	X(n##8) X(n##9) X(n##a) X(n##b) X(n##c) X(n##d) X(n##e) X(n##f)
#define ALL(X) EACH(X, 0) EACH(X, 1) EACH(X, 2) EACH(X, 3) EACH(X, 4) EACH(X, 5) EACH(X, 6)	\
	EACH(X, 7) EACH(X, 8) EACH(X, 9) EACH(X, a) EACH(X, b) EACH(X, c) EACH(X, d)	\
	EACH(X, e) EACH(X, f)
#define ENTRY(n) [0x##n] = step_##n,

ALL(STEP)
static step_fn *const step[256] = { ALL(ENTRY) };

static uint64_t seed = 88172645463325252u;

static void take(struct stack *to)
{
	struct path p;

	for (int i = 0; i < DEPTH; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		p.fn[i] = (uint8_t)seed;
		p.site[i] = (uint8_t)(seed >> 8);
	}
	taking = to;
	steps += step[p.fn[0]](&p, 0);
}

struct work {
	struct stack *stack;
	size_t n;
	uint64_t until_ns;	/* of spin */
};

/* On a stack of its own, above which there is enough to copy. */
static void *run(void *arg)
{
	struct work *w = arg;

	for (size_t i = 0; i < w->n; i++)
		take(&w->stack[i]);
	while (clock_mono_ns() < w->until_ns)
		take(NULL);
	return NULL;
}

struct seen {
	struct map *stacks;	/* by a hash of their addresses */
	size_t frames, named, inlined, lines;
};

static void look(struct seen *seen, const struct sym_frame *f, int n)
{
	uint64_t hash = 0;

	for (int i = 0; i < n; i++) {
		hash = (hash ^ f[i].ip) * 0x9e3779b97f4a7c15u;
		seen->named += f[i].symbol != NULL;
		seen->inlined += f[i].inlined;
		seen->lines += f[i].line != 0;
	}
	seen->frames += (size_t)n;
	(void)map_put(seen->stacks, &hash);
}

/* Nanoseconds for all; 0: failed. */
static uint64_t resolve(struct sym *s, uint32_t space, const struct work *w,
			struct sym_sample *sample, struct seen *seen)
{
	uint64_t begin_ns = clock_mono_ns();

	for (size_t i = 0; sample && i < w->n; i++)
		sample[i] = (struct sym_sample){ .space = space, .max = FRAMES,
						 .regs = &w->stack[i].regs,
						 .stack = w->stack[i].bytes, .stack_bytes = STACK };
	if (sample)
		sym_prepare(s, sample, w->n);
	for (size_t i = 0; i < w->n; i++) {
		struct sym_frame f[FRAMES];
		int n = sym_unwind(s, space, &w->stack[i].regs, w->stack[i].bytes, STACK, f,
				   FRAMES);

		if (n < DEPTH + 2)
			return 0;
		if (seen)
			look(seen, f, n);
	}
	return clock_mono_ns() - begin_ns;
}

static int measure(const struct work *w, const char *libexec)
{
	struct sym_opts o = { .libexec_dir = libexec };
	struct seen seen = { .stacks = map_new(sizeof(uint64_t), 1) };
	struct err err = { 0 };
	struct sym *s = sym_new(&o, &err);
	struct sym_sample *sample = calloc(w->n + 1, sizeof(*sample));
	uint64_t first_ns, known_ns, single_ns;

	if (!s || !sample || !seen.stacks || sym_snapshot(s, 1, getpid()) ||
	    sym_snapshot(s, 2, getpid()))
		return 1;
	first_ns = resolve(s, 1, w, sample, NULL);
	known_ns = resolve(s, 1, w, NULL, NULL);
	single_ns = resolve(s, 2, w, NULL, NULL);
	resolve(s, 1, w, NULL, &seen);
	sym_free(s);
	free(sample);
	if (!first_ns || !known_ns || !single_ns) {
		fprintf(stderr, "bench_stacks: stacks are not unwound\n");
		return 1;
	}
	printf("events=%zu ns=%llu known_ns=%llu single_ns=%llu distinct=%zu frames=%zu "
	       "named=%zu inlined=%zu lines=%zu\n", w->n, (unsigned long long)first_ns,
	       (unsigned long long)known_ns, (unsigned long long)single_ns,
	       map_count(seen.stacks), seen.frames, seen.named, seen.inlined, seen.lines);
	map_free(seen.stacks);
	return 0;
}

int main(int argc, char **argv)
{
	bool spin = argc > 2 && !strcmp(argv[1], "spin");
	struct work w = { .n = spin ? 0 : argc > 1 ? strtoul(argv[1], NULL, 10) : 10000 };
	char libexec[4096];
	pthread_t thread;
	ssize_t n = readlink("/proc/self/exe", libexec, sizeof(libexec) - 16);
	int rc = 0;

	if (n <= 0)
		return 1;
	libexec[n] = 0;
	for (int i = 0; i < 3; i++)	/* build/tests/bench/bench_stacks */
		*strrchr(libexec, '/') = 0;
	strcat(libexec, "/libexec");
	if (spin)
		w.until_ns = clock_mono_ns() + strtoul(argv[2], NULL, 10) * 1000000;
	w.stack = calloc(w.n + 1, sizeof(*w.stack));
	if (!w.stack || pthread_create(&thread, NULL, run, &w))
		return 1;
	pthread_join(thread, NULL);
	if (!spin)
		rc = measure(&w, libexec);
	free(w.stack);
	return rc;
}
