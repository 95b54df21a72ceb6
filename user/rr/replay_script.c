/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: events are taken up to the first that needs the replayer: of another address space, a
 * signal, a point between calls, a call that does more than to write memory and to change what
 * is mapped without a file. What threads become by the steps is followed here; what is in their
 * registers is known only when they are there, and the code looks at it (inproc_code.c).
 */
#include "rr/replay_script.h"

#include <errno.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define MOST_AT_FIRST 8
#define LEAST 2		/* steps with a stop behind them: it costs as much as one */

int script_new(struct script **out, struct err *err)
{
	struct script *s = calloc(1, sizeof(*s));

	if (s) {
		s->most = MOST_AT_FIRST;
		s->step = calloc(INPROC_NSTEPS, sizeof(*s->step));
	}
	if (!s || !s->step) {
		free(s);
		return err_sys(err, ENOMEM, "cannot replay");
	}
	*out = s;
	return 0;
}

void script_free(struct script *s)
{
	if (s)
		free(s->step);
	free(s);
}

/* ---- threads ------------------------------------------------------------------------------- */

/* Registers that are not in the process are in the slot then. */
static bool load(struct replayer *p, const struct script *s, size_t slot, const struct rthread *t)
{
	struct inproc_slot *to = inproc_slot(&p->inproc, slot);
	const bool in = s->space->in == t;

	if (!in && (!t->xstate || t->xstate_bytes != p->inproc.xstate_bytes))
		return false;
	*to = (struct inproc_slot){
		.regs = in ? s->space->t.regs : t->regs, .clear_tid = t->clear_tid,
		.robust = t->robust, .state = t->at_call ? INPROC_AT_CALL :
		t->after_call ? INPROC_AFTER_CALL : INPROC_RUNS,
	};
	if (!in)
		memcpy(inproc_xstate(&p->inproc, slot), t->xstate, t->xstate_bytes);
	return true;
}

/* -1: there is none. */
static int new_slot(const struct replayer *p, struct script *s)
{
	const size_t slot = s->nparts;

	if (slot == SCRIPT_SLOTS || slot == p->inproc.nslots)
		return -1;
	s->nparts++;
	s->first[slot] = NULL;
	return (int)slot;
}

/* For a thread that a step makes: also one of a thread that ends before. */
static int slot_for_new(const struct replayer *p, struct script *s)
{
	for (size_t i = 0; s->ngone && i < s->nparts; i++)
		if (s->part[i].gone && i != s->slot) {
			s->ngone--;
			return (int)i;
		}
	return new_slot(p, s);
}

static int enlist(struct replayer *p, struct script *s, struct rthread *t)
{
	int slot;

	if (t->space != s->space || t->new_image || t->broken || t->forced || t->at_insn)
		return -1;
	slot = new_slot(p, s);
	if (slot < 0 || !load(p, s, (size_t)slot, t)) {
		s->nparts -= slot >= 0;
		return -1;
	}
	s->first[slot] = t;
	s->part[slot] = (struct script_part){ .tid = t->tid, .born = t->born };
	return slot;
}

/*
 * The slot of a thread, which it gets by this if need be; -1. One that has ended gets the CPU once
 * more where the kernel was not through with it.
 */
static int slot_of(struct replayer *p, struct script *s, uint32_t tid)
{
	struct rthread *t;

	for (size_t i = s->nparts; i-- > 0;)
		if (s->part[i].tid == tid && !s->part[i].gone)
			return (int)i;
	t = rthreads_find(&p->all, tid);
	for (size_t i = 0; t && i < s->nparts; i++)
		if (s->first[i] == t)
			return -1;
	return t ? enlist(p, s, t) : -1;
}

/* ---- calls that change what is mapped ------------------------------------------------------ */

/* Only calls of nobody's patches and pages but the program's are made in the process. */
static bool is_free(const struct script *s, uint64_t start, uint64_t bytes)
{
	const uint64_t end = start + bytes;

	return bytes < UINT64_MAX - start && !sites_in(&s->space->t.sites, start, end) &&
	       (end <= INPROC_AT || start >= INPROC_AT + INPROC_BYTES) &&
	       (end <= s->space->t.page || start >= s->space->t.page + PAGE);
}

static uint64_t up(uint64_t n)
{
	return (n + PAGE - 1) & ~(PAGE - 1);
}

static void map_call(uint64_t call[7], uint64_t start, uint64_t bytes, uint64_t prot)
{
	const uint64_t map[7] = { SYS_mmap, start, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS |
				  MAP_FIXED | MAP_NORESERVE, (uint64_t)-1 };

	memcpy(call, map, sizeof(map));
}

/* The break moves: 1: by @call; 0: nothing is to be done; -1. */
static int brk_call(struct script *s, const struct rr_ev_call *e, uint64_t call[7])
{
	const uint64_t was = up(s->brk), now = up((uint64_t)e->ret);

	if (!s->brk)
		return -1;
	s->brk = (uint64_t)e->ret;
	if (now == was)
		return 0;
	if (now > was) {
		map_call(call, was, now - was, PROT_READ | PROT_WRITE);
		return is_free(s, was, now - was) ? 1 : -1;
	}
	call[0] = SYS_munmap;
	call[1] = now;
	call[2] = was - now;
	return is_free(s, now, was - now) ? 1 : -1;
}

/* As brk_call(). *any, whether its result does not matter. */
static int real_call(struct script *s, const struct rr_ev_call *e, uint64_t call[7], bool *any)
{
	if (e->ret < 0 && e->ret > -4096)
		return e->ret == -ENOMEM ? -1 : 0;
	*any = false;
	call[0] = e->nr;
	memcpy(call + 1, e->arg, sizeof(e->arg));
	switch (e->nr) {
	case SYS_brk: return brk_call(s, e, call);
	case SYS_mmap:
		map_call(call, (uint64_t)e->ret, up(e->arg[1]), e->arg[2]);
		return !(e->arg[3] & (MAP_SHARED | MAP_GROWSDOWN)) &&
		       is_free(s, (uint64_t)e->ret, up(e->arg[1])) ? 1 : -1;
	case SYS_munmap: return is_free(s, e->arg[0], up(e->arg[1])) ? 1 : -1;
	case SYS_mprotect:
		return !s->space->t.shares && is_free(s, e->arg[0], up(e->arg[1])) ? 1 : -1;
	case SYS_madvise:
		*any = e->arg[2] != MADV_DONTNEED;
		return (*any ? replay_is_hint(e->arg[2]) :
			is_free(s, e->arg[0], up(e->arg[1]))) ? 1 : -1;
	}
	return -1;
}

/* ---- events -------------------------------------------------------------------------------- */

/* NULL: there is no room. */
static struct inproc_step *add(struct replayer *p, struct script *s, const struct rr_head *h,
			       enum inproc_kind kind, size_t other)
{
	struct inproc_step *step = inproc_add(&p->inproc, h);

	if (!step)
		return NULL;
	step->kind = (uint16_t)kind;
	step->slot = (uint16_t)s->slot;
	step->other = (uint16_t)other;
	s->step[s->n++] = (struct script_step){ h, step->kind, step->slot, step->other };
	return step;
}

/* The last one is taken back. */
static bool not_so(struct replayer *p, struct script *s)
{
	s->n--;
	p->inproc.n--;
	return false;
}

/* Whether the memory behind the first @at bytes is in the event: the code does not look. */
static bool pieces_fit(const struct rr_head *h, size_t at)
{
	while (at + sizeof(struct rr_piece) <= h->bytes) {
		const struct rr_piece *p = (const void *)((const char *)h + at);

		at += sizeof(*p);
		if (p->bytes > h->bytes - at)
			return false;
		at += (p->bytes + 7) & ~7u;
	}
	return true;
}

/* Whose child is in the step before. */
static bool is_clone(const struct rr_ev_call *e)
{
	return e->nr == SYS_clone3 || (e->nr == SYS_clone && e->arg[0] & CLONE_VM);
}

static bool add_call(struct replayer *p, struct script *s, const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;
	struct script_part *part = &s->part[s->slot];
	const uint64_t brk = s->brk;
	struct inproc_step *step;
	uint64_t call[7] = { 0 };
	bool any = false;
	int real = 0;

	if (h->bytes < sizeof(*e) || !pieces_fit(h, sizeof(*e)))
		return false;
	if (part->born) {
		part->born = false;
		return add(p, s, h, INPROC_BORN, 0);
	}
	if (!replay_is_plain(h) && !is_clone(e))
		real = replay_is_memory(h) ? real_call(s, e, call, &any) : -1;
	step = real >= 0 && !(real && s->no_calls) ? add(p, s, h, INPROC_CALL, 0) : NULL;
	if (!step) {
		s->brk = brk;
		return false;
	}
	if (!real)
		return true;
	step->any_result = any;
	s->calls = true;
	if (inproc_real(&p->inproc, step, call))
		return true;
	s->brk = brk;
	return not_so(p, s);
}

/* The end of the parent's call tells whether it made a thread. */
static bool makes_thread(const struct rr_head *next, uint32_t tid)
{
	const struct rr_ev_call *e = (const void *)next;

	return next && next->type == RR_EV_CALL && next->tid == tid && next->bytes >= sizeof(*e) &&
	       is_clone(e);
}

static bool add_fork(struct replayer *p, struct script *s, const struct rr_head *h)
{
	const struct rr_ev_fork *e = (const void *)h;
	int slot;

	if (h->bytes < sizeof(*e) || s->part[s->slot].born ||
	    !makes_thread(recread_behind(p->file, h), h->tid) ||
	    rthreads_find(&p->all, e->child))
		return false;
	slot = slot_for_new(p, s);
	if (slot < 0)
		return false;
	if (!add(p, s, h, INPROC_FORK, (size_t)slot))
		return false;
	s->part[slot] = (struct script_part){ .tid = e->child, .born = true };
	s->threads++;
	return true;
}

static bool add_switch(struct replayer *p, struct script *s, const struct rr_head *h)
{
	const struct rr_ev_switch *e = (const void *)h;
	const struct script_part *part = &s->part[s->slot];
	enum inproc_kind kind = INPROC_SWITCH_NEW;
	int slot;

	if (s->no_calls || h->bytes < RR_SWITCH_SHORT || e->next == h->tid ||
	    (e->in_call && !pieces_fit(h, RR_SWITCH_SHORT)))
		return false;
	if (!part->born && !part->gone) {
		kind = e->in_call ? INPROC_SWITCH : INPROC_SWITCH_BEHIND;
		if (!e->in_call && h->bytes != sizeof(*e))
			return false;
	}
	slot = slot_of(p, s, e->next);
	if (slot < 0 || !add(p, s, h, kind, (size_t)slot))
		return false;
	s->slot = (size_t)slot;
	s->calls = true;
	return true;
}

static bool add_exit(struct replayer *p, struct script *s, const struct rr_head *h)
{
	const struct rr_ev_exit *e = (const void *)h;
	struct script_part *part = &s->part[s->slot];

	if (h->bytes < sizeof(*e) || !e->asked || part->born || s->threads < 2 ||
	    !add(p, s, h, INPROC_EXIT, 0))
		return false;
	part->gone = true;
	s->ngone++;
	s->threads--;
	return true;
}

static bool add_event(struct replayer *p, struct script *s, const struct rr_head *h)
{
	if (h->tid != s->part[s->slot].tid)
		return false;
	if (h->type == RR_EV_SWITCH)
		return add_switch(p, s, h);
	if (s->part[s->slot].gone)
		return false;
	switch (h->type) {
	case RR_EV_CALL: return add_call(p, s, h);
	case RR_EV_FORK: return add_fork(p, s, h);
	case RR_EV_EXIT: return add_exit(p, s, h);
	}
	return false;
}

/* Whether the event is at another call of who runs. */
static bool at_next_call(const struct script *s, const struct rr_head *h)
{
	const struct script_part *part = &s->part[s->slot];

	if (!h || part->gone || part->born || h->tid != part->tid)
		return false;
	switch (h->type) {
	case RR_EV_CALL:
	case RR_EV_PIECES:
	case RR_EV_FORK: return true;
	case RR_EV_SWITCH:
		return h->bytes >= RR_SWITCH_SHORT &&
		       ((const struct rr_ev_switch *)(const void *)h)->in_call;
	case RR_EV_EXIT:
		return h->bytes >= sizeof(struct rr_ev_exit) &&
		       ((const struct rr_ev_exit *)(const void *)h)->asked;
	}
	return false;
}

bool script_begins(const struct rr_head *h)
{
	return h->type == RR_EV_CALL || h->type == RR_EV_FORK || h->type == RR_EV_SWITCH ||
	       h->type == RR_EV_EXIT;
}

bool script_write(struct replayer *p, struct script *s, struct rthread *t,
		  const struct rr_head *h)
{
	inproc_begin(&p->inproc);
	s->space = t->space;
	s->threads = t->space->threads;
	s->brk = t->space->brk;
	s->n = s->nparts = s->ngone = s->slot = 0;
	s->calls = false;
	if (enlist(p, s, t) != 0)
		return false;
	while (h && s->n < s->most && add_event(p, s, h))
		h = recread_behind(p->file, h);
	s->stop = !at_next_call(s, h);
	return s->n >= LEAST || (s->n && !s->stop && !t->at_call);
}

/* Steps that are not done are written again: not too many, where a process often stops early. */
void script_learn(struct script *s, size_t done)
{
	s->most = 2 * done < MOST_AT_FIRST ? MOST_AT_FIRST : 2 * done;
}

bool script_takes(uint64_t nr)
{
	static const uint64_t others[] = {
		SYS_clone3, SYS_clone, SYS_exit, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise,
		SYS_brk,
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i] == nr)
			return true;
	return replay_is_emulated(nr);
}
