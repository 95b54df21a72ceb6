/* SPDX-License-Identifier: MIT */
#ifndef REPORT_RENDER_H
#define REPORT_RENDER_H

/*
 * The formats of `tracer report`: a row of a table each. All of them take any report
 * that is well formed (arrays of the stated lengths, terminated strings), whatever its
 * strings and figures are. They block as the stream does and draw no conclusions of
 * their own: each says what the struct says.
 */
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "out/out.h"
#include "out/outstream.h"
#include "report/regress.h"

struct render_opts {
	unsigned int width;	/* text: terminal columns; 0: as out_opts.width */
	enum out_color color;	/* text */
	enum out_charset charset;	/* text */
	size_t rows;		/* text, markdown: most rows of a table; 0: all */
	bool all;		/* text: also what is the same, and whole stacks */
	bool strict;		/* junit: what is inconclusive has failed */
};

#define RENDER_ROWS_DEFAULT 20
#define RENDER_OPTS_INIT { .rows = RENDER_ROWS_DEFAULT }

struct render_format {
	const char *name;
	/*
	 * Writes @r to @o. Returns 0, or -ENOMEM with @err. Errors of writing stay on
	 * the stream: out_stream_close reports them.
	 */
	int (*report)(const struct regress *r, const struct render_opts *opts,
		      struct out_stream *o, struct err *err);
};

extern const struct render_format render_text, render_markdown, render_json, render_junit,
	render_html;

/* All of them, for help and completion; the first is the default. */
extern const struct render_format *const render_formats[];
extern const size_t render_nformats;

/* "text", "markdown", "json", "junit", "html"; NULL: there is none of that name. */
const struct render_format *render_find(const char *name);

#endif
