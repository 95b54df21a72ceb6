/* SPDX-License-Identifier: MIT */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

/* What `report` does instead of comparing: for user/cmd/report*.c alone. */
#include "cmd/report_opts.h"
#include "out/outstream.h"
#include "store/store.h"

/* Where it is written: opened when there is something, so that an error empties no file. */
struct report_out {
	const struct report_opts *opts;
	struct out_stream stream;
	bool open;
};
/* The stream; NULL and @err. */
struct out_stream *report_stream(struct report_out *o, struct err *err);

/* Each prints to @out; 0 or -errno. */
int report_list(struct store *s, const struct report_opts *opts, struct report_out *out,
		struct err *err);
int report_history(struct store *s, const struct report_opts *opts, struct report_out *out,
		   struct err *err);
int report_import(struct store *s, const struct report_opts *opts, struct report_out *out,
		  struct err *err);
int report_forget(struct store *s, const struct report_opts *opts, struct report_out *out,
		  struct err *err);

#endif
