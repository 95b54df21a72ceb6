/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: text and other mappings that cannot be written are the file's, so their names are
 * enough. Of those that can be, the kernel has changed a part by now (it clears what is behind
 * the data, and puts arguments on the stack): the page map tells which, and they are recorded.
 */
#include "rr/newimage.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/buf.h"
#include "rr/ldtsc.h"

#define ZERO_MAJOR 1	/* /dev/zero */
#define ZERO_MINOR 5
#define CS_64 0x33	/* __USER_CS, arch/x86/include/asm/segment.h */
#define PAGE ((uint64_t)4096)
#define STACK_LIMIT "Max stack size "	/* in /proc/PID/limits */
#define EVENT_BYTES ((size_t)1 << 18)	/* of memory in an event */
#define BATCH 512			/* pages whose state is read at once */
/* Of the page map's entries: present or swapped; and not of the process alone. */
#define IN_MEMORY (1ull << 63 | 1ull << 62)
#define FILES_PAGE (1ull << 61)

static int peek(pid_t pid, void *to, uint64_t addr, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

static int poke(pid_t pid, uint64_t addr, uint64_t word)
{
	struct iovec local = { &word, sizeof(word) },
		     remote = { (void *)(uintptr_t)addr, sizeof(word) };

	return process_vm_writev(pid, &local, 1, &remote, 1, 0) == sizeof(word) ? 0 : -EFAULT;
}

/* Behind argc, the arguments and the environment: pairs of words. */
static int hide_vdso(pid_t pid, uint64_t sp)
{
	uint64_t word, pair[2];

	if (peek(pid, &word, sp, sizeof(word)))
		return -EFAULT;
	sp += (word + 2) * sizeof(word);
	do {
		if (peek(pid, &word, sp, sizeof(word)))
			return -EFAULT;
		sp += sizeof(word);
	} while (word);
	for (;; sp += sizeof(pair)) {
		if (peek(pid, pair, sp, sizeof(pair)))
			return -EFAULT;
		if (pair[0] == AT_NULL)
			return 0;
		if (pair[0] == AT_SYSINFO_EHDR && poke(pid, sp + sizeof(word), 0))
			return -EFAULT;
	}
}

static int add_padded(struct buf *b, const void *data, size_t n)
{
	static const char zeros[8];

	return buf_add(b, data, n) || buf_add(b, zeros, -n & 7) ? -ENOMEM : 0;
}

static int add_event(struct recfile *f, struct buf *b, uint32_t tid, uint16_t type, struct err *err)
{
	struct rr_head head = { .bytes = (uint32_t)b->len, .type = type, .tid = tid };

	if (b->failed)
		return err_sys(err, ENOMEM, "cannot record");
	memcpy(b->data, &head, sizeof(head));
	return recfile_add(f, (const struct rr_head *)(const void *)b->data, err);
}

/* Memory of /dev/zero is anonymous; what other devices put there nobody knows. */
static int add_device(uint32_t tid, const struct procmap *m, struct recfile *f, struct err *err)
{
	const struct rr_ev_map e = {
		.head = { .bytes = sizeof(e), .type = RR_EV_MAP, .tid = tid },
		.start = m->start, .end = m->end, .prot = (uint32_t)m->prot,
		.flags = m->shared ? RR_MAP_SHARED : 0,
	};

	if (m->device == makedev(ZERO_MAJOR, ZERO_MINOR))
		return recfile_add(f, &e.head, err);
	return err_set(err, ENOTSUP, "process %u maps the device %s, whose memory cannot be "
		       "recorded", tid, m->path);
}

int newimage_add_map(uint32_t tid, const struct procmap *m, struct recfile *f,
		     struct filestore *files, struct err *err)
{
	struct rr_ev_map e = {
		.start = m->start, .end = m->end, .offset = m->offset, .prot = (uint32_t)m->prot,
		.flags = m->shared ? RR_MAP_SHARED : 0, .dev = m->dev, .ino = m->ino,
		.size = m->size, .mtime_ns = m->mtime_ns, .ctime_ns = m->ctime_ns,
		.path_bytes = (uint32_t)strlen(m->path),
	};
	struct buf b = BUF_INIT;
	int r;

	if (m->device)
		return add_device(tid, m, f, err);
	r = filestore_keep(files, (pid_t)tid, m, &e.copy, err);

	if (r)
		return r;
	buf_add(&b, &e, sizeof(e));
	add_padded(&b, m->path, e.path_bytes);
	r = add_event(f, &b, tid, RR_EV_MAP, err);
	buf_release(&b);
	return r;
}

/*
 * Of @n pages, BATCH at most: whether one may be other than what is mapped there, a file's bytes
 * or zeros. In a private mapping that is one of its own, and no more the file's.
 */
static void find_changed(int pagemap, uint64_t start, size_t n, bool *changed)
{
	uint64_t entry[BATCH];
	const size_t bytes = n * sizeof(entry[0]);
	const bool known = pread(pagemap, entry, bytes, (off_t)(start / PAGE * 8)) ==
			   (ssize_t)bytes;

	for (size_t i = 0; i < n; i++)
		changed[i] = !known || (entry[i] & IN_MEMORY && !(entry[i] & FILES_PAGE));
}

/* Adds a page that can be read: what cannot is behind its file's end. */
static int add_page(struct buf *b, pid_t pid, uint64_t at, struct recfile *f, struct err *err)
{
	const struct rr_piece p = { .addr = at, .bytes = PAGE };
	const struct rr_head none = { 0 };
	char page[PAGE];
	int r;

	if (peek(pid, page, at, PAGE))
		return 0;
	if (!b->len)
		buf_add(b, &none, sizeof(none));
	buf_add(b, &p, sizeof(p));
	buf_add(b, page, PAGE);
	if (b->len < EVENT_BYTES)
		return 0;
	r = add_event(f, b, (uint32_t)pid, RR_EV_MEMORY, err);
	buf_reset(b);
	return r;
}

/* What has changed in a mapping since it was made, as events. */
static int add_memory(pid_t pid, int pagemap, const struct procmap *m, struct recfile *f,
		      struct err *err)
{
	struct buf b = BUF_INIT;
	bool changed[BATCH];
	int r = 0;
	size_t n;

	for (uint64_t at = m->start; !r && at < m->end; at += n * PAGE) {
		const uint64_t left = (m->end - at) / PAGE;

		n = left < BATCH ? (size_t)left : BATCH;
		find_changed(pagemap, at, n, changed);
		for (size_t i = 0; !r && i < n; i++)
			if (changed[i])
				r = add_page(&b, pid, at + i * PAGE, f, err);
	}
	if (!r && b.len)
		r = add_event(f, &b, (uint32_t)pid, RR_EV_MEMORY, err);
	buf_release(&b);
	return r;
}

/* The kernel's own pages are not the program's; no program asks for them without the vdso. */
static bool is_kernels(const struct procmap *m)
{
	return !strncmp(m->path, "[v", 2);
}

static int add_maps(pid_t pid, const struct procmaps *maps, struct recfile *f,
		    struct filestore *files, struct err *err)
{
	char path[64];
	int r = 0, pagemap;

	for (size_t i = 0; !r && i < maps->n; i++)
		if (!is_kernels(&maps->at[i]))
			r = newimage_add_map((uint32_t)pid, &maps->at[i], f, files, err);
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; !r && i < maps->n; i++) {
		const struct procmap *m = &maps->at[i];

		if (m->prot & PROT_WRITE && !is_kernels(m))
			r = add_memory(pid, pagemap, m, f, err);
	}
	if (pagemap >= 0)
		close(pagemap);
	return r;
}

/* By prlimit() of another user's process one needs a capability more. */
static int read_stack_limit(pid_t pid, rlim_t *limit)
{
	char path[64], line[256];
	int r = -EIO;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (r && fgets(line, sizeof(line), f)) {
		unsigned long long bytes;

		if (strncmp(line, STACK_LIMIT, sizeof(STACK_LIMIT) - 1))
			continue;
		r = 0;
		*limit = sscanf(line + sizeof(STACK_LIMIT) - 1, "%llu", &bytes) == 1 ? bytes :
			 RLIM_INFINITY;
	}
	fclose(f);
	return r;
}

int newimage_record(pid_t pid, struct recfile *f, struct filestore *files,
		    struct replaced *replaced, struct err *err)
{
	struct rr_ev_exec e = { .head = { .bytes = sizeof(e), .type = RR_EV_EXEC,
					  .tid = (uint32_t)pid } };
	const struct procmap *stack, *vdso;
	struct user_regs_struct regs;
	unsigned long former = 0;
	struct procmaps maps;
	rlim_t limit = RLIM_INFINITY;
	int r;

	_Static_assert(sizeof(regs) == sizeof(e.reg), "all of its registers");
	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return err_sys(err, errno, "cannot read the registers of process %d", (int)pid);
	if (read_stack_limit(pid, &limit))
		return err_set(err, EIO, "cannot read the limits of process %d", (int)pid);
	memcpy(e.reg, &regs, sizeof(regs));
	if (!ptrace(PTRACE_GETEVENTMSG, pid, 0, &former) && (pid_t)former != pid)
		e.former = (uint32_t)former;
	if (regs.cs != CS_64)
		return err_set(err, ENOTSUP, "process %d runs a 32-bit program, which cannot be "
			       "recorded", (int)pid);
	if (hide_vdso(pid, regs.rsp))
		return err_set(err, EFAULT, "cannot read the arguments of process %d", (int)pid);
	r = procmaps_read(&maps, pid, err);
	if (r)
		return r;
	stack = procmaps_named(&maps, "[stack]");
	vdso = procmaps_named(&maps, "[vdso]");
	if (!stack || !vdso) {
		procmaps_release(&maps);
		return err_set(err, ENOTSUP, "process %d has no stack or no vdso", (int)pid);
	}
	e.vdso = vdso->start;
	e.cpu = (uint32_t)sched_getcpu();	/* ours is the program's, too */
	e.stack_high = stack->end;
	e.stack_low = limit < stack->end ? stack->end - limit : 0;
	r = recfile_add(f, &e.head, err);
	r = r ? r : add_maps(pid, &maps, f, files, err);
	r = r ? r : ldtsc_silence(pid, &maps, f, err);
	for (size_t i = 0; !r && i < maps.n; i++)
		r = replaced_map(replaced, pid, &maps.at[i], f, err);
	procmaps_release(&maps);
	return r;
}
