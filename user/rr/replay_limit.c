/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the kernel lets a replay's stack grow as it let the recorded one, page by page and up to
 * the same limit, so that an overflow is met where it was. A limit is the process's, and so the
 * address space's; but a child of vfork has one of its own, and is left alone until its exec,
 * which says what it is by then.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "rr/replay_state.h"

bool replay_is_limit(const struct rr_ev_call *e)
{
	if (e->ret)
		return false;
	return (e->nr == SYS_setrlimit && e->arg[0] == RLIMIT_STACK) ||
	       (e->nr == SYS_prlimit64 && e->arg[1] == RLIMIT_STACK && e->arg[2]);
}

static bool has_own_space(const struct replayer *p, const struct rthread *t)
{
	for (size_t i = 0; i < p->all.n; i++)
		if (p->all.at[i]->space == t->space && p->all.at[i]->pid != t->pid)
			return false;
	return true;
}

/* Whose limit it is; NULL: of nobody who is recorded. */
static const struct rthread *limited(const struct replayer *p, const struct rthread *t,
				     const struct rr_ev_call *e)
{
	const uint32_t own = e->nr == SYS_prlimit64 ? (uint32_t)e->arg[0] : 0;

	if (!own)
		return t;
	for (size_t i = 0; i < p->all.n; i++)
		if (p->all.at[i]->own == own)
			return p->all.at[i];
	return NULL;
}

int replay_limit(struct replayer *p, struct rthread *t, const struct rr_ev_call *e)
{
	const struct rthread *whose = limited(p, t, e);
	struct rlimit limit;

	if (!whose || !whose->space || !has_own_space(p, whose))
		return 0;
	if (tracee_read(&t->space->t, &limit, e->arg[e->nr == SYS_prlimit64 ? 2 : 1],
			sizeof(limit)))
		return replay_fail(p, t, EILSEQ, "the limit that it set is not there");
	return tracee_limit_stack(&whose->space->t, limit.rlim_cur, p->err);
}
