/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "out/view.h"

static void (*const sections[])(struct view *v) = {
	view_head, view_loss, view_findings, view_threads, view_locks, view_pipes, view_syscalls,
	view_sched,
};

static int table_summary(const struct summary *s, const struct out_opts *opts,
			 struct out_stream *o, struct err *err)
{
	struct view v;
	size_t i;

	view_init(&v, s, opts, o);
	for (i = 0; i < sizeof(sections) / sizeof(*sections) && !v.failed; i++)
		sections[i](&v);
	return v.failed ? err_sys(err, ENOMEM, "cannot print the summary") : 0;
}

const struct out_format out_format_table = { "table", table_summary };
