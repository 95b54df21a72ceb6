/* SPDX-License-Identifier: MIT */
#include "rr/checkpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rr/replay_state.h"
#include "rr/sharedmem.h"

struct checkpoint {
	struct recread_place place;
	struct rthreads all;
	struct sharedmem shared;
	uint32_t first, running;
	int status;
	size_t nshared;
};

uint64_t checkpoint_event(const struct checkpoint *c)
{
	return c->place.event + 1;
}

static int no_memory(struct err *err)
{
	return err_sys(err, ENOMEM, "cannot make a checkpoint");
}

/* The copy of @s among what was copied of the first @n threads, or a new one. */
static struct rspace *copy_space(struct rspace *s, const struct rthreads *from,
				 const struct rthreads *to, size_t n, struct err *err)
{
	struct rspace *c;

	for (size_t i = 0; i < n; i++)
		if (from->at[i]->space == s)
			return to->at[i]->space;
	c = malloc(sizeof(*c));
	if (!c) {
		no_memory(err);
		return NULL;
	}
	*c = *s;
	c->threads = 0;
	c->in = NULL;
	if (tracee_copy(&c->t, &s->t, err)) {
		free(c);
		return NULL;
	}
	c->t.regs = s->t.regs;
	if (tracee_set_regs(&c->t, err)) {
		tracee_kill(&c->t);
		free(c);
		return NULL;
	}
	return c;
}

static int copy_thread(struct rthreads *to, const struct rthreads *from, size_t i, struct err *err)
{
	const struct rthread *t = from->at[i];
	struct rspace *s = t->space ? copy_space(t->space, from, to, i, err) : NULL;
	struct rthread *c;
	size_t index;

	if (t->space && !s)
		return -err->code;
	c = rthreads_add(to, t->tid, s);
	if (!c) {
		if (s && !s->threads) {
			tracee_kill(&s->t);
			free(s);
		}
		return no_memory(err);
	}
	index = c->index;
	*c = *t;
	c->index = index;
	c->space = s;
	c->xstate = NULL;
	if (t->space && t->space->in == t)
		s->in = c;
	return rthread_copy_xstate(c, t) ? no_memory(err) : 0;
}

static int copy_threads(struct rthreads *to, const struct rthreads *from, struct err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < from->n; i++)
		r = copy_thread(to, from, i, err);
	return r;
}

int checkpoint_take(struct checkpoint **out, struct replayer *p, struct err *err)
{
	struct checkpoint *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return no_memory(err);
	c->place = p->before;
	c->first = p->first;
	c->running = p->running;
	c->status = p->result->status;
	c->nshared = p->nshared;
	r = sharedmem_keep(&c->shared, p, err);
	r = r ? r : copy_threads(&c->all, &p->all, err);
	if (r) {
		checkpoint_free(c);
		return r;
	}
	*out = c;
	return 0;
}

int checkpoint_restore(struct replayer *p, struct checkpoint *c, struct err *err)
{
	static const struct recread_place start = { .chunk = -1 };
	int r;

	rthreads_release(&p->all);
	for (size_t i = 0; i < p->nshared; i++)
		p->shared[i].stale = !c || i >= c->nshared;
	p->first = c ? c->first : 0;
	p->running = c ? c->running : 0;
	p->result->status = c ? c->status : 0;
	if (!c)
		return recread_seek(p->file, &start, err);
	r = copy_threads(&p->all, &c->all, err);
	r = r ? r : sharedmem_put_back(&c->shared, p, err);
	return r ? r : recread_seek(p->file, &c->place, err);
}

void checkpoint_free(struct checkpoint *c)
{
	if (!c)
		return;
	rthreads_release(&c->all);
	sharedmem_release(&c->shared);
	free(c);
}
