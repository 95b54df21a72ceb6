/* SPDX-License-Identifier: MIT */
/* Calls of a replay: compared with the recorded ones, and their effects on memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "rr/filestore.h"
#include "rr/replay_state.h"

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002

static const uint8_t action[RR_NR_CALLS] = {
#define RR_CALL(nr, name, act, ...) [nr] = act,
#include "shared/rr_calls.def"
#undef RR_CALL
};

static const char *const names[RR_NR_CALLS] = {
#define RR_CALL(nr, name, ...) [nr] = #name,
#include "shared/rr_calls.def"
#undef RR_CALL
};

const char *replay_call_name(uint64_t nr)
{
	return nr < RR_NR_CALLS && names[nr] ? names[nr] : "a call without a name";
}

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

static int copy_into(int to, const char *path)
{
	const int from = open(path, O_RDONLY | O_CLOEXEC);
	char part[65536];
	ssize_t n = 0;
	int r = from < 0 ? -errno : 0;

	while (!r && (n = read(from, part, sizeof(part))) > 0)
		r = io_write_all(to, part, (size_t)n);
	if (!r && n < 0)
		r = -errno;
	if (from >= 0)
		close(from);
	return r;
}

/* That the file is the one that was mapped. */
static int check_file(struct replayer *p, const struct rr_ev_map *m, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return err_sys(p->err, errno, "the recording needs %s", path);
	if (st.st_ino == m->ino && (uint64_t)st.st_size == m->size &&
	    (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec == m->mtime_ns)
		return 0;
	return err_set(p->err, ESTALE, "%s has changed since it was recorded", path);
}

/*
 * The file that stands for a shared mapping's, of which there is one for all processes; a copy
 * of what was recorded, that goes with the replay. Its name into @path.
 */
static int shared_file(struct replayer *p, const struct rr_ev_map *m, char *path, size_t n)
{
	struct shared_file *f = NULL;
	int r;

	for (size_t i = 0; i < p->nshared && !f; i++)
		if (p->shared[i].dev == m->dev && p->shared[i].ino == m->ino)
			f = &p->shared[i];
	if (f && f->stale) {
		r = ftruncate(f->fd, 0) || lseek(f->fd, 0, SEEK_SET) ? -errno :
		    copy_into(f->fd, path);
		if (r)
			return err_sys(p->err, -r, "cannot read %s", path);
		f->stale = false;
	}
	if (!f) {
		struct shared_file *more = realloc(p->shared, (p->nshared + 1) * sizeof(*more));

		if (!more)
			return err_sys(p->err, ENOMEM, "cannot replay");
		p->shared = more;
		f = &more[p->nshared];
		*f = (struct shared_file){ .dev = m->dev, .ino = m->ino,
					   .fd = memfd_create("replay", MFD_CLOEXEC) };
		if (f->fd < 0)
			return err_sys(p->err, errno, "cannot replay");
		p->nshared++;
		r = copy_into(f->fd, path);
		if (r)
			return err_sys(p->err, -r, "cannot read %s", path);
	}
	f->written |= m->prot & PROT_WRITE;
	snprintf(path, n, "/proc/%d/fd/%d", (int)getpid(), f->fd);
	return 0;
}

/* Where the mapped file is now, and whether it has to be another, shared one. */
static int file_of(struct replayer *p, const struct rr_ev_map *m, char *path, size_t n)
{
	int r = 0;

	if (m->copy)
		filestore_path(path, n, p->opts->dir, m->copy);
	else
		r = check_file(p, m, path);
	if (!r && m->flags & RR_MAP_SHARED)
		r = shared_file(p, m, path, n);
	return r;
}

int replay_map(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;
	char path[4096];
	int r;

	if (h->bytes < sizeof(*m) || m->path_bytes > h->bytes - sizeof(*m) ||
	    m->path_bytes >= sizeof(path) || m->start % PAGE || m->end <= m->start)
		return replay_damaged(p, "a mapping");
	memcpy(path, (const char *)h + sizeof(*m), m->path_bytes);
	path[m->path_bytes] = '\0';
	if (!strcmp(path, "[stack]"))
		return 0;
	r = m->ino ? file_of(p, m, path, sizeof(path)) : 0;
	return r ? r : tracee_map(&t->space->t, m->start, m->end, (int)m->prot,
				  m->flags & RR_MAP_SHARED, m->ino ? path : NULL, m->offset,
				  p->err);
}

static int diverged(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e,
		    const char *what, uint64_t was, uint64_t is)
{
	return replay_fail(p, t, EILSEQ, "%s: %s was %#llx and is %#llx, at %#llx",
			   replay_call_name(e->nr), what, (unsigned long long)was,
			   (unsigned long long)is, (unsigned long long)t->space->t.regs.rip);
}

static int compare(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e)
{
	const struct user_regs_struct *r = &t->space->t.regs;
	const uint64_t is[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	static const char *const what[6] = { "argument 1", "argument 2", "argument 3",
					     "argument 4", "argument 5", "argument 6" };

	if (r->orig_rax != e->nr)
		return replay_fail(p, t, EILSEQ, "the call was %s and is %s, at %#llx",
				   replay_call_name(e->nr), replay_call_name(r->orig_rax),
				   (unsigned long long)r->rip);
	if (r->rip != e->ip)
		return diverged(p, t, e, "its place", e->ip, r->rip);
	for (int i = 0; i < 6; i++)
		if (is[i] != e->arg[i])
			return diverged(p, t, e, what[i], e->arg[i], is[i]);
	return 0;
}

static int move_brk(struct replayer *p, struct rthread *t, uint64_t now)
{
	const uint64_t was = (t->space->brk + PAGE - 1) & ~(PAGE - 1);
	const uint64_t to = (now + PAGE - 1) & ~(PAGE - 1);
	const uint64_t arg[6] = { to, was - to };
	const bool known = t->space->brk;
	long ret;

	t->space->brk = now;
	if (!known || to == was)
		return 0;
	if (to > was)
		return tracee_map(&t->space->t, was, to, PROT_READ | PROT_WRITE, false, NULL,
				  0, p->err);
	return tracee_call(&t->space->t, &ret, p->err, SYS_munmap, arg);
}

/* A mapping at the recorded address; of a file, it is in the next event. */
static int do_mmap(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const uint64_t bytes = (e->arg[1] + PAGE - 1) & ~(PAGE - 1);
	const struct rr_head *h;
	int r;

	if (e->ret < 0 && e->ret > -4096)
		return 0;
	if (e->arg[3] & MAP_SHARED)
		t->space->shares = true;
	if (!(e->head.flags & RR_FLAG_FILE))
		return tracee_map(&t->space->t, (uint64_t)e->ret, (uint64_t)e->ret + bytes,
				  (int)e->arg[2], e->arg[3] & MAP_SHARED, NULL, 0, p->err);
	r = recread_next(p->file, &h, p->err);
	if (r < 0)
		return r;
	if (!r || h->type != RR_EV_MAP)
		return replay_damaged(p, "what was mapped is missing");
	return replay_map(p, t, h);
}

static int do_real(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	uint64_t arg[6];
	long ret;
	int r;

	memcpy(arg, e->arg, sizeof(arg));
	if (e->ret < 0 && e->ret > -4096)
		return 0;
	/* To where it went: MREMAP_MAYMOVE | MREMAP_FIXED. */
	if (e->nr == SYS_mremap && (uint64_t)e->ret != arg[0]) {
		arg[3] |= 3;
		arg[4] = (uint64_t)e->ret;
	}
	if (e->nr == SYS_mprotect && arg[2] & PROT_WRITE && t->space->shares)
		for (size_t i = 0; i < p->nshared; i++)
			p->shared[i].written = true;
	r = tracee_call(&t->space->t, &ret, p->err, e->nr, arg);
	if (r || ret == e->ret)
		return r;
	return diverged(p, t, e, "the result", (uint64_t)e->ret, (uint64_t)ret);
}

/* Our pages make way for what the program maps, and patches go with what it unmaps. */
static int make_way(struct replayer *p, struct rthread *t, uint64_t start, uint64_t bytes)
{
	const uint64_t end = start + ((bytes + PAGE - 1) & ~(PAGE - 1));
	int r;

	if (start < INPROC_AT + INPROC_BYTES && INPROC_AT < end) {
		t->space->inproc = false;
		r = tracee_unpatch(&t->space->t, 0, UINT64_MAX, p->err);
		if (r)
			return r;
	}
	return tracee_unpatch(&t->space->t, start, end, p->err);
}

static int make_room(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	int r;

	if (e->ret < 0 && e->ret > -4096)
		return 0;
	switch (e->nr) {
	case SYS_mmap: return make_way(p, t, (uint64_t)e->ret, e->arg[1]);
	case SYS_munmap: return make_way(p, t, e->arg[0], e->arg[1]);
	case SYS_brk: return make_way(p, t, t->space->brk, (uint64_t)e->ret - t->space->brk);
	case SYS_mremap:
		r = make_way(p, t, e->arg[0], e->arg[1]);
		return r ? r : make_way(p, t, (uint64_t)e->ret, e->arg[2]);
	case SYS_shmat: return make_way(p, t, (uint64_t)e->ret, PAGE);
	}
	return 0;
}

static int do_memory(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	int r = make_room(p, t, e);

	if (r)
		return r;
	switch (e->nr) {
	case SYS_mmap: return do_mmap(p, t, e);
	case SYS_brk: return move_brk(p, t, (uint64_t)e->ret);
	case SYS_arch_prctl:
		if (!e->ret && e->arg[0] == ARCH_SET_FS)
			t->space->t.regs.fs_base = e->arg[1];
		if (!e->ret && e->arg[0] == ARCH_SET_GS)
			t->space->t.regs.gs_base = e->arg[1];
		return 0;
	}
	return do_real(p, t, e);
}

static int write_out(struct replayer *p, const struct rthread *t, int fd, uint64_t addr, uint64_t n)
{
	char part[65536];
	int r = 0;

	while (!r && n) {
		const size_t k = n < sizeof(part) ? (size_t)n : sizeof(part);

		if (tracee_read(&t->space->t, part, addr, k))
			return replay_fail(p, NULL, EILSEQ, "its output is not there");
		r = io_write_all(fd, part, k);
		addr += k;
		n -= k;
	}
	return r ? err_sys(p->err, -r, "cannot write the output") : 0;
}

static int output(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const int fd = e->head.flags & RR_FLAG_STDERR ? 2 : 1;
	uint64_t left = (uint64_t)e->ret, v[2];
	int r = 0;

	if (!p->opts->output || e->ret <= 0 || recread_number(p->file) <= p->shown ||
	    !(e->head.flags & (RR_FLAG_STDOUT | RR_FLAG_STDERR)))
		return 0;
	p->shown = recread_number(p->file);
	if (e->nr != SYS_writev && e->nr != SYS_pwritev && e->nr != SYS_pwritev2)
		return write_out(p, t, fd, e->arg[1], left);
	for (uint64_t i = 0; !r && left && i < e->arg[2]; i++) {
		if (tracee_read(&t->space->t, v, e->arg[1] + 16 * i, sizeof(v)))
			return replay_fail(p, NULL, EILSEQ, "its output is not there");
		v[1] = v[1] < left ? v[1] : left;
		r = write_out(p, t, fd, v[0], v[1]);
		left -= v[1];
	}
	return r;
}

bool replay_is_plain(const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;

	return h->type == RR_EV_CALL && h->bytes >= sizeof(*e) && !h->flags &&
	       e->nr < RR_NR_CALLS && action[e->nr] == RR_EMULATE &&
	       e->nr != SYS_set_tid_address && !(e->ret <= -512 && e->ret >= -516);
}

/* Whether the event only ends the call that made the thread or its image. */
static bool ends_birth(struct rthread *t)
{
	const bool was = t->new_image || t->born;

	t->new_image = t->born = false;
	return was;
}

int replay_call(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;
	int r;

	if (h->bytes < sizeof(*e) || e->nr >= RR_NR_CALLS)
		return replay_damaged(p, "a call");
	if (ends_birth(t))
		return 0;
	r = replay_batch(p, t, e);
	if (r)
		return r < 0 ? r : 0;
	r = replay_to_call(p, t);
	r = r ? r : rthread_enter(t, p->err);
	r = r ? r : compare(p, t, e);
	if (r)
		return r;
	if (h->type == RR_EV_PIECES)
		return replay_pieces(p, t, h, sizeof(*e));
	r = output(p, t, e);
	if (!r && action[e->nr] == RR_MEMORY)
		r = do_memory(p, t, e);
	r = r ? r : replay_pieces(p, t, h, sizeof(*e));
	if (r)
		return r;
	if (e->nr == SYS_set_tid_address)
		t->clear_tid = e->arg[0];
	t->space->t.regs.rax = (unsigned long long)e->ret;
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	t->at_call = false;
	t->after_call = true;
	t->broken = e->ret <= -512 && e->ret >= -516;
	t->broken_nr = e->nr;
	r = tracee_set_regs(&t->space->t, p->err);
	return r || !replay_is_plain(h) || !t->space->inproc ? r :
	       tracee_passed(&t->space->t, e->ip, p->err);
}
