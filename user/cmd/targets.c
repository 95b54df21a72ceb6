/* SPDX-License-Identifier: MIT */
#include "cmd/targets.h"

#include <errno.h>
#include <sys/wait.h>

#include "collect/launch.h"
#include "collect/proc.h"

int targets_check(const struct live_opts *o, struct err *err)
{
	struct proc_info info;
	size_t i;

	for (i = 0; i < o->pids.n; i++) {
		if (proc_look(o->pids.pid[i], &info, err))
			return -err->code;
		if (info.kernel_thread)
			return err_set(err, EINVAL, "cannot attach to pid %d: it is a thread of "
				       "the kernel, '%s'", (int)info.pid, info.comm);
	}
	return 0;
}

/* It was there when we looked; BPF found nothing of it. */
static int nobody_there(pid_t pid, struct err *err)
{
	struct proc_info info;
	struct err ignored;

	if (proc_look(pid, &info, &ignored))
		return err_set(err, ESRCH, "cannot attach to pid %d: it ended just now", (int)pid);
	err_set(err, EPERM, "cannot attach to pid %d: the kernel shows its threads to nobody",
		(int)pid);
	err_hint(err, "'%s' runs, but this machine's kernel keeps it from being traced", info.comm);
	return -EPERM;
}

/*
 * A child that is traced beside the targets tells what tracing adds: it has
 * measured bare costs before the programs were loaded, and measures again once
 * the targets are traced, who need not wait for it.
 */
static long start(struct session *s, const struct launch *child, struct err *err)
{
	const struct live_opts *o = s->opts;
	size_t i;
	long n;

	if (live_target(s->live, child->pid, true, err))
		return -err->code;
	for (i = 0; i < o->pids.n; i++)
		if (live_target(s->live, o->pids.pid[i], false, err))
			return -err->code;
	n = live_start(s->live, err);
	if (n < 0)
		return n;
	n--;	/* the child */
	return n < 1 && o->pids.n ? nobody_there(o->pids.pid[0], err) : n;
}

long targets_begin(struct session *s, int fd, struct err *err)
{
	struct launch_opts lo = { .argv = NULL };
	struct launch child;
	long n = 0;
	int r;

	if (launch_start(&child, &lo, err))
		return -err->code;
	r = session_open(s, s->opts->pids.n > 0, err);
	if (!r)
		r = session_watch(s, fd, err);
	if (!r)
		n = start(s, &child, err);
	if (!r && n >= 0)
		r = launch_measure(&child, err);
	if (!r && n >= 0)
		live_set_cost(s->live, &child.bare, &child.traced);
	launch_release(&child);
	waitpid(child.pid, NULL, 0);
	return r ? r : n;
}
