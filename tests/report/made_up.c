/* SPDX-License-Identifier: MIT */
/*
 * Prints a made-up report: made_up REPORT FORMAT [WIDTH [all] [strict] [color] [ascii]].
 * What a report is called stands in tests/unit/fixture_regress.h.
 */
#include <stdio.h>
#include <unistd.h>

#include "../unit/fixture_regress.h"
#include "report/render.h"

static int fail(const char *what, const char *which)
{
	fprintf(stderr, "made_up: %s '%s'\n", what, which);
	return 2;
}

static int print(const struct regress *r, const struct render_format *format,
		 const struct render_opts *opts)
{
	struct err err = { 0 };
	struct out_stream o;

	if (out_stream_init(&o, STDOUT_FILENO, "standard output", 0, &err) ||
	    format->report(r, opts, &o, &err) || out_stream_close(&o, &err))
		return fail("cannot print", err.msg);
	return 0;
}

int main(int argc, char **argv)
{
	struct render_opts opts = RENDER_OPTS_INIT;
	static struct fixture_regress f;
	const struct render_format *format;
	size_t i;
	int a;

	if (argc < 3)
		return fail("usage:", "made_up REPORT FORMAT [WIDTH [WORD…]]");
	format = render_find(argv[2]);
	if (!format)
		return fail("there is no format", argv[2]);
	opts.charset = OUT_CHARSET_UTF8;
	opts.color = OUT_COLOR_NEVER;
	opts.width = argc > 3 ? (unsigned int)atoi(argv[3]) : 0;
	for (a = 4; a < argc; a++) {
		opts.all |= !strcmp(argv[a], "all");
		opts.strict |= !strcmp(argv[a], "strict");
		if (!strcmp(argv[a], "color"))
			opts.color = OUT_COLOR_ALWAYS;
		if (!strcmp(argv[a], "ascii"))
			opts.charset = OUT_CHARSET_ASCII;
	}
	for (i = 0; i < FIXTURE_R_ROWS; i++) {
		if (strcmp(fixture_regress_rows[i].name, argv[1]))
			continue;
		fixture_regress_rows[i].fill(&f);
		return print(&f.r, format, &opts);
	}
	return fail("there is no report", argv[1]);
}
