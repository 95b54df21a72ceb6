/* SPDX-License-Identifier: MIT */
/* Calls of a replay: compared with the recorded ones, and what they put out. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "rr/replay_state.h"

static const struct rr_call rows[RR_NR_CALLS] = {
#define RR_CALL(nr, name, act, ...) [nr] = { .action = act, .out = { __VA_ARGS__ } },
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

	/* The kernel looks at no more of the number. */
	if ((uint32_t)r->orig_rax != e->nr)
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

/*
 * Pieces may lie where the program can only read, if the kernel did not write there: then it
 * cannot do so either. Of semctl's GETALL they are as many as there may be.
 */
static bool writes_for_sure(const struct rr_ev_call *e)
{
	if (e->head.bytes == sizeof(*e))
		return true;
	if (e->ret < 0 || e->nr == SYS_semctl)
		return false;
	for (int i = 0; i < RR_OUTS; i++)
		if (rows[e->nr].out[i].when == RR_WHEN_MAYBE)
			return false;
	return true;
}

bool replay_is_plain(const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;

	return h->type == RR_EV_CALL && h->bytes >= sizeof(*e) && !h->flags &&
	       replay_is_emulated(e->nr) && e->nr != SYS_process_vm_writev &&
	       !replay_is_limit(e) && writes_for_sure(e) &&
	       !(e->ret <= -512 && e->ret >= -516);
}

bool replay_is_emulated(uint64_t nr)
{
	return nr < RR_NR_CALLS && rows[nr].action == RR_EMULATE;
}

bool replay_is_memory(const struct rr_head *h)
{
	const struct rr_ev_call *e = (const void *)h;

	return h->type == RR_EV_CALL && h->bytes == sizeof(*e) && !h->flags &&
	       e->nr < RR_NR_CALLS && rows[e->nr].action == RR_MEMORY;
}

/* Memory that is no file's, or was written, is to be run. */
static bool makes_code(const struct rr_ev_call *e)
{
	if (e->ret < 0 || !(e->arg[2] & PROT_EXEC))
		return false;
	return e->nr == SYS_mprotect || e->nr == SYS_pkey_mprotect ||
	       (e->nr == SYS_mmap && e->arg[3] & MAP_ANONYMOUS);
}

void replay_note(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	p->makes_code |= makes_code(e);
	if (e->nr == SYS_set_tid_address) {
		t->clear_tid = e->arg[0];
		t->own = (uint32_t)e->ret;
	}
	if (e->nr == SYS_set_robust_list && !e->ret)
		t->robust = e->arg[0];
	if (e->nr == SYS_brk)
		t->space->brk = (uint64_t)e->ret;
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
	struct rr_ev_call own;
	int r;

	if (h->bytes < sizeof(*e))
		return replay_damaged(p, "a call");
	if (ends_birth(t))
		return 0;
	/* Of one that mapped a file, the next event is read meanwhile; memory it wrote none. */
	if (e->head.flags & RR_FLAG_FILE) {
		own = *e;
		own.head.bytes = sizeof(own);
		e = &own;
		h = &own.head;
	}
	r = replay_to_call(p, t);
	r = r ? r : rthread_enter(t, p->err);
	r = r ? r : compare(p, t, e);
	if (r)
		return r;
	if (h->type == RR_EV_PIECES)
		return replay_pieces(p, t, h, sizeof(*e));
	/* One of a number that no kernel has did nothing. */
	if (e->nr < RR_NR_CALLS && rows[e->nr].action == RR_MEMORY)
		r = replay_memory_call(p, t, e);
	if (!r && e->nr == SYS_process_vm_writev)
		r = replay_write_across(p, t, e);
	if (!r && replay_is_limit(e))
		r = replay_limit(p, t, e);
	r = r ? r : replay_pieces(p, t, h, sizeof(*e));
	/* How long the messages were is in its pieces. */
	r = r ? r : replay_output(p, t, e);
	if (r)
		return r;
	replay_note(p, t, e);
	t->space->t.regs.rax = (unsigned long long)e->ret;
	t->space->t.regs.orig_rax = (unsigned long long)-1;
	t->at_call = false;
	t->after_call = true;
	t->broken = e->ret <= -512 && e->ret >= -516;
	t->broken_nr = e->nr;
	return tracee_set_regs(&t->space->t, p->err);
}
