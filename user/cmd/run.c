/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cmd/session.h"
#include "collect/launch.h"

#define EXIT_FAILED	125
#define EXIT_NOEXEC	126
#define EXIT_NOCOMMAND	127
#define EXIT_DETACHED	130

/* How long what is still dying may take after the command itself has ended. */
#define GRACE_NS 100000000ull

struct run {
	struct session s;
	struct launch child;
	bool started, ended, detached;
	int status;		/* of waitpid */
	uint64_t deadline_ns;	/* -d; 0: none */
};

static int start(struct run *r, const struct live_opts *o, struct err *err)
{
	struct launch_opts lo = { .argv = o->argv, .user = o->user };

	if (launch_start(&r->child, &lo, err) || session_open(&r->s, true, err) ||
	    live_target(r->s.live, r->child.pid, true, err) ||
	    live_start(r->s.live, err) < 0 || launch_measure(&r->child, err))
		return EXIT_FAILED;
	live_set_cost(r->s.live, &r->child.bare, &r->child.traced);
	live_command(r->s.live, o->argv);
	if (session_watch(&r->s, r->child.pidfd, err))
		return EXIT_FAILED;
	if (launch_exec(&r->child, err)) {
		int code = err->code;

		if (r->child.refused) {
			err_sys(err, code, "cannot run a command as %s", o->user);
			err_hint(err, "-u is for root");
			return EXIT_FAILED;
		}
		err_sys(err, code, "cannot run '%s'", o->argv[0]);
		return code == ENOENT ? EXIT_NOCOMMAND : EXIT_NOEXEC;
	}
	r->started = true;
	if (o->duration_ns)
		r->deadline_ns = clock_mono_ns() + o->duration_ns;
	return 0;
}

static int until_deadline_ms(const struct run *r)
{
	uint64_t now = clock_mono_ns();

	if (!r->deadline_ns)
		return -1;
	return now >= r->deadline_ns ? 0 : (int)((r->deadline_ns - now) / 1000000 + 1);
}

static int follow(struct run *r, struct err *err)
{
	uint64_t deadline;
	int what;

	while (!r->ended && !r->detached) {
		if (r->deadline_ns && clock_mono_ns() >= r->deadline_ns)
			break;
		what = session_wait(&r->s, until_deadline_ms(r));
		if (what < 0)
			return err_sys(err, -what, "cannot read the event ring");
		if (what == SESSION_FD)
			r->ended = waitpid(r->child.pid, &r->status, WNOHANG) == r->child.pid;
		else if (what == SESSION_TERMINATE)
			kill(r->child.pid, SIGTERM);
		else if (what == SESSION_INTERRUPT && r->s.interrupts > 1)
			r->detached = true;
	}
	/* Its threads and children that are on their way out are part of the run. */
	deadline = clock_mono_ns() + GRACE_NS;
	while (r->ended && live_threads(r->s.live) && clock_mono_ns() < deadline)
		live_tick(r->s.live, 1, -1);
	return 0;
}

/* -d is over: the command goes on untraced, and its code is still ours. */
static void outlast(struct run *r)
{
	int what;

	while (!r->ended && !r->detached) {
		what = session_wait(&r->s, -1);
		if (what < 0)
			break;
		if (what == SESSION_FD)
			r->ended = waitpid(r->child.pid, &r->status, WNOHANG) == r->child.pid;
		else if (what == SESSION_TERMINATE)
			kill(r->child.pid, SIGTERM);
		else if (what == SESSION_INTERRUPT && r->s.interrupts > 1)
			r->detached = true;
	}
}

/* Not behind a summary that a program reads. */
static void note_runs_on(const struct run *r, const struct live_opts *o)
{
	if (o->output || (!o->json && !o->csv && !o->folded))
		session_note(&r->s, "no longer traced: pid %d runs on", (int)r->child.pid);
}

static int exit_code(const struct run *r)
{
	if (!r->ended)
		return EXIT_DETACHED;
	return WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status);
}

static int report(struct run *r, const struct live_opts *o, struct err *err)
{
	struct summary sum;
	int code;

	summary_init(&sum);
	sum.command = o->argv;
	sum.comm = o->comm;
	sum.cgroup = o->cgroup;
	if (r->ended) {
		sum.has_exit = true;
		sum.exit_code = WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 0;
		sum.exit_signal = WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0;
	}
	code = live_stop(r->s.live, err) ? EXIT_FAILED : 0;
	session_unwatch(&r->s, r->ended || r->detached ? 0 : r->child.pid);
	if (!code && session_print(&r->s, &sum, err))
		code = EXIT_FAILED;
	sum.command = NULL;	/* argv's, not the summary's */
	summary_release(&sum);
	return code;
}

int run_main(int argc, char **argv)
{
	struct run r = {};
	struct live_opts o;
	struct err err = {};
	int code, failed;

	r.child.pidfd = r.child.to = r.child.from = -1;
	code = live_opts_parse(&o, &run_cmd, argc, argv, &err);
	if (code) {
		live_opts_release(&o);
		return code == CLI_WANTS_HELP ? session_help("run") :
						session_fail(&err, EXIT_FAILED);
	}
	code = session_init(&r.s, &o, STDERR_FILENO, &err) ? EXIT_FAILED : start(&r, &o, &err);
	if (!code) {
		failed = follow(&r, &err) ? EXIT_FAILED : report(&r, &o, &err);
		if (failed)
			session_fail(&err, failed);
		if (!r.ended)
			note_runs_on(&r, &o);
		if (!r.ended && !r.detached) {
			session_rewatch(&r.s);
			outlast(&r);
		}
		code = failed ? failed : exit_code(&r);
	} else {
		session_fail(&err, code);
	}
	launch_release(&r.child);
	session_release(&r.s);
	live_opts_release(&o);
	return code;
}
