/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

/* What `report` does instead of comparing: for user/cmd/report*.c alone. */
#include "cmd/report_opts.h"
#include "out/outstream.h"
#include "store/store.h"

/* Each prints to @o, or to stderr what was done; 0 or -errno. */
int report_list(struct store *s, const struct report_opts *opts, struct out_stream *o,
		struct err *err);
int report_history(struct store *s, const struct report_opts *opts, struct out_stream *o,
		   struct err *err);
int report_import(struct store *s, const struct report_opts *opts, struct out_stream *o,
		  struct err *err);
int report_forget(struct store *s, const struct report_opts *opts, struct out_stream *o,
		  struct err *err);

#endif
