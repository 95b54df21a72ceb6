/* SPDX-License-Identifier: MIT */
/* The executable behind record. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/findexe.h"
#include "base/io.h"
#include "base/user.h"
#include "cli/term.h"
#include "cmd/record_opts.h"
#include "cmd/record_probe.h"
#include "collect/refusal.h"
#include "out/human.h"
#include "rr/recabout.h"
#include "rr/recdir.h"
#include "rr/recorder.h"
#include "rr/refused.h"

#define EXIT_THERE 2		/* the directory to be made is */
#define EXIT_FAILED 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127
#define SILENT_S 3	/* of waiting, where nobody sits in front of it */

static void note(const char *dir, const struct recorder_result *res)
{
	const char *sig = WIFSIGNALED(res->status) ? sigabbrev_np(WTERMSIG(res->status)) : NULL;
	struct err text = { 0 };

	err_set(&text, 1, "recorded %" PRIu64 " events, %" PRIu64 " bytes, into %s%s%s",
		res->events, res->bytes, dir, sig ? "; the program was ended by SIG" : "",
		sig ? sig : "");
	err_hint(&text, "'tracer replay -a %s' runs it again; without -a, gdb debugs it", dir);
	cli_fail("tracer", &text, 0);
}

/* What a recording tells while it runs. */
struct telling {
	bool terminal;
	bool waits;		/* has been told */
	unsigned int seconds;	/* since the first process ended */
	bool shows;		/* a line of how far it is, which nobody else writes to */
	bool shown;
	bool quiet;
	struct buf warnings;	/* so far, joined by "; " */
};

static void clear_line(struct telling *t)
{
	if (t->shown)
		(void)!write(STDERR_FILENO, "\r\033[K", 4);
	t->shown = false;
}

static void show_line(struct telling *t, const struct recorder_progress *p)
{
	char bytes[HUMAN_BYTES], events[HUMAN_BYTES], line[96];
	int n;

	n = snprintf(line, sizeof(line), "\r\033[Krecording: %s events, %s",
		     human_count(events, p->events), human_bytes(bytes, p->bytes));
	(void)!write(STDERR_FILENO, line, (size_t)n);
	t->shown = true;
}

static void tell_waiting(struct telling *t, const struct recorder_progress *p)
{
	struct err text = { 0 };

	if (t->waits || (!t->terminal && t->seconds++ < SILENT_S))
		return;
	t->waits = true;
	clear_line(t);
	err_set(&text, 1, "the program has ended; what it began is recorded on until it ends: %"
		PRIu32 " threads, of process %d (%s) for one", p->threads, (int)p->pid, p->comm);
	err_hint(&text, "Ctrl-C, or SIGTERM to this process, ends them");
	cli_fail("tracer", &text, 0);
}

static void on_progress(void *ctx, const struct recorder_progress *p)
{
	struct telling *t = ctx;

	if (t->shows)
		show_line(t, p);
	if (p->ended && p->pid)
		tell_waiting(t, p);
}

/* Said now, and again by a replay that diverges. */
static void on_warning(void *ctx, const char *said)
{
	struct telling *t = ctx;
	struct err text = { 0 };

	buf_addf(&t->warnings, "%s%s", t->warnings.len ? "; " : "", said);
	if (t->quiet)
		return;
	clear_line(t);
	err_set(&text, 1, "%s", said);
	cli_fail("tracer", &text, 0);
}

/* What is known of it now, or of its end. A recording does without, but then says so. */
static void write_about(struct recabout_opts *about, const struct recorder_result *res,
			const struct err *failed, const struct buf *warnings)
{
	struct recabout end = { .ended = true };
	struct err err = { 0 };

	if (res) {
		end.status = res->status;
		end.events = res->events;
		end.ended_ns = clock_real_ns();
		if (failed)
			buf_adds(&end.error, failed->msg);
		buf_add(&end.warnings, warnings->data, warnings->len);
		about->end = &end;
	}
	if (recabout_write(about, &err))
		cli_fail("tracer", &err, 0);
	recabout_release(&end);
	about->end = NULL;
}

/* Files are looked at as the user. */
static int check_program(const char *command, const struct caller *who, struct err *err)
{
	char path[4096];
	int r = caller_lower(who);

	if (r)
		return err_sys(err, -r, "cannot read as the user");
	r = findexe(path, sizeof(path), command) ? refused_program(err, path) : 0;
	return caller_raise(who) ? err_sys(err, EPERM, "cannot go on as root") : r;
}

static int record(const struct record_opts *o, struct err *err)
{
	struct telling telling = {
		.terminal = isatty(STDERR_FILENO),
		/* What the program prints is not to be mixed with it. */
		.shows = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO),
		.quiet = o->quiet, .warnings = BUF_INIT,
	};
	struct recorder_opts opts = { .argv = o->argv, .checksum = o->checksum,
				      .ctx = &telling };
	struct recorder_result res;
	struct recabout_opts about;
	struct buf dir = BUF_INIT;
	int r = record_privilege(err);

	caller_find(&opts.who);
	opts.user = r || !o->user ? NULL : user_find(o->user, err);
	if (!r && o->user && !opts.user)
		r = -err->code;
	r = r ? r : check_program(o->argv[0], &opts.who, err);
	r = r ? r : recdir_make(&dir, o->output, o->argv[0], &opts.who, err);
	if (r == -EEXIST)
		r = cli_fail("tracer", err, EXIT_THERE);
	else if (!r) {
		about = (struct recabout_opts){ .dir = dir.data, .who = &opts.who,
						.argv = o->argv, .began_ns = clock_real_ns() };
		opts.dir = dir.data;
		opts.progress = o->quiet ? NULL : on_progress;
		opts.warn = on_warning;
		write_about(&about, NULL, NULL, NULL);
		r = recorder_run(&opts, &res, err);
		clear_line(&telling);
		if (r && res.exec_error) {
			recdir_remove(dir.data, &opts.who);
			r = res.exec_error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
			cli_fail("tracer", err, r);
			goto out;
		}
		if (r && res.load_error)
			refusal_err(err, res.load_error, "cannot load the recorder's programs", "",
				    NULL);
		if (res.events)
			write_about(&about, &res, r ? err : NULL, &telling.warnings);
		if (!res.events)
			recdir_remove(dir.data, &opts.who);
		else if (!r && !o->quiet)
			note(dir.data, &res);
		if (!r)
			r = WIFSIGNALED(res.status) ? 128 + WTERMSIG(res.status) :
			    WEXITSTATUS(res.status);
	}
out:
	buf_release(&telling.warnings);
	buf_release(&dir);
	return r;
}

int main(int argc, char **argv)
{
	struct record_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	if (argc == 2 && !strcmp(argv[1], "__probe"))
		return record_probe();
	r = argc < 2 || strcmp(argv[1], "record") ? CLI_WANTS_HELP :
	    record_opts_parse(&o, argc - 1, argv + 1, &err);
	/* tracer prints help before it comes to this. */
	if (r == CLI_WANTS_HELP) {
		err_set(&err, EINVAL, "this program is run by tracer, not by itself");
		err_hint(&err, "as in 'sudo tracer record -- ls -l'");
		r = -EINVAL;
	}
	if (!r)
		r = record(&o, &err);
	return r < 0 ? cli_fail("tracer", &err, EXIT_FAILED) : r;
}
