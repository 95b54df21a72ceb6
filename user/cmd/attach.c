/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/session.h"
#include "collect/launch.h"
#include "collect/proc.h"

#define EXIT_FAILED 2

static int check_pids(const struct live_opts *o, struct err *err)
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
static int start(struct session *s, const struct launch *child, struct err *err)
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
		return (int)n;
	n--;	/* the child */
	if (n < 1 && o->pids.n)
		return nobody_there(o->pids.pid[0], err);
	session_note(s, "tracing %ld thread%s; ctrl-C detaches and prints", n, n == 1 ? "" : "s");
	return 0;
}

static int begin(struct session *s, struct err *err)
{
	struct launch_opts lo = { .argv = NULL };
	struct launch child;
	int r;

	if (launch_start(&child, &lo, err))
		return -err->code;
	r = session_open(s, s->opts->pids.n > 0, err);
	if (!r)
		r = session_watch(s, -1, err);
	if (!r)
		r = start(s, &child, err);
	if (!r)
		r = launch_measure(&child, err);
	if (!r)
		live_set_cost(s->live, &child.bare, &child.traced);
	launch_release(&child);
	waitpid(child.pid, NULL, 0);
	return r;
}

static int follow(struct session *s, struct err *err)
{
	const struct live_opts *o = s->opts;
	uint64_t deadline = o->duration_ns ? clock_mono_ns() + o->duration_ns : 0, now;
	int what, ms;

	for (;;) {
		now = clock_mono_ns();
		if (deadline && now >= deadline)
			return 0;
		if (o->pids.n && !live_threads(s->live))
			return 0;
		ms = deadline ? (int)((deadline - now) / 1000000 + 1) : -1;
		what = session_wait(s, ms);
		if (what < 0)
			return err_sys(err, -what, "cannot read the event ring");
		if (what == SESSION_INTERRUPT || what == SESSION_TERMINATE)
			return 0;
	}
}

static int attach(struct session *s, struct err *err)
{
	struct summary sum;
	int r;

	if (check_pids(s->opts, err) || begin(s, err))
		return -err->code;
	r = follow(s, err);
	if (r)
		return r;
	summary_init(&sum);
	sum.pids = s->opts->pids.pid;
	sum.npids = s->opts->pids.n;
	sum.comm = s->opts->comm;
	sum.cgroup = s->opts->cgroup;
	r = live_stop(s->live, err);
	session_unwatch(s, 0);
	if (!r)
		r = session_print(s, &sum, err);
	sum.pids = NULL;	/* the options', not the summary's */
	sum.npids = 0;
	summary_release(&sum);
	return r;
}

int attach_main(int argc, char **argv)
{
	struct session s;
	struct live_opts o;
	struct err err = {};
	int code = live_opts_parse(&o, &attach_cmd, argc, argv, &err);

	if (code) {
		live_opts_release(&o);
		return code == CLI_WANTS_HELP ? session_help("attach") :
						session_fail(&err, EXIT_FAILED);
	}
	if (session_init(&s, &o, STDOUT_FILENO, &err) || attach(&s, &err))
		code = session_fail(&err, EXIT_FAILED);
	session_release(&s);
	live_opts_release(&o);
	return code;
}
