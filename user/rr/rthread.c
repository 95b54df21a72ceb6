/* SPDX-License-Identifier: MIT */
#include "rr/rthread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XSTATE_BYTES 16384	/* more than any processor has so far, tiles aside */

struct rthread *rthreads_find(const struct rthreads *all, uint32_t tid)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->tid == tid)
			return all->at[i];
	return NULL;
}

struct rthread *rthreads_add(struct rthreads *all, uint32_t tid, struct rspace *space)
{
	struct rthread **at = realloc(all->at, (all->n + 1) * sizeof(*at)), *t;

	if (!at)
		return NULL;
	all->at = at;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = t->pid = tid;
	t->space = space;
	if (space)
		space->threads++;
	all->at[all->n++] = t;
	return t;
}

static void leave_space(struct rthread *t)
{
	struct rspace *s = t->space;

	t->space = NULL;
	if (!s)
		return;
	if (s->in == t)
		s->in = NULL;
	if (--s->threads)
		return;
	tracee_kill(&s->t);
	free(s);
}

static void free_thread(struct rthread *t)
{
	leave_space(t);
	free(t->xstate);
	free(t);
}

void rthreads_remove(struct rthreads *all, struct rthread *t)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->at[i] != t)
			continue;
		all->at[i] = all->at[--all->n];
		free_thread(t);
		return;
	}
}

void rthreads_release(struct rthreads *all)
{
	while (all->n)
		free_thread(all->at[--all->n]);
	free(all->at);
	all->at = NULL;
}

static struct rspace *new_space(struct err *err)
{
	struct rspace *s = calloc(1, sizeof(*s));

	if (!s)
		err_sys(err, ENOMEM, "cannot replay");
	else
		s->t.pid = -1;
	return s;
}

int rthread_new_space(struct rthread *t, uint64_t page, struct err *err)
{
	struct rspace *s = new_space(err);
	int r;

	if (!s)
		return -ENOMEM;
	r = tracee_new(&s->t, page, err);
	if (r) {
		free(s);
		return r;
	}
	leave_space(t);
	t->space = s;
	s->threads = 1;
	s->in = t;
	return 0;
}

/* Takes the registers of who is in the process out of it. */
static int save(struct rthread *t, struct err *err)
{
	t->regs = t->space->t.regs;
	if (!t->xstate)
		t->xstate = aligned_alloc(64, XSTATE_BYTES);
	if (!t->xstate)
		return err_sys(err, ENOMEM, "cannot replay");
	return tracee_get_fpu(&t->space->t, t->xstate, XSTATE_BYTES, &t->xstate_bytes, err);
}

int rthread_enter(struct rthread *t, struct err *err)
{
	struct rspace *s = t->space;
	int r;

	if (s->in == t)
		return 0;
	r = s->in ? save(s->in, err) : 0;
	if (r)
		return r;
	s->in = t;
	s->t.regs = t->regs;
	r = tracee_set_regs(&s->t, err);
	return r ? r : tracee_set_fpu(&s->t, t->xstate, t->xstate_bytes, err);
}

int rthread_copy_xstate(struct rthread *to, const struct rthread *from)
{
	if (!from->xstate)
		return 0;
	to->xstate = aligned_alloc(64, XSTATE_BYTES);
	if (!to->xstate)
		return -ENOMEM;
	memcpy(to->xstate, from->xstate, from->xstate_bytes);
	to->xstate_bytes = from->xstate_bytes;
	return 0;
}

static int copy_registers(struct rthread *child, struct rthread *parent, struct err *err)
{
	int r = rthread_enter(parent, err);

	r = r ? r : save(parent, err);
	if (r)
		return r;
	child->regs = parent->regs;
	return rthread_copy_xstate(child, parent) ? err_sys(err, ENOMEM, "cannot replay") : 0;
}

int rthread_fork(struct rthread *child, struct rthread *parent, bool apart, struct err *err)
{
	struct rspace *s = parent->space;
	int r = copy_registers(child, parent, err);

	if (!r && apart) {
		s = new_space(err);
		if (!s)
			return -ENOMEM;
		r = tracee_fork(&s->t, &parent->space->t, err);
		if (r) {
			free(s);
			return r;
		}
		s->brk = parent->space->brk;
		s->args = parent->space->args;
		s->shares = parent->space->shares;
	}
	if (r)
		return r;
	child->space = s;
	s->threads++;
	return 0;
}
