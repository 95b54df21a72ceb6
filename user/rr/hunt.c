/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the first passes of the instruction are stops of the process, from which is learnt
 * what tells one from another: a register, or a word of memory. Then a breakpoint that the
 * process looks at by itself (fastbreak.h) finds the pass. One where all registers fit and not
 * all of the memory may be the place or not: a copy of the process is kept there, the best so
 * far, and gone back to when no pass fits better.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "rr/evidence.h"
#include "rr/fastbreak.h"
#include "rr/place.h"
#include "rr/procmaps.h"

#define SAMPLES 24		/* passes that are stops */
#define STALE_MOST 512		/* passes with equal registers at which nothing is learnt */
#define CODE_BYTES 32
#define INT3 0xcc
#define STRING_REGS (1u << RR_PLACE_CX | 1u << RR_PLACE_SI | 1u << RR_PLACE_DI | \
		     1u << RR_PLACE_AX | 1u << RR_PLACE_FLAGS)

struct hunt {
	struct tracee *t;
	const struct place *p;
	struct err *err;
	int *sig;
	struct evidence e;
	uint8_t code[CODE_BYTES];	/* at the place */
	size_t have;
	bool repeats;		/* a string instruction is there */
	bool slow;		/* no other breakpoint can be put there */
	size_t passes, stale;
	size_t equal[RR_PLACE_REGS];	/* passes at which a register was as wanted */
	struct tracee best;	/* a copy; .pid is -1 when there is none */
	size_t best_equal;
	size_t *fits;		/* the same, at what was found */
	struct fastbreak *fast;
	bool is_put;		/* in the process */
};

/* How a part of the hunt ended, beside -errno. */
enum { ELSEWHERE, FOUND, NOT_YET };

static int set_bytes(struct hunt *h, struct tracee *t, uint64_t at, const void *bytes, size_t n)
{
	if (!tracee_write(t, at, bytes, n))
		return 0;
	return err_set(h->err, EFAULT, "cannot set a breakpoint at %#llx of the replay",
		       (unsigned long long)at);
}

/* The fast breakpoint, out of the process or its copy. */
static int take_away(struct hunt *h, struct tracee *t)
{
	const uint64_t arg[6] = { h->fast->page, sizeof(h->fast->code) };
	long ret;
	int r = set_bytes(h, t, h->p->at->ip, h->code, JUMP_BYTES);

	return r ? r : tracee_call(t, &ret, h->err, SYS_munmap, arg);
}

/* ---- looking at a pass --------------------------------------------------------- */

static int keep_copy(struct hunt *h, size_t equal)
{
	tracee_kill(&h->best);
	h->best_equal = equal;
	h->stale = 0;
	if (tracee_copy(&h->best, h->t, h->err)) {
		h->best.pid = -1;
		return -h->err->code;
	}
	h->best.regs = h->t->regs;
	return h->is_put && take_away(h, &h->best) ? -h->err->code : NOT_YET;
}

static int look_at_memory(struct hunt *h)
{
	const size_t equal = evidence_look(&h->e, h->t);

	*h->fits = equal;
	if (equal == h->e.n)
		return FOUND;
	if (h->best.pid < 0 || equal > h->best_equal)
		return keep_copy(h, equal);
	h->stale = h->e.learnt ? 0 : h->stale + 1;
	return h->stale > STALE_MOST ? ELSEWHERE : NOT_YET;
}

/* The thread runs to the end of the instruction at which it is. */
static int run_behind(struct hunt *h, uint64_t behind)
{
	uint8_t was;
	int r;

	if (tracee_read(h->t, &was, behind, 1))
		return err_set(h->err, EFAULT, "there is no code at %#llx",
			       (unsigned long long)behind);
	r = set_bytes(h, h->t, behind, &(uint8_t){ INT3 }, 1);
	r = r ? r : tracee_run(h->t, h->sig, h->err);
	if (set_bytes(h, h->t, behind, &was, 1) || r < 0)
		return -h->err->code;
	if (r || *h->sig != SIGTRAP || h->t->regs.rip != behind + 1)
		return ELSEWHERE;
	h->t->regs.rip = behind;
	r = tracee_set_regs(h->t, h->err);
	return r ? r : NOT_YET;
}

/* Whether @count steps of 1, 2, 4 or 8 bytes lead from one to the other, or none. */
static bool steps_lead(uint64_t from, uint64_t to, uint64_t count)
{
	const uint64_t d = to > from ? to - from : from - to;

	return !d || (d % count == 0 && (d / count == 1 || d / count == 2 || d / count == 4 ||
					 d / count == 8));
}

/*
 * It was amid a string instruction, of which all rounds but the last .cx had been done: they
 * are done, with the counter set to as many.
 */
static int look_at_string(struct hunt *h)
{
	const struct rr_place *at = h->p->at;
	struct user_regs_struct *g = &h->t->regs;
	const uint64_t count = g->rcx - at->cx;
	int r;

	if (g->rcx <= at->cx || !steps_lead(g->rsi, at->si, count) ||
	    !steps_lead(g->rdi, at->di, count))
		return NOT_YET;
	g->rcx = count;
	r = tracee_set_regs(h->t, h->err);
	r = r ? r : run_behind(h, at->ip + machcode_length(h->code, h->have));
	if (r != NOT_YET)
		return r;
	/* It may have ended before its counter did. */
	if (!g->rcx)
		g->rip = at->ip;
	g->rcx += at->cx;
	r = tracee_set_regs(h->t, h->err);
	if (r)
		return r;
	return g->rip == at->ip && !place_differs(h->t, h->p) ? look_at_memory(h) : NOT_YET;
}

/* The thread stands at the instruction. */
static int look(struct hunt *h)
{
	const uint32_t differ = place_differs(h->t, h->p);

	h->passes++;
	for (unsigned int i = 0; i < RR_PLACE_REGS; i++)
		h->equal[i] += !(differ >> i & 1);
	if (!differ)
		return look_at_memory(h);
	if (h->repeats && !(differ & ~STRING_REGS))
		return look_at_string(h);
	if (h->passes <= SAMPLES)
		evidence_look(&h->e, h->t);
	return NOT_YET;
}

/* ---- passes that are stops ------------------------------------------------------ */

static int run(struct hunt *h)
{
	int r;

	for (;;) {
		r = tracee_run(h->t, h->sig, h->err);
		if (r <= 0 || h->t->regs.orig_rax != SYS_rt_sigreturn)
			return r;
		r = tracee_sigreturn(h->t, h->err);
		if (r)
			return r;
	}
}

/* Away from the instruction, which may be a pass again when it jumps to itself. */
static int leave(struct hunt *h)
{
	const uint64_t ip = h->p->at->ip;
	int r = NOT_YET;

	while (r == NOT_YET && h->t->regs.rip == ip) {
		if (h->repeats) {
			r = run_behind(h, ip + machcode_length(h->code, h->have));
			continue;
		}
		r = tracee_step(h->t, h->sig, h->err);
		if (r < 0)
			return r;
		if (r || *h->sig != SIGTRAP)
			return ELSEWHERE;
		r = h->t->regs.rip == ip ? look(h) : NOT_YET;
	}
	return r;
}

static int next_pass(struct hunt *h)
{
	const uint64_t ip = h->p->at->ip;
	int r = set_bytes(h, h->t, ip, &(uint8_t){ INT3 }, 1);

	r = r ? r : run(h);
	if (set_bytes(h, h->t, ip, h->code, 1) || r < 0)
		return -h->err->code;
	if (r || *h->sig != SIGTRAP || h->t->regs.rip != ip + 1)
		return ELSEWHERE;
	h->t->regs.rip = ip;
	r = tracee_set_regs(h->t, h->err);
	return r ? r : look(h);
}

static int hunt_by_stops(struct hunt *h)
{
	int r;

	do {
		r = leave(h);
		if (r != NOT_YET || (h->passes >= SAMPLES && !h->slow))
			return r;
		r = next_pass(h);
	} while (r == NOT_YET);
	return r;
}

/* ---- passes that the process looks at ------------------------------------------- */

/* What is seldom as wanted; words that change are looked at by the process, too. */
static void choose(const struct hunt *h, struct fastbreak_want *w)
{
	const uint32_t never = 1u << RR_PLACE_IP | 1u << RR_PLACE_FLAGS;
	size_t least = SIZE_MAX;

	*w = (struct fastbreak_want){ .at = h->p->at, .skip = h->repeats ? STRING_REGS : 0 };
	for (unsigned int i = 0; i < RR_PLACE_REGS; i++) {
		if ((w->skip | never) >> i & 1 || h->equal[i] * h->e.looks >= least)
			continue;
		least = h->equal[i] * h->e.looks;
		w->tell = i;
	}
	for (size_t i = 0; i < h->e.n && w->nword < FASTBREAK_WORDS; i++) {
		const struct evidence_word *e = &h->e.word[i];

		if (!e->changes || h->repeats)
			continue;
		w->word[w->nword++] = (struct fastbreak_word){ e->addr, e->want };
		if (e->equal * h->passes >= least)
			continue;
		least = e->equal * h->passes;
		w->tell = RR_PLACE_REGS + (unsigned int)w->nword - 1;
	}
}

static int put(struct hunt *h)
{
	struct fastbreak *f = h->fast;
	int r = tracee_map(h->t, f->page, f->page + sizeof(f->code),
			   PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, NULL, 0, h->err);

	r = r ? r : set_bytes(h, h->t, f->page, f->code, sizeof(f->code));
	r = r ? r : set_bytes(h, h->t, h->p->at->ip, f->jump, sizeof(f->jump));
	h->is_put = !r;
	return r;
}

/* An instruction that the jump lies over was jumped to. */
static int on_inner(struct hunt *h)
{
	const uint64_t ip = h->p->at->ip;
	int r;

	h->t->regs.rip--;
	r = tracee_set_regs(h->t, h->err);
	r = r ? r : set_bytes(h, h->t, ip, h->code, JUMP_BYTES);
	if (r)
		return r;
	do {
		r = tracee_step(h->t, h->sig, h->err);
		if (r < 0)
			return r;
		if (r || *h->sig != SIGTRAP)
			return ELSEWHERE;
		/* At the instruction, it will come by our code. */
	} while (h->t->regs.rip - ip - 1 < JUMP_BYTES - 1);
	r = set_bytes(h, h->t, ip, h->fast->jump, JUMP_BYTES);
	return r ? r : NOT_YET;
}

/* A string instruction may have been done in part, where it is and not in our code. */
static int look_at_hit(struct hunt *h)
{
	const uint64_t ip = h->p->at->ip;
	int r = h->repeats ? set_bytes(h, h->t, ip, h->code, JUMP_BYTES) : 0;

	r = r ? r : look(h);
	if (h->repeats && r >= 0 && set_bytes(h, h->t, ip, h->fast->jump, JUMP_BYTES))
		return -h->err->code;
	return r;
}

static int on_hit(struct hunt *h)
{
	struct user_regs_struct *g = &h->t->regs;
	const uint64_t count = g->rcx;
	int r;

	g->rip = h->p->at->ip;
	r = look_at_hit(h);
	if (r != NOT_YET || h->e.learnt)
		return r;
	if (g->rip == h->p->at->ip && g->rcx == count)
		g->rip = h->fast->hit;
	r = tracee_set_regs(h->t, h->err);
	return r ? r : NOT_YET;
}

/* Until it is found or has gone elsewhere, or another word is known to change. */
static int run_fast(struct hunt *h)
{
	int r;

	do {
		r = run(h);
		if (r < 0)
			return r;
		if (r || *h->sig != SIGTRAP)
			return ELSEWHERE;
		if (h->t->regs.rip == h->fast->hit)
			r = on_hit(h);
		else if (fastbreak_is_inner(h->fast, h->t->regs.rip))
			r = on_inner(h);
		else
			return ELSEWHERE;
	} while (r == NOT_YET && !h->e.learnt);
	return r;
}

static int hunt_fast(struct hunt *h)
{
	struct fastbreak_want want;
	struct procmaps maps;
	int r, w;

	choose(h, &want);
	h->e.learnt = false;
	r = procmaps_read(&maps, h->t->pid, h->err);
	if (r)
		return r;
	h->slow = fastbreak_build(h->fast, &want, h->code, h->have, &maps);
	procmaps_release(&maps);
	if (h->slow)
		return NOT_YET;
	r = put(h);
	r = r ? r : run_fast(h);
	/* It stands at the place, or away from our code. */
	w = r < 0 ? r : tracee_set_regs(h->t, h->err);
	w = w ? w : take_away(h, h->t);
	h->is_put = false;
	return w ? w : r;
}

/* ---- the whole ------------------------------------------------------------------- */

static int take_best(struct hunt *h)
{
	tracee_kill(h->t);
	h->best.hook = h->t->hook;
	/* With all that it has. */
	*h->t = h->best;
	h->best = (struct tracee){ .pid = -1 };
	*h->fits = h->best_equal;
	return tracee_set_regs(h->t, h->err);
}

static int run_hunt(struct hunt *h)
{
	int r = h->t->regs.rip == h->p->at->ip ? look(h) : NOT_YET;

	while (r == NOT_YET) {
		r = hunt_by_stops(h);
		if (r == NOT_YET)
			r = hunt_fast(h);
	}
	if (r != ELSEWHERE || h->best.pid < 0)
		return r;
	r = take_best(h);
	return r ? r : FOUND;
}

static void read_code(struct hunt *h)
{
	for (h->have = sizeof(h->code); h->have; h->have--)
		if (!tracee_read(h->t, h->code, h->p->at->ip, h->have))
			break;
	h->repeats = machcode_repeats(h->code, h->have);
}

int place_hunt(struct tracee *t, const struct place *p, size_t *equal, int *sig,
	       struct err *err)
{
	struct hunt h = { .t = t, .p = p, .err = err, .sig = sig, .best = { .pid = -1 },
			  .fits = equal };
	int r;

	*sig = 0;
	if (place_is_here(t, p))
		return 1;
	r = tracee_unpatch(t, p->at->ip - CODE_BYTES, p->at->ip + CODE_BYTES, err);
	if (r)
		return r;
	read_code(&h);
	if (!h.have)
		return err_set(err, EILSEQ, "there is no code at %#llx",
			       (unsigned long long)p->at->ip);
	h.fast = malloc(sizeof(*h.fast));
	if (!h.fast)
		return err_sys(err, ENOMEM, "cannot replay");
	r = evidence_new(&h.e, p, err);
	r = r ? r : run_hunt(&h);
	evidence_release(&h.e);
	free(h.fast);
	tracee_kill(&h.best);
	return r;
}

int place_run_to(struct tracee *t, const struct place *p, int *sig, struct err *err)
{
	size_t equal;

	return t->hook ? t->hook->place(t->hook, t, p, sig, err) :
			 place_hunt(t, p, &equal, sig, err);
}
