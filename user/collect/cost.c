/* SPDX-License-Identifier: MIT */
#include "collect/cost.h"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#define BATCHES	8
#define CALLS	100

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

/* The quickest of some batches: the others met an interrupt or another program. */
static int64_t quickest(void (*fn)(void))
{
	uint64_t best = UINT64_MAX, start, ns;
	int batch, i;

	for (batch = 0; batch < BATCHES; batch++) {
		start = clock_mono_ns();
		for (i = 0; i < CALLS; i++)
			fn();
		ns = clock_mono_ns() - start;
		if (ns < best)
			best = ns;
	}
	return (int64_t)(best / CALLS);
}

void cost_measure(struct cost *c)
{
	uint64_t one = 1;
	int fd = eventfd(0, EFD_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, &one, sizeof(one)) < 0)
			c->chunk_ns = 0;
		close(fd);
	}
	c->call_ns = quickest(one_call);
	c->futex_ns = quickest(one_futex);
	c->chunk_ns = 0;
	if (pipe(pipe_fd))
		return;
	c->chunk_ns = quickest(two_chunks) / 2;
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}
