/* SPDX-License-Identifier: MIT */
#ifndef COLLECT_PROBE_H
#define COLLECT_PROBE_H

/*
 * What this kernel and this privilege can do, by trying: rings and maps are
 * made, each program is loaded and attached by itself, by the rows and functions
 * that a trace uses, and at last one is begun, which measures what it costs.
 */
#include "base/err.h"
#include "out/checkup.h"

struct probe_opts {
	const char *libexec_dir;	/* of tracer-sym */
	const char *attach_way;		/* as of struct live_setup; NULL */
};

/*
 * Fills the parts, ways, collectors, the cost and what root would add. Takes
 * about half a second. What fails is a result; an error is only -EINVAL for a
 * way that does not exist, and -ENOMEM.
 */
int probe_run(struct checkup *c, const struct probe_opts *opts, struct err *err);

#endif
