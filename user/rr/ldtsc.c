/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: sites are told by what follows: both halves are put together, "shl $32, %rdx" within
 * a few instructions. Two bytes alone may also be in the midst of another instruction.
 */
#include "rr/ldtsc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"

#define FOLLOWS_WITHIN 64
#define CODE_MOST ((size_t)8 << 20)

static const unsigned char rdtsc[] = { 0x0f, 0x31 }, nop[] = { 0x66, 0x90 };
static const unsigned char follows[] = { 0x48, 0xc1, 0xe2, 0x20 };

static bool is_linker(const struct procmap *m)
{
	const char *base = strrchr(m->path, '/');

	return m->prot & PROT_EXEC && base && !strncmp(base + 1, "ld-", 3) &&
	       m->end - m->start <= CODE_MOST;
}

static bool is_site(const unsigned char *at, size_t left)
{
	return !memcmp(at, rdtsc, sizeof(rdtsc)) &&
	       memmem(at, left < FOLLOWS_WITHIN ? left : FOLLOWS_WITHIN, follows,
		      sizeof(follows));
}

static int silence(int mem, const struct procmap *m, struct buf *b)
{
	const size_t n = m->end - m->start;
	unsigned char *code = malloc(n);
	int r = code ? 0 : -ENOMEM;

	if (!r && pread(mem, code, n, (off_t)m->start) != (ssize_t)n)
		r = -EFAULT;
	for (size_t i = 0; !r && i + sizeof(rdtsc) <= n; i++) {
		const struct rr_piece p = { .addr = m->start + i, .bytes = sizeof(nop) };
		char padded[8] = { 0 };

		if (!is_site(code + i, n - i))
			continue;
		memcpy(padded, nop, sizeof(nop));
		if (pwrite(mem, nop, sizeof(nop), (off_t)p.addr) != sizeof(nop))
			r = -EFAULT;
		buf_add(b, &p, sizeof(p));
		buf_add(b, padded, sizeof(padded));
	}
	free(code);
	return r ? r : b->failed ? -ENOMEM : 0;
}

int ldtsc_silence(pid_t pid, const struct procmaps *maps, struct recfile *f, struct err *err)
{
	const struct rr_head none = { 0 };
	struct buf b = BUF_INIT;
	char path[64];
	int r = 0, mem;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	mem = open(path, O_RDWR | O_CLOEXEC);
	if (mem < 0)
		return err_sys(err, errno, "cannot write to process %d", (int)pid);
	buf_add(&b, &none, sizeof(none));
	for (size_t i = 0; !r && i < maps->n; i++)
		if (is_linker(&maps->at[i]))
			r = silence(mem, &maps->at[i], &b);
	close(mem);
	if (r) {
		err_sys(err, -r, "cannot change the dynamic linker of process %d", (int)pid);
	} else if (b.len > sizeof(none)) {
		const struct rr_head h = { .bytes = (uint32_t)b.len, .type = RR_EV_MEMORY,
					   .tid = (uint32_t)pid };

		memcpy(b.data, &h, sizeof(h));
		r = recfile_add(f, (const void *)b.data, err);
	}
	buf_release(&b);
	return r;
}
