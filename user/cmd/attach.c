/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/session.h"
#include "cmd/targets.h"

#define EXIT_FAILED 2

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
	long n;
	int r;

	if (targets_check(s->opts, err))
		return -err->code;
	n = targets_begin(s, -1, err);
	if (n < 0)
		return (int)n;
	if (n)
		session_note(s, "tracing %ld thread%s; ctrl-C detaches and prints", n,
			     n == 1 ? "" : "s");
	else
		session_note(s, "no thread matches so far; ctrl-C detaches and prints");
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
