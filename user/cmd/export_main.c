/* SPDX-License-Identifier: MIT */
/* The executable behind export: it reads files and links neither libbpf nor what traces. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term.h"
#include "cmd/export_opts.h"
#include "out/out.h"
#include "out/summary_read.h"
#include "out/timeline.h"

#define EXIT_ERROR 2

static void note(const struct export_opts *o, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(const struct export_opts *o, const char *fmt, ...)
{
	va_list ap;

	if (o->quiet)
		return;
	va_start(ap, fmt);
	cli_vnote("tracer", fmt, ap);
	va_end(ap);
}

static const char *input_name(const struct export_opts *o)
{
	return o->input && strcmp(o->input, "-") ? o->input : "standard input";
}

static int open_input(const struct export_opts *o, struct err *err)
{
	struct stat st;
	int fd = STDIN_FILENO;

	if (o->input && strcmp(o->input, "-")) {
		fd = open(o->input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return err_sys(err, errno, "cannot open %s", o->input);
	} else if (!o->input && isatty(fd)) {
		err_set(err, EINVAL, "no file is given");
		err_hint(err, "as in 'tracer export run.json', of what 'tracer run --json -o "
			 "run.json' saved; - waits for stdin");
		return -EINVAL;
	}
	/* Told at once, and not when half of memory is full of it. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size > EXPORT_FILE_BYTES)
		return -EFBIG;
	return fd;
}

static int read_input(const struct export_opts *o, struct buf *text, struct err *err)
{
	int r = 0, fd = open_input(o, err);

	if (fd >= 0)
		r = io_read_fd(fd, text, EXPORT_FILE_BYTES);
	if (fd > STDERR_FILENO)
		close(fd);
	if (fd == -EFBIG || r == -EFBIG)
		return err_set(err, EFBIG, "cannot read %s: it has more than %" PRIu64 " MiB",
			       input_name(o), EXPORT_FILE_BYTES >> 20);
	if (fd < 0)
		return fd;
	return r ? err_sys(err, -r, "cannot read %s", input_name(o)) : 0;
}

static int bad_input(const struct export_opts *o, int r, struct err *err)
{
	if (r == -EINVAL && !err->hint[0])
		err_hint(err, "export reads what 'tracer run --json -o FILE' saves");
	return err_prefix(err, "cannot read %s", input_name(o));
}

static int open_output(const struct export_opts *o, struct out_stream *out, struct err *err)
{
	int r;

	if (o->to == EXPORT_PPROF && isatty(STDOUT_FILENO) &&
	    (!o->output || !strcmp(o->output, "-"))) {
		r = err_set(err, EINVAL, "a profile is not for a terminal");
		err_hint(err, "as in 'tracer export --to pprof -o run.pb.gz run.json'");
		return r;
	}
	return out_stream_open(out, o->output ? o->output : "-", err);
}

static int export_timeline(const struct export_opts *o, const struct buf *text, struct err *err)
{
	struct out_stream out;
	struct timeline t;
	int r;

	if (o->to != EXPORT_PERFETTO) {
		r = err_set(err, EINVAL, "%s is a timeline, of which --to perfetto is all that can "
			    "be made", input_name(o));
		err_hint(err, "--to %s is made of what 'tracer run --json -o FILE' saves",
			 export_format_names[o->to]);
		return r;
	}
	r = timeline_check(&t, text->data, text->len, err);
	if (r)
		return bad_input(o, r, err);
	r = open_output(o, &out, err);
	if (r)
		return r;
	timeline_write(&t, text->data, text->len, &out);
	r = out_stream_close(&out, err);
	if (!r && t.cut)
		note(o, "%s ends too soon: ended behind the last of %" PRIu64 " whole events",
		     input_name(o), t.events);
	return r;
}

static int write_summary(const struct export_opts *o, const struct summary *s, struct err *err)
{
	const struct out_format *format = out_format_find(export_format_names[o->to]);
	const struct out_opts opts = {
		.rows = o->rows == UINT64_MAX ? OUT_ROWS_DEFAULT : o->rows,
		.stacks = o->stacks,
		.threads = o->threads,
		.sort = o->sort < 0 ? OUT_SORT_TIME : (enum out_sort)o->sort,
		.color = (enum out_color)o->color,
		.weight = o->weight < 0 ? OUT_WEIGHT_TIME : (enum out_weight)o->weight,
		.csv_table = export_csv_table(o),
	};
	struct out_stream out;
	struct err later;
	int r = open_output(o, &out, err), closed;

	if (r)
		return r;
	r = format->summary(s, &opts, &out, err);
	closed = out_stream_close(&out, r ? &later : err);
	return r ? r : closed;
}

static int export_summary(const struct export_opts *o, const struct buf *text, struct err *err)
{
	struct summary_file f;
	int r = summary_read(&f, text->data, text->len, err);

	if (r)
		return bad_input(o, r, err);
	r = write_summary(o, &f.s, err);
	if (!r && o->to == EXPORT_PERFETTO && f.s.threads.by_thread_cut)
		note(o, "%" PRIu64 " threads are not drawn: the summary keeps %" PRIu64,
		     f.s.threads.by_thread_cut, f.s.threads.by_thread_cap);
	if (!r && (o->to == EXPORT_FOLDED || o->to == EXPORT_PPROF) &&
	    !(f.s.collected & SUM_FUTEX))
		note(o, "nothing is in it: locks were not collected");
	summary_file_release(&f);
	return r;
}

int main(int argc, char **argv)
{
	struct buf text = { .max = EXPORT_FILE_BYTES + 1 };
	struct export_opts o;
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	/* A closed pipe or a file at its limit is an error to be told. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	r = argc < 2 || strcmp(argv[1], "export") ? CLI_WANTS_HELP :
	    export_opts_parse(&o, argc - 1, argv + 1, &err);
	/* tracer prints help before it comes to this. */
	if (r == CLI_WANTS_HELP) {
		err_set(&err, EINVAL, "this program is run by tracer, not by itself");
		err_hint(&err, "as in 'tracer export run.json'");
	}
	if (r)
		return cli_fail("tracer", &err, EXIT_ERROR);
	r = read_input(&o, &text, &err);
	if (!r && timeline_is(text.data, text.len))
		r = export_timeline(&o, &text, &err);
	else if (!r)
		r = export_summary(&o, &text, &err);
	buf_release(&text);
	return r ? cli_fail("tracer", &err, EXIT_ERROR) : 0;
}
