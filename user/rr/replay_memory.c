/* SPDX-License-Identifier: MIT */
/* What calls of a replay do to memory: its contents, and what is mapped. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "rr/memsum.h"
#include "rr/procmaps.h"
#include "rr/replay_state.h"

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define IOVS_MOST 1024		/* UIO_MAXIOV */

int replay_pieces(struct replayer *p, struct rthread *t, const struct rr_head *h, size_t at)
{
	const char *data = (const char *)h;

	while (at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *piece = (const void *)(data + at);

		at += sizeof(*piece);
		if (piece->bytes > h->bytes - at)
			return replay_damaged(p, "a piece of memory is longer than it");
		if (tracee_write(&t->space->t, piece->addr, data + at, piece->bytes))
			return replay_fail(p, NULL, EILSEQ, "%u bytes at %#llx are not there to be "
					   "written", piece->bytes,
					   (unsigned long long)piece->addr);
		at += (piece->bytes + 7) & ~7u;
	}
	return 0;
}

int replay_sums(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	struct memsum_diff d = { 0 };
	uint64_t before;
	int r;

	/* Code that can be written may have our patches: once they are away, it is as it was. */
	do {
		before = d.page;
		r = memsum_compare(h, t->space->t.pid, &d);
		if (r > 0 && tracee_unpatch(&t->space->t, d.page, d.page + PAGE, p->err))
			return -p->err->code;
	} while (r > 0 && d.page != before);
	if (r == -EBADMSG)
		return replay_damaged(p, "sums of memory");
	if (r < 0)
		return err_sys(p->err, -r, "cannot read the replay's memory");
	if (!r)
		return 0;
	return replay_fail(p, t, EILSEQ, "memory is not what it was: the page at %#llx, of %s",
			   (unsigned long long)d.page, d.name[0] ? d.name : "anonymous memory");
}

static int other_result(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e,
			long ret)
{
	return replay_fail(p, t, EILSEQ, "%s: the result was %lld and is %ld",
			   replay_call_name(e->nr), (long long)e->ret, ret);
}

static int move_brk(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const uint64_t now = (uint64_t)e->ret;
	const uint64_t was = (t->space->brk + PAGE - 1) & ~(PAGE - 1);
	const uint64_t to = (now + PAGE - 1) & ~(PAGE - 1);
	const uint64_t arg[6] = { to, was - to };
	const bool known = t->space->brk;
	long ret;

	if (!known || to == was)
		return 0;
	if (to > was)
		return tracee_map(&t->space->t, was, to, PROT_READ | PROT_WRITE, MAP_PRIVATE, NULL,
				  0, p->err);
	return tracee_call(&t->space->t, &ret, p->err, SYS_munmap, arg);
}

/* A file that was mapped is in the next event. */
static int map_file(struct replayer *p, struct rthread *t)
{
	const struct rr_head *h;
	int r = recread_next(p->file, &h, p->err);

	if (r < 0)
		return r;
	if (!r || h->type != RR_EV_MAP)
		return replay_damaged(p, "what was mapped is missing");
	return replay_map(p, t, h);
}

static int do_mmap(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const uint64_t bytes = (e->arg[1] + PAGE - 1) & ~(PAGE - 1);
	const bool shared = e->arg[3] & MAP_SHARED;

	if (shared)
		t->space->t.shares = true;
	if (e->head.flags & RR_FLAG_FILE)
		return map_file(p, t);
	return tracee_map(&t->space->t, (uint64_t)e->ret, (uint64_t)e->ret + bytes,
			  (int)e->arg[2], shared ? MAP_SHARED :
			  MAP_PRIVATE | (int)(e->arg[3] & MAP_GROWSDOWN), NULL, 0, p->err);
}

static int do_shmat(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	(void)e;
	t->space->t.shares = true;
	return map_file(p, t);
}

/* All that is left of what was attached at that address: parts may have gone or been protected. */
static int do_shmdt(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const struct procmap *first;
	struct procmaps maps;
	int r = procmaps_read(&maps, t->space->t.pid, p->err);
	long ret;

	if (r)
		return r;
	first = procmaps_find(&maps, e->arg[0]);
	for (size_t i = 0; !r && first && i < maps.n; i++) {
		const struct procmap *m = &maps.at[i];
		const uint64_t arg[6] = { m->start, m->end - m->start };

		if (m->ino != first->ino || m->start < first->start ||
		    m->start - first->start != m->offset - first->offset)
			continue;
		r = replay_make_way(p, t, m->start, m->end - m->start);
		r = r ? r : tracee_call(&t->space->t, &ret, p->err, SYS_munmap, arg);
	}
	procmaps_release(&maps);
	return r;
}

static int set_base(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	(void)p;
	if (e->arg[0] == ARCH_SET_FS)
		t->space->t.regs.fs_base = e->arg[1];
	if (e->arg[0] == ARCH_SET_GS)
		t->space->t.regs.gs_base = e->arg[1];
	return 0;
}

bool replay_is_hint(uint64_t advice)
{
	static const uint64_t hints[] = {
		MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_MERGEABLE,
		MADV_UNMERGEABLE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP,
		MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_COLLAPSE,
	};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (hints[i] == advice)
			return true;
	return false;
}

static int do_real(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	uint64_t arg[6];
	long ret;
	int r;

	memcpy(arg, e->arg, sizeof(arg));
	/* To where it went: MREMAP_MAYMOVE | MREMAP_FIXED. */
	if (e->nr == SYS_mremap && (uint64_t)e->ret != arg[0]) {
		arg[3] |= 3;
		arg[4] = (uint64_t)e->ret;
	}
	if (e->nr == SYS_mprotect && arg[2] & PROT_WRITE && t->space->t.shares)
		for (size_t i = 0; i < p->nshared; i++)
			p->shared[i].written = true;
	if (e->nr == SYS_madvise && (arg[2] == MADV_DONTFORK || arg[2] == MADV_WIPEONFORK))
		t->space->t.advised = true;
	r = tracee_call(&t->space->t, &ret, p->err, e->nr, arg);
	if (r || ret == e->ret || (e->nr == SYS_madvise && replay_is_hint(arg[2])))
		return r;
	return other_result(p, t, e, ret);
}

int replay_make_way(struct replayer *p, struct rthread *t, uint64_t start, uint64_t bytes)
{
	const uint64_t end = start + ((bytes + PAGE - 1) & ~(PAGE - 1));
	const uint64_t area[6] = { INPROC_AT, INPROC_BYTES };
	long ret;
	int r;

	if (t->space->inproc && start < INPROC_AT + INPROC_BYTES && INPROC_AT < end) {
		t->space->inproc = false;
		r = tracee_block(&t->space->t, false, p->err);
		r = r ? r : tracee_unpatch(&t->space->t, 0, UINT64_MAX, p->err);
		r = r ? r : tracee_call(&t->space->t, &ret, p->err, SYS_munmap, area);
		if (r)
			return r;
	}
	return tracee_unpatch(&t->space->t, start, end, p->err);
}

static int make_room(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	int r;

	switch (e->nr) {
	/* Also those that failed at a hole: pages of ours may be what is in it. */
	case SYS_munmap:
	case SYS_mprotect:
	case SYS_pkey_mprotect: return replay_make_way(p, t, e->arg[0], e->arg[1]);
	case SYS_madvise:
		return replay_is_hint(e->arg[2]) ? 0 :
		       replay_make_way(p, t, e->arg[0], e->arg[1]);
	case SYS_brk:
		return replay_make_way(p, t, t->space->brk, (uint64_t)e->ret - t->space->brk);
	case SYS_mremap:
		r = replay_make_way(p, t, e->arg[0], e->arg[1]);
		return r ? r : replay_make_way(p, t, (uint64_t)e->ret, e->arg[2]);
	case SYS_mmap:
		return e->head.flags & RR_FLAG_FILE ? 0 :
		       replay_make_way(p, t, (uint64_t)e->ret, e->arg[1]);
	}
	return 0;
}

/*
 * What is not made anew by itself. Of the others one that failed did nothing, but for those
 * that go on behind a hole: what is in front of it, or on both sides, was changed.
 */
static const struct {
	uint64_t nr;
	int (*fn)(struct replayer *p, struct rthread *t, const struct rr_ev_call *e);
} memory_calls[] = {
	{ SYS_mmap, do_mmap },
	{ SYS_brk, move_brk },
	{ SYS_shmat, do_shmat },
	{ SYS_shmdt, do_shmdt },
	{ SYS_arch_prctl, set_base },
};

int replay_memory_call(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const bool failed = e->ret < 0 && e->ret > -4096;
	int r;

	if (failed && (e->ret != -ENOMEM || (e->nr != SYS_madvise && e->nr != SYS_mprotect &&
					     e->nr != SYS_pkey_mprotect)))
		return 0;
	r = make_room(p, t, e);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof(memory_calls) / sizeof(memory_calls[0]); i++)
		if (memory_calls[i].nr == e->nr)
			return memory_calls[i].fn(p, t, e);
	return do_real(p, t, e);
}

/* The iovecs at @addr, @n at most: how many. */
static size_t read_iovs(const struct rthread *t, struct iovec *v, uint64_t addr, uint64_t n)
{
	if (n > IOVS_MOST || tracee_read(&t->space->t, v, addr, (size_t)n * sizeof(*v)))
		return 0;
	return (size_t)n;
}

/* @bytes over iovecs, from one process into another. */
static int copy_across(struct rthread *from, struct rthread *to, const struct rr_ev_call *e)
{
	static struct iovec v[IOVS_MOST], w[IOVS_MOST];
	const size_t nv = read_iovs(from, v, e->arg[1], e->arg[2]);
	const size_t nw = read_iovs(from, w, e->arg[3], e->arg[4]);
	char part[4096];
	size_t i = 0, k = 0;

	for (uint64_t left = (uint64_t)e->ret; left;) {
		size_t n = left < sizeof(part) ? (size_t)left : sizeof(part);

		while (i < nv && !v[i].iov_len)
			i++;
		while (k < nw && !w[k].iov_len)
			k++;
		if (i == nv || k == nw)
			return -EFAULT;
		n = n < v[i].iov_len ? n : v[i].iov_len;
		n = n < w[k].iov_len ? n : w[k].iov_len;
		if (tracee_read(&from->space->t, part, (uint64_t)(uintptr_t)v[i].iov_base, n) ||
		    tracee_write(&to->space->t, (uint64_t)(uintptr_t)w[k].iov_base, part, n))
			return -EFAULT;
		v[i].iov_base = (char *)v[i].iov_base + n;
		w[k].iov_base = (char *)w[k].iov_base + n;
		v[i].iov_len -= n;
		w[k].iov_len -= n;
		left -= n;
	}
	return 0;
}

int replay_write_across(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	struct rthread *to = NULL;

	/* As the writer knows it. */
	for (size_t i = 0; !to && i < p->all.n; i++)
		if (p->all.at[i]->own == (uint32_t)e->arg[0])
			to = p->all.at[i];
	/* One that is not of the recording. */
	if (e->ret <= 0 || !to || !to->space)
		return 0;
	if (copy_across(t, to, e))
		return replay_fail(p, t, EILSEQ, "what it wrote to thread %u is not there",
				   to->tid);
	return 0;
}
