/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. A thread that sleeps in a futex wait when the trace ends may have slept
 * through all of it: a program that hangs. Nothing of it came through the ring, so
 * its stack is read here, from outside, by the registers that it left in the
 * kernel. It runs free meanwhile: what was read counts only if the kernel still
 * shows it in the same call at the same stack pointer afterwards. All are noted
 * first, and read when the trace is detached, which need not wait for that.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/live_state.h"
#include "collect/privilege.h"

static size_t read_stack(pid_t pid, uint64_t sp, uint8_t *to)
{
	/* Near its top a stack is shorter: then the part up to the page's end. */
	size_t part = LIVE_STACK_BYTES - (sp & (LIVE_STACK_BYTES - 1)), want = LIVE_STACK_BYTES;
	struct iovec local = { to, want }, remote = { (void *)(uintptr_t)sp, want };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (n == (ssize_t)want)
		return want;
	local.iov_len = remote.iov_len = part;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return n == (ssize_t)part ? part : 0;
}

static bool sleeps_there(const struct live_alive *e)
{
	char path[64], text[256];
	unsigned long long nr, addr, sp;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", e->thread.tgid,
		 e->thread.head.tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return sscanf(text, "%llu %llx %*x %*x %*x %*x %*x %llx", &nr, &addr, &sp) == 3 &&
	       sp == e->regs.sp && addr == e->regs.di;
}

void live_still(struct live *l, const struct live_still *row)
{
	const struct live_thread *t = &row->alive.thread;

	live_thread_event(l, t);
	if ((t->flags & THREAD_CALIB) || !(t->flags & THREAD_IN_CALL) || !t->call_addr || !l->sym)
		return;
	if (!l->still)
		l->still = malloc(LIVE_SAMPLES * sizeof(*l->still));
	/* Where all places are taken, reading thousands more would only hold the end up. */
	if (l->still && l->nsample + l->nstill < LIVE_SAMPLES)
		l->still[l->nstill++] = *row;
}

bool live_still_sample(struct live *l, const struct live_still *still, struct live_sample *out)
{
	const struct live_alive *e = &still->alive;
	const struct live_thread *t = &e->thread;

	if (live_snapshot(l, t->space, (pid_t)t->tgid))
		return false;
	out->bytes = (uint32_t)read_stack((pid_t)t->tgid, e->regs.sp, out->stack);
	if (!out->bytes || !sleeps_there(e))
		return false;
	out->wait_ns = t->head.ts > t->call_enter_ns ? t->head.ts - t->call_enter_ns : 0;
	out->space = t->space;
	out->regs = e->regs;
	live_sample_kernel(out, still->kernel, e->nkernel);
	return true;
}

static void read_one(struct live *l, const struct live_still *still)
{
	const struct live_thread *t = &still->alive.thread;
	struct live_futex_key key = { .addr = t->call_addr, .space = t->space };
	struct live_sample sample, *kept;

	if (!live_still_sample(l, still, &sample))
		return;
	kept = live_sample_slot(l, &key);
	if (kept)
		*kept = sample;
}

void live_still_read(struct live *l)
{
	size_t i;

	privilege_lower();
	for (i = 0; i < l->nstill; i++)
		read_one(l, &l->still[i]);
	privilege_raise();
	free(l->still);
	l->still = NULL;
	l->nstill = 0;
}
