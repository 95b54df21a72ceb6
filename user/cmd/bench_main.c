/* SPDX-License-Identifier: MIT */
/* The executable behind bench: it traces and stores. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term.h"
#include "cmd/bench.h"
#include "collect/privilege.h"

#define EXIT_ERROR 2

static int bench(const struct bench_opts *o, struct err *err)
{
	struct bench b;
	int r = bench_open(&b, o, err);

	if (!r)
		r = bench_run(&b, err);
	if (!r && b.whole)
		r = bench_show(&b, err);
	else if (!r)
		bench_note(&b, "ended early: %" PRIu64 " run%s stored", b.order,
			   b.order == 1 ? " is" : "s are");
	else if (b.order)
		bench_note(&b, "%" PRIu64 " run%s before it %s stored", b.order,
			   b.order == 1 ? "" : "s", b.order == 1 ? "is" : "are");
	if (r >= 0 && b.stopped) {
		r = 128 + b.stopped;
	} else if (r >= 0 && b.cleanup.code) {
		*err = b.cleanup;
		r = -err->code;
	}
	bench_close(&b);
	return r;
}

int main(int argc, char **argv)
{
	struct bench_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	r = argc < 2 || strcmp(argv[1], "bench") ? CLI_WANTS_HELP :
	    bench_opts_parse(&o, argc - 1, argv + 1, &err);
	/* tracer prints help before it comes to this. */
	if (r == CLI_WANTS_HELP) {
		err_set(&err, EINVAL, "this program is run by tracer, not by itself");
		err_hint(&err, "as in 'tracer bench -- ls -l'");
	}
	if (!r && privilege_begin(&err))
		r = -err.code;
	if (!r)
		r = bench(&o, &err);
	return r < 0 || err.code ? cli_fail("tracer", &err, EXIT_ERROR) : r;
}
