/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: an instruction that was replaced (rr_insn.h) stops its thread here, too, and gets the
 * result that it got then: each is an event. So a point at one needs no evidence, it is where the
 * thread stops next. Then the thread waited for its result while others ran: the switch may be
 * before the result or behind it, and tells the registers of before.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "rr/insn.h"
#include "rr/place.h"
#include "rr/replay_state.h"

bool replay_is_replaced(const struct rthread *t, uint64_t ip)
{
	uint8_t code[INSN_MOST];
	size_t n = sizeof(code);

	/* Behind it may be a page that is not there. */
	while (n && tracee_read(&t->space->t, code, ip, n))
		n--;
	return n && insn_at(code, n, true).kind != INSN_NONE;
}

/* Runs the thread to the one at @ip, which has to be the next. */
static int run_to_insn(struct replayer *p, struct rthread *t, uint64_t ip)
{
	const struct user_regs_struct *g = &t->space->t.regs;
	int sig = 0, r;

	if (t->at_insn && g->rip == ip)
		return 0;
	if (t->at_call)
		return replay_fail(p, t, EILSEQ, "it was at %#llx, and has come to the call %s",
				   (unsigned long long)ip, replay_call_name(g->orig_rax));
	t->after_call = false;
	r = replay_run_on(p, t, &sig);
	if (r < 0)
		return r;
	t->at_call = r;
	if (r)
		return replay_fail(p, t, EILSEQ, "it was at %#llx, and comes to the call %s",
				   (unsigned long long)ip, replay_call_name(g->orig_rax));
	if (sig != SIGILL || g->rip != ip)
		return replay_fail(p, t, EILSEQ, "it was at %#llx, and is stopped by signal %d at "
				   "%#llx", (unsigned long long)ip, sig,
				   (unsigned long long)g->rip);
	t->at_insn = true;
	return 0;
}

int replay_to_insn(struct replayer *p, struct rthread *t, const struct rr_place *at)
{
	uint64_t now[RR_PLACE_REGS], was[RR_PLACE_REGS];

	place_get(&t->space->t.regs, now);
	memcpy(was, at, sizeof(was));
	if (!place_compare(now, t->insn_then) && !place_compare(was, t->insn_at))
		return 0;
	return run_to_insn(p, t, at->ip);
}

int replay_insn(struct replayer *p, struct rthread *t, const struct rr_head *h)
{
	const struct rr_ev_insn *e = (const void *)h;
	uint64_t then[RR_PLACE_REGS];
	int r;

	if (h->bytes < sizeof(*e))
		return replay_damaged(p, "an instruction");
	r = rthread_enter(t, p->err);
	r = r ? r : run_to_insn(p, t, e->ip);
	if (r)
		return r;
	place_get(&t->space->t.regs, t->insn_at);
	memcpy(then, &e->then, sizeof(then));
	if (place_compare(t->insn_at, then) & ~e->changed)
		return replay_fail(p, t, EILSEQ, "its registers at %#llx are not what they were",
				   (unsigned long long)e->ip);
	for (unsigned int i = 0; i < RR_PLACE_REGS; i++)
		t->insn_then[i] = e->changed >> i & 1 ? then[i] : t->insn_at[i];
	place_set(&t->space->t.regs, t->insn_then);
	t->at_insn = false;
	return tracee_set_regs(&t->space->t, p->err);
}
