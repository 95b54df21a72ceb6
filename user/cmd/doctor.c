/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/selfdir.h"
#include "cmd/doctor_opts.h"
#include "cmd/session.h"
#include "collect/host.h"
#include "collect/probe.h"
#include "out/checkup.h"
#include "tracer/version.h"

#define EXIT_BROKEN 1
#define EXIT_FAILED 2

static int print(const struct checkup *c, const struct doctor_opts *o, struct err *err)
{
	struct out_opts opts = { .color = (enum out_color)o->color };
	struct out_stream out;
	int r = o->output ? out_stream_open(&out, o->output, err) :
			    out_stream_init(&out, STDOUT_FILENO, "standard output", 0, err);
	int closed;
	struct err later = {};

	if (r)
		return r;
	r = o->json ? checkup_json(c, &out, err) : checkup_table(c, &opts, &out, err);
	closed = out_stream_close(&out, &later);
	if (r || !closed)
		return r;
	*err = later;
	return closed;
}

static int doctor(struct checkup *c, const struct doctor_opts *o, struct err *err)
{
	char libexec[4096];
	struct probe_opts opts = {
		.libexec_dir = libexec,
		.attach_way = secure_getenv("TRACER_ATTACH_WAY"),
	};

	if (selfdir(libexec, sizeof(libexec), err))
		return -err->code;
	c->version = TRACER_VERSION;
	/* First: trying takes descriptors and may change what can be seen. */
	host_look(c, libexec);
	if (probe_run(c, &opts, err))
		return -err->code;
	return print(c, o, err);
}

int doctor_main(int argc, char **argv)
{
	struct checkup *c = calloc(1, sizeof(*c));
	struct doctor_opts o;
	struct err err = {};
	int code = doctor_opts_parse(&o, argc, argv, &err);

	if (code) {
		free(c);
		return code == CLI_WANTS_HELP ? session_help("doctor") :
						session_fail(&err, EXIT_FAILED);
	}
	if (!c)
		err_sys(&err, ENOMEM, "cannot look at this machine");
	if (!c || doctor(c, &o, &err))
		code = session_fail(&err, EXIT_FAILED);
	else
		code = c->works ? 0 : EXIT_BROKEN;
	free(c);
	return code;
}
