/* SPDX-License-Identifier: MIT */
/* The executable behind record. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/io.h"
#include "cli/term.h"
#include "cmd/record_opts.h"
#include "rr/recdir.h"
#include "rr/recorder.h"

#define EXIT_FAILED 125
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND 127

static void note(const char *dir, const struct recorder_result *res)
{
	struct err text = { 0 };

	err_set(&text, 1, "recorded %" PRIu64 " events, %" PRIu64 " bytes, into %s", res->events,
		res->bytes, dir);
	err_hint(&text, "'tracer replay -a %s' runs it again", dir);
	cli_fail("tracer", &text, 0);
}

static int record(const struct record_opts *o, struct err *err)
{
	struct recorder_opts opts = { .argv = o->argv, .checksum = o->checksum };
	struct recorder_result res;
	struct buf dir = BUF_INIT;
	int r;

	caller_find(&opts.who);
	r = recdir_make(&dir, o->output, o->argv[0], &opts.who, err);
	if (!r) {
		opts.dir = dir.data;
		r = recorder_run(&opts, &res, err);
		if (r && res.exec_error) {
			recdir_remove(dir.data, &opts.who);
			r = res.exec_error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
			cli_fail("tracer", err, r);
			goto out;
		}
		if (!r && !o->quiet)
			note(dir.data, &res);
		if (!r)
			r = WIFSIGNALED(res.status) ? 128 + WTERMSIG(res.status) :
			    WEXITSTATUS(res.status);
	}
out:
	buf_release(&dir);
	return r;
}

int main(int argc, char **argv)
{
	struct record_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
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
