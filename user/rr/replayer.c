/* SPDX-License-Identifier: MIT */
#include "rr/replayer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "rr/recfile.h"
#include "rr/rthread.h"

#define PAGE ((uint64_t)4096)
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

struct replayer {
	const struct replayer_opts *opts;
	struct replayer_result *result;
	struct recread *file;
	struct rthreads all;
	uint32_t first, running;	/* thread ids */
	struct err *err;
};

static unsigned long long event(const struct replayer *p)
{
	return recread_number(p->file);
}

static int bad(const struct replayer *p, const char *what)
{
	return err_set(p->err, EBADMSG, "event %llu of the recording is damaged: %s", event(p),
		       what);
}

static const char *name_of(uint64_t nr)
{
	return nr < RR_NR_CALLS && names[nr] ? names[nr] : "a call without a name";
}

static int apply_pieces(struct replayer *p, struct rthread *t, const struct rr_head *h, size_t at)
{
	const char *data = (const char *)h;

	while (at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *piece = (const void *)(data + at);

		at += sizeof(*piece);
		if (piece->bytes > h->bytes - at)
			return bad(p, "a piece of memory is longer than it");
		if (tracee_write(&t->space->t, piece->addr, data + at, piece->bytes))
			return err_set(p->err, EILSEQ, "event %llu: %u bytes at %#llx are not there to "
				       "be written", event(p), piece->bytes,
				       (unsigned long long)piece->addr);
		at += (piece->bytes + 7) & ~7u;
	}
	return 0;
}

/*
 * A call that a signal broke off, without a handler that ran, is made again: at the same
 * place, or by restart_syscall (arch/x86/kernel/signal.c).
 */
static int go_on(struct replayer *p, struct rthread *t)
{
	struct user_regs_struct *g = &t->space->t.regs;

	if (!t->broken)
		return 0;
	g->rax = (long long)g->rax == -516 ? SYS_restart_syscall : t->broken_nr;
	g->rip -= 2;
	g->orig_rax = (unsigned long long)-1;
	t->broken = false;
	return tracee_set_regs(&t->space->t, p->err);
}

static bool is_fault(uint32_t sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGTRAP;
}

/* Brings the thread to where the signal met it. */
static int run_to_signal(struct replayer *p, struct rthread *t, const struct rr_ev_signal *e)
{
	struct user_regs_struct *g;
	int sig, r = rthread_enter(t, p->err);

	if (r)
		return r;
	g = &t->space->t.regs;
	if (!t->at_call && g->rip == e->ip && g->rsp == e->sp)
		return 0;
	if (!is_fault(e->sig))
		return err_set(p->err, ENOSYS, "event %llu, thread %u: signal %u at %#llx, between calls, "
			       "cannot be replayed yet", event(p), t->tid, e->sig,
			       (unsigned long long)e->ip);
	r = go_on(p, t);
	do {
		r = r ? r : tracee_run(&t->space->t, &sig, p->err);
		if (r > 0 && g->orig_rax == SYS_rt_sigreturn)
			r = tracee_sigreturn(&t->space->t, p->err);
		else
			break;
	} while (!r);
	if (r < 0)
		return r;
	if (r || sig != (int)e->sig || g->rip != e->ip)
		return err_set(p->err, EILSEQ, "event %llu, thread %u: signal %u was at %#llx, and there "
			       "is %s at %#llx", event(p), t->tid, e->sig,
			       (unsigned long long)e->ip, r ? name_of(g->orig_rax) : "another",
			       (unsigned long long)g->rip);
	return 0;
}

static int on_signal(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_signal *e = (const void *)h;
	int r;

	if (h->bytes < sizeof(*e) || !e->sig || e->sig > 64)
		return bad(p, "a signal");
	r = run_to_signal(p, t, e);
	if (r)
		return r;
	/* The kernel looks at these two when it was in a call. */
	if (t->broken) {
		t->space->t.regs.orig_rax = t->broken_nr;
		r = tracee_set_regs(&t->space->t, p->err);
	}
	t->broken = false;
	return r ? r : tracee_signal(&t->space->t, e, p->err);
}

static int run_to_call(struct replayer *p, struct rthread *t)
{
	int sig, r;

	if (t->at_call)
		return 0;
	r = rthread_enter(t, p->err);
	r = r ? r : go_on(p, t);
	if (r)
		return r;
	for (;;) {
		r = tracee_run(&t->space->t, &sig, p->err);
		if (r <= 0 || t->space->t.regs.orig_rax != SYS_rt_sigreturn)
			break;
		r = tracee_sigreturn(&t->space->t, p->err);
		if (r)
			return r;
	}
	if (r < 0)
		return r;
	if (!r)
		return err_set(p->err, EILSEQ, "event %llu, thread %u: signal %d at %#llx was not "
			       "recorded", event(p), t->tid, sig,
			       (unsigned long long)t->space->t.regs.rip);
	t->at_call = true;
	return 0;
}

static int on_exec(struct replayer *p, const struct rr_head *h)
{
	const struct rr_ev_exec *e = (const void *)h;
	struct rthread *t = rthreads_find(&p->all, h->tid);
	int r;

	if (h->bytes < sizeof(*e) || e->vdso % PAGE || e->stack_low >= e->stack_high)
		return bad(p, "a new image");
	if (t) {
		r = run_to_call(p, t);
		if (r)
			return r;
		if (t->space->t.regs.orig_rax != SYS_execve &&
		    t->space->t.regs.orig_rax != SYS_execveat)
			return err_set(p->err, EILSEQ, "event %llu, thread %u: it was to exec, and "
				       "makes the call %s", event(p), h->tid,
				       name_of(t->space->t.regs.orig_rax));
	} else if (p->first) {
		return bad(p, "a new image of nobody");
	} else {
		p->first = p->running = h->tid;
		t = rthreads_add(&p->all, h->tid, NULL);
		if (!t)
			return err_sys(p->err, ENOMEM, "cannot replay");
	}
	t->new_image = true;
	t->at_call = false;
	t->clear_tid = 0;
	r = rthread_new_space(t, e->vdso, p->err);
	r = r ? r : tracee_reset_fpu(&t->space->t, p->err);
	if (r)
		return r;
	memcpy(&t->space->t.regs, e->reg, sizeof(t->space->t.regs));
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	r = tracee_set_regs(&t->space->t, p->err);
	return r ? r : tracee_map(&t->space->t, e->stack_low, e->stack_high,
				  PROT_READ | PROT_WRITE, NULL, 0, p->err);
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

static int on_map(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_map *m = (const void *)h;
	char path[4096];
	int r;

	if (h->bytes < sizeof(*m) || m->path_bytes > h->bytes - sizeof(*m) ||
	    m->path_bytes >= sizeof(path) || m->start % PAGE || m->end <= m->start)
		return bad(p, "a mapping");
	memcpy(path, (const char *)h + sizeof(*m), m->path_bytes);
	path[m->path_bytes] = '\0';
	if (!strcmp(path, "[stack]"))
		return 0;
	if (!m->ino)
		return tracee_map(&t->space->t, m->start, m->end, (int)m->prot, NULL, 0, p->err);
	r = check_file(p, m, path);
	return r ? r : tracee_map(&t->space->t, m->start, m->end, (int)m->prot, path, m->offset, p->err);
}

static int diverged(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e, const char *what,
		    uint64_t was, uint64_t is)
{
	return err_set(p->err, EILSEQ, "event %llu, thread %u, %s: %s was %#llx and is %#llx, at "
		       "%#llx", event(p), e->head.tid, name_of(e->nr), what,
		       (unsigned long long)was, (unsigned long long)is,
		       (unsigned long long)t->space->t.regs.rip);
}

static int compare(struct replayer *p, const struct rthread *t, const struct rr_ev_call *e)
{
	const struct user_regs_struct *r = &t->space->t.regs;
	const uint64_t is[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	static const char *const what[6] = { "argument 1", "argument 2", "argument 3",
					     "argument 4", "argument 5", "argument 6" };

	if (r->orig_rax != e->nr)
		return err_set(p->err, EILSEQ, "event %llu, thread %u: the call was %s and is %s, at "
			       "%#llx", event(p), e->head.tid, name_of(e->nr),
			       name_of(r->orig_rax), (unsigned long long)r->rip);
	if (r->rip != e->ip)
		return diverged(p, t, e, "its place", e->ip, r->rip);
	for (int i = 0; i < 6; i++)
		if (is[i] != e->arg[i])
			return diverged(p, t, e, what[i], e->arg[i], is[i]);
	return 0;
}

static int move_brk(struct replayer *p, struct rthread *t, uint64_t now)
{
	const uint64_t was = (t->space->brk + PAGE - 1) & ~(PAGE - 1), to = (now + PAGE - 1) & ~(PAGE - 1);
	const uint64_t arg[6] = { to, was - to };
	const bool known = t->space->brk;
	long ret;

	t->space->brk = now;
	if (!known || to == was)
		return 0;
	if (to > was)
		return tracee_map(&t->space->t, was, to, PROT_READ | PROT_WRITE, NULL, 0, p->err);
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
	if (!(e->head.flags & RR_FLAG_FILE))
		return tracee_map(&t->space->t, (uint64_t)e->ret, (uint64_t)e->ret + bytes,
				  (int)e->arg[2], NULL, 0, p->err);
	r = recread_next(p->file, &h, p->err);
	if (r < 0)
		return r;
	if (!r || h->type != RR_EV_MAP)
		return bad(p, "what was mapped is missing");
	return on_map(p, t, h);
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
	r = tracee_call(&t->space->t, &ret, p->err, e->nr, arg);
	if (r || ret == e->ret)
		return r;
	return diverged(p, t, e, "the result", (uint64_t)e->ret, (uint64_t)ret);
}

static int do_memory(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
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
			return err_set(p->err, EILSEQ, "event %llu: its output is not there", event(p));
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

	if (!p->opts->output || e->ret <= 0 ||
	    !(e->head.flags & (RR_FLAG_STDOUT | RR_FLAG_STDERR)))
		return 0;
	if (e->nr != SYS_writev && e->nr != SYS_pwritev && e->nr != SYS_pwritev2)
		return write_out(p, t, fd, e->arg[1], left);
	for (uint64_t i = 0; !r && left && i < e->arg[2]; i++) {
		if (tracee_read(&t->space->t, v, e->arg[1] + 16 * i, sizeof(v)))
			return err_set(p->err, EILSEQ, "event %llu: its output is not there", event(p));
		v[1] = v[1] < left ? v[1] : left;
		r = write_out(p, t, fd, v[0], v[1]);
		left -= v[1];
	}
	return r;
}

/* Whether the event only ends the call that made the thread or its image. */
static bool ends_birth(struct rthread *t)
{
	const bool was = t->new_image || t->born;

	t->new_image = t->born = false;
	return was;
}

static int on_call(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;
	int r;

	if (h->bytes < sizeof(*e) || e->nr >= RR_NR_CALLS)
		return bad(p, "a call");
	if (ends_birth(t))
		return 0;
	r = run_to_call(p, t);
	r = r ? r : rthread_enter(t, p->err);
	r = r ? r : compare(p, t, e);
	if (r)
		return r;
	if (h->type == RR_EV_PIECES)
		return apply_pieces(p, t, h, sizeof(*e));
	r = output(p, t, e);
	if (!r && action[e->nr] == RR_MEMORY)
		r = do_memory(p, t, e);
	r = r ? r : apply_pieces(p, t, h, sizeof(*e));
	if (r)
		return r;
	if (e->nr == SYS_set_tid_address)
		t->clear_tid = e->arg[0];
	t->space->t.regs.rax = (unsigned long long)e->ret;
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	t->at_call = false;
	t->broken = e->ret <= -512 && e->ret >= -516;
	t->broken_nr = e->nr;
	return tracee_set_regs(&t->space->t, p->err);
}

/* What clone's arguments say, or clone3's struct of them. */
struct birth {
	uint64_t flags, child_tid, parent_tid, stack, tls;
};

static int read_birth(struct replayer *p, const struct rthread *t, struct birth *b)
{
	const struct user_regs_struct *r = &t->space->t.regs;
	uint64_t a[8];

	switch (r->orig_rax) {
	case SYS_fork: *b = (struct birth){ 0 }; return 0;
	case SYS_vfork: *b = (struct birth){ .flags = CLONE_VM | CLONE_VFORK }; return 0;
	case SYS_clone:
		*b = (struct birth){ r->rdi, r->r10, r->rdx, r->rsi, r->r8 };
		return 0;
	case SYS_clone3:
		if (tracee_read(&t->space->t, a, r->rdi, sizeof(a)))
			break;
		*b = (struct birth){ a[0], a[2], a[3], a[5] ? a[5] + a[6] : 0, a[7] };
		return 0;
	}
	return err_set(p->err, EILSEQ, "event %llu, thread %u: it was to fork, and makes the call %s",
		       event(p), t->tid, name_of(r->orig_rax));
}

static int write_tid(struct replayer *p, struct rthread *t, uint64_t addr, uint32_t tid)
{
	if (!tracee_write(&t->space->t, addr, &tid, sizeof(tid)))
		return 0;
	return err_set(p->err, EILSEQ, "event %llu: a thread's id cannot be written", event(p));
}

static int on_fork(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_fork *e = (const void *)h;
	struct rthread *c;
	struct birth b = { 0 };
	int r;

	if (h->bytes < sizeof(*e) || rthreads_find(&p->all, e->child))
		return bad(p, "a fork");
	r = run_to_call(p, t);
	r = r ? r : rthread_enter(t, p->err);
	r = r ? r : read_birth(p, t, &b);
	if (r)
		return r;
	c = rthreads_add(&p->all, e->child, NULL);
	if (!c)
		return err_sys(p->err, ENOMEM, "cannot replay");
	r = rthread_fork(c, t, !(b.flags & CLONE_VM), p->err);
	if (r)
		return r;
	c->born = true;
	c->regs.rax = 0;
	c->regs.orig_rax = (unsigned long long)-1;
	if (b.stack)
		c->regs.rsp = b.stack;
	if (b.flags & CLONE_SETTLS)
		c->regs.fs_base = b.tls;
	if (b.flags & CLONE_CHILD_CLEARTID)
		c->clear_tid = b.child_tid;
	if (b.flags & CLONE_PARENT_SETTID)
		r = write_tid(p, t, b.parent_tid, e->child);
	if (!r && b.flags & CLONE_CHILD_SETTID)
		r = write_tid(p, c, b.child_tid, e->child);
	return r;
}

/* Brings the thread that ran to where it was when another took its place. */
static int on_switch(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_switch *e = (const void *)h;
	int r = 0;

	if (h->bytes < sizeof(*e))
		return bad(p, "a switch");
	/* One that shares memory with nobody may be anywhere. */
	if (t && !t->born && !t->new_image && t->space->threads > 1) {
		if (e->in_call)
			r = run_to_call(p, t);
		else if (!t->at_call)
			r = rthread_enter(t, p->err);
		if (!r && !e->in_call && (t->at_call || t->space->t.regs.rip != e->ip ||
					  t->space->t.regs.rsp != e->sp))
			r = err_set(p->err, ENOSYS, "event %llu, thread %u: a switch at %#llx, between "
				    "calls, cannot be replayed yet", event(p), t->tid,
				    (unsigned long long)e->ip);
	}
	p->running = e->next;
	return r;
}

static int on_exit_event(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_exit *e = (const void *)h;
	const uint32_t none = 0;
	uint64_t nr;
	int r = 0;

	if (h->bytes < sizeof(*e))
		return bad(p, "an end");
	if (e->asked) {
		r = run_to_call(p, t);
		nr = t->space->t.regs.orig_rax;
		if (!r && nr != SYS_exit_group && nr != SYS_exit)
			r = err_set(p->err, EILSEQ, "event %llu, thread %u: it was to end, and makes the "
				    "call %s", event(p), h->tid, name_of(nr));
	}
	if (t->tid == p->first)
		p->result->status = (int)e->code;
	if (!r && t->clear_tid && t->space->threads > 1)
		tracee_write(&t->space->t, t->clear_tid, &none, sizeof(none));
	rthreads_remove(&p->all, t);
	return r;
}

static int on_event(struct replayer *p, const struct rr_head *h)
{
	struct rthread *t = rthreads_find(&p->all, h->tid);

	if (h->type == RR_EV_EXEC)
		return on_exec(p, h);
	/* The one that ran before may have ended. */
	if (h->type == RR_EV_SWITCH)
		return on_switch(p, t, h);
	if (!t)
		return bad(p, "it is of no thread");
	switch (h->type) {
	case RR_EV_CALL:
	case RR_EV_PIECES: return on_call(p, t, h);
	case RR_EV_MAP: return on_map(p, t, h);
	case RR_EV_MEMORY: return apply_pieces(p, t, h, sizeof(*h));
	case RR_EV_SIGNAL: return on_signal(p, t, h);
	case RR_EV_FORK: return on_fork(p, t, h);
	case RR_EV_EXIT: return on_exit_event(p, t, h);
	}
	return err_set(p->err, ENOSYS, "event %llu: of a kind that cannot be replayed yet", event(p));
}

int replayer_run(const struct replayer_opts *opts, struct replayer_result *result,
		 struct err *err)
{
	struct replayer p = { .opts = opts, .result = result, .err = err };
	const struct rr_head *h;
	char path[4096];
	int r;

	*result = (struct replayer_result){ 0 };
	snprintf(path, sizeof(path), "%s/events", opts->dir);
	r = recread_open(&p.file, path, err);
	if (r)
		return r;
	while ((r = recread_next(p.file, &h, err)) > 0) {
		r = on_event(&p, h);
		if (r || (p.first && !p.all.n))
			break;
	}
	if (!r && (!p.first || p.all.n))
		r = err_set(err, ENODATA, "the recording ends behind event %llu, with %zu threads that "
			    "had not ended", event(&p), p.all.n);
	result->events = event(&p);
	rthreads_release(&p.all);
	recread_close(p.file);
	return r;
}
