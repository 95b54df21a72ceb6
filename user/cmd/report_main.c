/* SPDX-License-Identifier: MIT */
/* The executable behind report: it reads the store, and neither traces nor links libbpf. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term.h"
#include "cmd/report.h"
#include "cmd/runstore.h"
#include "report/render.h"
#include "report/side.h"

#define EXIT_ERROR 2
#define EXIT_WORSE 1
#define EXIT_UNKNOWN 3

static int write_report(const struct report_opts *opts, const struct regress *r,
			struct out_stream *o, struct err *err)
{
	struct render_opts ro = RENDER_OPTS_INIT;

	ro.color = (enum out_color)opts->color;
	ro.rows = opts->rows;
	ro.all = opts->all;
	ro.strict = opts->strict;
	return render_find(report_format_names[opts->format < 0 ? REPORT_TEXT : opts->format])
		->report(r, &ro, o, err);
}

/* An exit code, or -errno. */
static int compare(struct store *s, const struct report_opts *opts, struct report_out *out,
		   struct err *err)
{
	struct out_stream *o;
	struct side base = { 0 }, now = { 0 };
	struct regress_input in[2];
	struct regress r;
	int rc = side_find(&base, s, opts->base, err);

	if (!rc)
		rc = side_find(&now, s, opts->now, err);
	if (!rc) {
		in[0] = side_input(&base);
		in[1] = side_input(&now);
		rc = regress_build(&r, &in[0], &in[1], NULL, err);
	}
	if (!rc) {
		o = report_stream(out, err);
		rc = o ? write_report(opts, &r, o, err) : -err->code;
		if (!rc && r.verdict == COMPARE_WORSE)
			rc = EXIT_WORSE;
		else if (!rc && r.verdict == COMPARE_INCONCLUSIVE && opts->strict)
			rc = EXIT_UNKNOWN;
		regress_release(&r);
	}
	side_release(&base);
	side_release(&now);
	return rc;
}

static int act(struct store *s, const struct report_opts *opts, struct report_out *o,
	       struct err *err)
{
	if (opts->list)
		return report_list(s, opts, o, err);
	if (opts->history)
		return report_history(s, opts, o, err);
	if (opts->import)
		return report_import(s, opts, o, err);
	if (opts->forget)
		return report_forget(s, opts, o, err);
	return compare(s, opts, o, err);
}

/* Two files need no store, and none has to be there for them. */
static int open_store(const struct report_opts *opts, struct store **s, struct err *err)
{
	enum store_mode mode = opts->import ? STORE_CREATE : opts->forget ? STORE_WRITE :
			       STORE_READ;
	struct caller c;
	bool as_root;
	int r;

	(void)caller_find(&c);
	*s = runstore_open(&c, opts->store, mode, &as_root, err);
	/* Nothing else here needs root, whosever the store is. */
	r = caller_become(&c);
	if (r)
		return err_sys(err, -r, "cannot become the user who called");
	if (*s)
		return 0;
	if (err->code == ENOENT && opts->base && !opts->store) {
		*err = (struct err){ 0 };
		return 0;
	}
	return -err->code;
}

struct out_stream *report_stream(struct report_out *o, struct err *err)
{
	if (!o->open && !out_stream_open(&o->stream, o->opts->output ? o->opts->output : "-", err))
		o->open = true;
	return o->open ? &o->stream : NULL;
}

/* What is read must not be what is written to. */
static int keep_inputs(const struct report_opts *opts, const struct store *s, struct err *err)
{
	const char *const inputs[] = { s ? store_name(s) : NULL, opts->base, opts->now,
				       opts->import };
	size_t i;

	for (i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		if (opts->output && inputs[i] && out_same_file(opts->output, inputs[i]))
			return err_set(err, EINVAL, "-o %s would overwrite what is read",
				       opts->output);
	return 0;
}

static int report(const struct report_opts *opts, struct err *err)
{
	struct store *s = NULL;
	struct report_out o = { .opts = opts };
	int r = open_store(opts, &s, err), closed;

	if (r)
		return r;
	r = keep_inputs(opts, s, err);
	if (!r)
		r = act(s, opts, &o, err);
	if (o.open) {
		closed = out_stream_close(&o.stream, r < 0 ? &(struct err){ 0 } : err);
		r = r < 0 ? r : closed ? closed : r;
	}
	store_close(s);
	return r;
}

int main(int argc, char **argv)
{
	struct report_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	/* A closed pipe or a file at its limit is an error to be told. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	r = argc < 2 || strcmp(argv[1], "report") ? CLI_WANTS_HELP :
	    report_opts_parse(&o, argc - 1, argv + 1, &err);
	/* tracer prints help before it comes to this. */
	if (r == CLI_WANTS_HELP) {
		err_set(&err, EINVAL, "this program is run by tracer, not by itself");
		err_hint(&err, "as in 'tracer report BASE NEW'");
	}
	if (!r)
		r = report(&o, &err);
	return r < 0 || err.code ? cli_fail("tracer", &err, EXIT_ERROR) : r;
}
