/* SPDX-License-Identifier: MIT */
#include "rr/rthread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define XSTATE_BYTES 16384	/* more than any processor has so far, tiles aside */

struct rthread *rthreads_find(const struct rthreads *all, uint32_t tid)
{
	struct rthread **t = all->by_tid ? map_get(all->by_tid, &tid) : NULL;

	return t ? *t : NULL;
}

static int keep(struct rthreads *all, struct rthread *t)
{
	struct rthread **at = realloc(all->at, (all->n + 1) * sizeof(*at)), **slot;

	if (!at)
		return -ENOMEM;
	all->at = at;
	if (!all->by_tid)
		all->by_tid = map_new(sizeof(t->tid), sizeof(t));
	slot = all->by_tid ? map_put(all->by_tid, &t->tid) : NULL;
	if (!slot)
		return -ENOMEM;
	*slot = t;
	t->index = all->n;
	all->at[all->n++] = t;
	return 0;
}

struct rthread *rthreads_add(struct rthreads *all, uint32_t tid, struct rspace *space)
{
	struct rthread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->tid = t->pid = tid;
	if (keep(all, t)) {
		free(t);
		return NULL;
	}
	t->space = space;
	if (space)
		space->threads++;
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

int rthreads_rename(struct rthreads *all, struct rthread *t, uint32_t tid)
{
	struct rthread **slot = map_put(all->by_tid, &tid);

	if (!slot)
		return -ENOMEM;
	*slot = t;
	if (t->tid != tid)
		map_del(all->by_tid, &t->tid);
	t->tid = tid;
	return 0;
}

void rthreads_remove(struct rthreads *all, struct rthread *t)
{
	map_del(all->by_tid, &t->tid);
	all->at[t->index] = all->at[--all->n];
	all->at[t->index]->index = t->index;
	free_thread(t);
}

void rthreads_release(struct rthreads *all)
{
	while (all->n)
		free_thread(all->at[--all->n]);
	free(all->at);
	map_free(all->by_tid);
	*all = (struct rthreads){ .at = NULL };
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

int rthread_new_space(struct rthread *t, struct tracee *seed, uint64_t page, struct err *err)
{
	struct rspace *s = new_space(err);
	int r;

	if (!s)
		return -ENOMEM;
	r = tracee_new(&s->t, seed, page, err);
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

int rthread_set_xstate(struct rthread *t, const unsigned char *area, size_t bytes)
{
	unsigned char *to = t->xstate && bytes == t->xstate_bytes ? t->xstate :
			    realloc(t->xstate, bytes);

	if (!to)
		return -ENOMEM;
	t->xstate = to;
	t->xstate_bytes = bytes;
	memcpy(to, area, bytes);
	return 0;
}

/* Takes the registers of who is in the process out of it. */
static int save(struct rthread *t, struct err *err)
{
	static unsigned char area[XSTATE_BYTES];
	size_t bytes = 0;
	int r = tracee_get_fpu(&t->space->t, area, sizeof(area), &bytes, err);

	if (r)
		return r;
	t->regs = t->space->t.regs;
	return rthread_set_xstate(t, area, bytes) ? err_sys(err, ENOMEM, "cannot replay") : 0;
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
	return from->xstate ? rthread_set_xstate(to, from->xstate, from->xstate_bytes) : 0;
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
		s->inproc = parent->space->inproc;
	}
	if (r)
		return r;
	child->space = s;
	s->threads++;
	return 0;
}
