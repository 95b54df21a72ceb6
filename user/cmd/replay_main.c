/* SPDX-License-Identifier: MIT */
/* The executable behind replay: it needs no privilege, and links neither libbpf nor what traces. */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/term.h"
#include "cmd/record_opts.h"
#include "rr/recdir.h"
#include "rr/recdump.h"
#include "rr/replayer.h"

#define EXIT_ERROR 2

static int replay(const struct replay_opts *o, struct err *err)
{
	struct replayer_opts opts = { .output = true };
	struct replayer_result res;
	struct buf dir = BUF_INIT;
	int r = 0;

	if (!o->dir)
		r = recdir_newest(&dir, err);
	opts.dir = o->dir ? o->dir : dir.data;
	if (!r && o->dump) {
		r = recdump(opts.dir, STDOUT_FILENO, err);
	} else if (!r) {
		r = replayer_run(&opts, &res, err);
		if (!r)
			r = WIFSIGNALED(res.status) ? 128 + WTERMSIG(res.status) :
			    WEXITSTATUS(res.status);
	}
	buf_release(&dir);
	return r;
}

int main(int argc, char **argv)
{
	struct replay_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	r = argc < 2 || strcmp(argv[1], "replay") ? CLI_WANTS_HELP :
	    replay_opts_parse(&o, argc - 1, argv + 1, &err);
	/* tracer prints help before it comes to this. */
	if (r == CLI_WANTS_HELP) {
		err_set(&err, EINVAL, "this program is run by tracer, not by itself");
		err_hint(&err, "as in 'tracer replay -a'");
		r = -EINVAL;
	}
	if (!r)
		r = replay(&o, &err);
	return r < 0 ? cli_fail("tracer", &err, EXIT_ERROR) : r;
}
