/* SPDX-License-Identifier: MIT */
#include "rr/replayer.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rr/replay_script.h"
#include "rr/robust.h"

int replay_fail(const struct replayer *p, const struct rthread *t, int code, const char *fmt, ...)
{
	const unsigned long long event = recread_number(p->file);
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!t)
		return err_set(p->err, code, "event %llu: %s", event, text);
	return err_set(p->err, code, "event %llu, thread %u: %s", event, t->tid, text);
}

int replay_damaged(const struct replayer *p, const char *what)
{
	return err_set(p->err, EBADMSG, "event %llu of the recording is damaged: %s",
		       (unsigned long long)recread_number(p->file), what);
}

static int map_inproc(struct replayer *p, struct rspace *s)
{
	char path[64];

	/* Who looks on wants to see each call. */
	if (p->opts->debug)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), p->inproc.fd);
	s->inproc = true;
	return tracee_map(&s->t, INPROC_AT, INPROC_AT + INPROC_BYTES,
			  PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, path, 0, p->err);
}

/*
 * On the processor of the recording: cpuid tells which one it is, and the dynamic linker keeps
 * the answer. With the processes of the replay on the same one, a stop costs a sixth. Where it is
 * not there, any will do.
 */
static void stay_on(uint32_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (!sched_setaffinity(0, sizeof(one), &one))
		return;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static int on_exec(struct replayer *p, const struct rr_head *h)
{
	const struct rr_ev_exec *e = (const void *)h;
	struct rthread *t;
	int r;

	if (h->bytes < sizeof(*e) || e->vdso % PAGE || e->stack_low > e->stack_high)
		return replay_damaged(p, "a new image");
	t = rthreads_find(&p->all, e->former ? e->former : h->tid);
	if (t) {
		r = replay_to_call(p, t);
		if (r)
			return r;
		if (t->space->t.regs.orig_rax != SYS_execve &&
		    t->space->t.regs.orig_rax != SYS_execveat)
			return replay_fail(p, t, EILSEQ, "it was to exec, and makes the call %s",
					   replay_call_name(t->space->t.regs.orig_rax));
	} else if (p->first) {
		return replay_damaged(p, "a new image of nobody");
	} else {
		stay_on(e->cpu);
		p->first = p->running = h->tid;
		t = rthreads_add(&p->all, h->tid, NULL);
		if (!t)
			return err_sys(p->err, ENOMEM, "cannot replay");
		t->own = h->tid;
	}
	/* A thread that replaces its process gets the id of it. */
	if (rthreads_rename(&p->all, t, h->tid))
		return err_sys(p->err, ENOMEM, "cannot replay");
	t->new_image = true;
	t->at_call = false;
	t->clear_tid = t->robust = 0;
	r = rthread_new_space(t, &p->seed, e->vdso, p->err);
	r = r ? r : map_inproc(p, t->space);
	r = r ? r : tracee_reset_fpu(&t->space->t, p->err);
	if (r)
		return r;
	memcpy(&t->space->t.regs, e->reg, sizeof(t->space->t.regs));
	t->space->args = t->space->t.regs.rsp;
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	r = tracee_set_regs(&t->space->t, p->err);
	return r ? r : tracee_limit_stack(&t->space->t, e->stack_low ?
					  e->stack_high - e->stack_low : RLIM_INFINITY, p->err);
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
	return replay_fail(p, t, EILSEQ, "it was to fork, and makes the call %s",
			   replay_call_name(r->orig_rax));
}

static int on_fork(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_fork *e = (const void *)h;
	struct rthread *c;
	struct birth b = { 0 };
	int r;

	if (h->bytes < sizeof(*e) || rthreads_find(&p->all, e->child))
		return replay_damaged(p, "a fork");
	r = replay_to_call(p, t);
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
	if (b.flags & CLONE_THREAD)
		c->pid = t->pid;
	c->born = true;
	c->own = e->child_own;
	c->regs.rax = 0;
	c->regs.orig_rax = (unsigned long long)-1;
	if (b.stack)
		c->regs.rsp = b.stack;
	if (b.flags & CLONE_SETTLS)
		c->regs.fs_base = b.tls;
	if (b.flags & CLONE_CHILD_CLEARTID)
		c->clear_tid = b.child_tid;
	/* The kernel does not mind either that they cannot be written. */
	if (b.flags & CLONE_PARENT_SETTID)
		tracee_put(&t->space->t, b.parent_tid, &e->child_seen, sizeof(e->child_seen));
	if (b.flags & CLONE_CHILD_SETTID)
		tracee_put(&c->space->t, b.child_tid, &e->child_own, sizeof(e->child_own));
	return 0;
}

/*
 * Behind a call, of which there are no pieces, and before it has run on, the kernel's view of
 * that call is of no account.
 */
static int between_calls(struct replayer *p, struct rthread *t, const struct rr_ev_switch *e)
{
	int r = rthread_enter(t, p->err);
	const struct user_regs_struct *g = &t->space->t.regs;

	if (r || (t->after_call && e->head.bytes == sizeof(*e) && g->rip == e->at.ip &&
		  g->rsp == e->at.sp))
		return r;
	return replay_to_place(p, t, &e->head, &e->at, sizeof(*e));
}

/* Pieces are what its call had written before it waited. */
static int in_call(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	int r = replay_to_call(p, t);

	return r ? r : replay_pieces(p, t, h, RR_SWITCH_SHORT);
}

/* Brings the thread that ran to where it was when another took its place. */
static int on_switch(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_switch *e = (const void *)h;
	int r = 0;

	if (h->bytes < RR_SWITCH_SHORT || (!e->in_call && h->bytes < sizeof(*e)))
		return replay_damaged(p, "a switch");
	/* One that shares memory with nobody may be anywhere. */
	if (t && !t->born && !t->new_image && (t->space->threads > 1 || t->space->t.shares))
		r = e->in_call ? in_call(p, t, h) : between_calls(p, t, e);
	p->running = e->next;
	return r;
}

/* Of a process whose threads end one by one, it is that of the first of them. */
void replay_note_exit(struct replayer *p, const struct rthread *t, const struct rr_ev_exit *e)
{
	if (t->tid == p->first || (e->process == p->first && e->head.flags & RR_EXIT_ALL))
		p->result->status = (int)e->code;
}

static int on_exit_event(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_exit *e = (const void *)h;
	const uint32_t none = 0;
	uint64_t nr;
	int r = 0;

	if (h->bytes < sizeof(*e))
		return replay_damaged(p, "an end");
	if (e->asked) {
		r = replay_to_call(p, t);
		nr = t->space->t.regs.orig_rax;
		if (!r && nr != SYS_exit_group && nr != SYS_exit)
			r = replay_fail(p, t, EILSEQ, "it was to end, and makes the call %s",
					replay_call_name(nr));
	}
	if (!r && p->opts->debug)
		r = replay_to_end(p, t, e);
	if (r == -ECANCELED)
		return r;
	replay_note_exit(p, t, e);
	if (!r && t->clear_tid && t->space->threads > 1)
		tracee_put(&t->space->t, t->clear_tid, &none, sizeof(none));
	if (!r && t->space && (t->space->threads > 1 || t->space->t.shares))
		robust_die(t);
	rthreads_remove(&p->all, t);
	return r;
}

static int on_event(struct replayer *p, const struct rr_head *h)
{
	struct rthread *t;
	int r;

	if (p->ahead) {
		p->ahead--;
		return 0;
	}
	t = rthreads_find(&p->all, h->tid);
	r = replay_batch(p, t, h);
	if (r)
		return r < 0 ? r : 0;
	if (h->type == RR_EV_EXEC)
		return on_exec(p, h);
	/* The one that ran before may have ended. */
	if (h->type == RR_EV_SWITCH)
		return on_switch(p, t, h);
	if (!t)
		return replay_damaged(p, "it is of no thread");
	switch (h->type) {
	case RR_EV_CALL:
	case RR_EV_PIECES: return replay_call(p, t, h);
	case RR_EV_MAP: return replay_map(p, t, h);
	case RR_EV_MEMORY: return replay_pieces(p, t, h, sizeof(*h));
	case RR_EV_SUMS: return replay_sums(p, t, h);
	case RR_EV_FILE: return replay_file(p, h);
	case RR_EV_SIGNAL: return replay_signal(p, t, h);
	case RR_EV_INSN: return replay_insn(p, t, h);
	case RR_EV_FORK: return on_fork(p, t, h);
	case RR_EV_EXIT: return on_exit_event(p, t, h);
	}
	return replay_fail(p, NULL, ENOSYS, "of a kind that cannot be replayed yet");
}

/* What could not be done is said with where, as what went another way is. */
static void say_where(const struct replayer *p)
{
	struct err was;

	if (!strncmp(p->err->msg, "event ", 6) || !recread_number(p->file))
		return;
	was = *p->err;
	replay_fail(p, NULL, was.code, "%s", was.msg);
	memcpy(p->err->hint, was.hint, sizeof(was.hint));
}

static void tell_diverged(struct replayer *p, uint32_t tid)
{
	const struct rthread *t = rthreads_find(&p->all, tid);

	if (p->makes_code && !p->err->hint[0])
		err_hint(p->err, "it made code as it ran: where such code reads the time stamp "
			 "counter or a random number, a replay reads another");
	if (t && t->space && t->space->in == t && p->opts->diverged)
		p->opts->diverged(p->opts->ctx, t->space->t.pid, &t->space->t.regs);
}

/* The next event: 1; 0: the end; -ECANCELED: there is another next one. */
static int next_event(struct replayer *p)
{
	struct replay_debug *d = p->opts->debug;
	const struct rr_head *h = NULL;
	uint32_t tid;
	int r, got;

	if (d)
		p->before = recread_tell(p->file);
	got = p->first && !p->all.n ? 0 : recread_next(p->file, &h, p->err);
	r = got >= 0 && d ? d->event(d, p, got ? h : NULL) : 0;
	if (got <= 0 || r)
		return r ? r : got;
	/* By then others may have been read. */
	tid = h->tid;
	r = on_event(p, h);
	if (r && r != -ECANCELED)
		say_where(p);
	if (r == -EILSEQ)
		tell_diverged(p, tid);
	return r ? r : 1;
}

static int replay_all(struct replayer *p)
{
	struct replay_debug *d = p->opts->debug;
	int r;

	do {
		r = next_event(p);
		if (r == -ECANCELED && d)
			r = d->rewind(d, p);
		if (r < 0)
			return r;
	} while (r && !p->stop);
	if (p->stop || (p->first && !p->all.n))
		return 0;
	return err_set(p->err, ENODATA, "the recording ends behind event %llu, with %zu threads "
		       "that had not ended", (unsigned long long)recread_number(p->file),
		       p->all.n);
}

int replayer_run(const struct replayer_opts *opts, struct replayer_result *result,
		 struct err *err)
{
	struct replayer p = { .opts = opts, .result = result, .err = err,
			      .seed = { .pid = -1 } };
	char path[4096];
	int r;

	*result = (struct replayer_result){ 0 };
	snprintf(path, sizeof(path), "%s/events", opts->dir);
	r = recread_open(&p.file, path, err);
	if (r)
		return r;
	r = packed_read(&p.packed, opts->dir, PACKED_INDEX, err);
	r = r ? r : inproc_new(&p.inproc, err);
	r = r ? r : script_new(&p.script, err);
	r = r ? r : replay_all(&p);
	result->events = (unsigned long long)recread_number(p.file);
	rthreads_release(&p.all);
	tracee_kill(&p.seed);
	for (size_t i = 0; i < p.nshared; i++)
		close(p.shared[i].fd);
	free(p.shared);
	packed_release(&p.packed);
	sysfiles_release(&p.system);
	inproc_release(&p.inproc);
	script_free(p.script);
	recread_close(p.file);
	return r;
}
