/* SPDX-License-Identifier: MIT */
/*
 * The executable behind replay, dump, ps, ls and pack: it needs no privilege, and links neither
 * libbpf nor what traces.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "cli/term.h"
#include "cmd/replay_gdb.h"
#include "cmd/replay_opts.h"
#include "cmd/replay_pack.h"
#include "cmd/replay_stack.h"
#include "rr/recabout.h"
#include "rr/recdir.h"
#include "rr/recdump.h"
#include "rr/recls.h"
#include "rr/recps.h"
#include "rr/replayer.h"

#define EXIT_ERROR 2

static void warn_of_processor(const char *dir)
{
	struct err why = { 0 };
	struct recabout about;

	if (!recabout_read(&about, dir) && !recabout_fits(&about, &why))
		cli_fail("tracer", &why, 0);
	recabout_release(&about);
}

static void on_diverged(void *ctx, pid_t pid, const struct user_regs_struct *regs)
{
	replay_stack_add(ctx, pid, regs);
}

/* Where it did, and what the recorder had warned of. */
static void tell_diverged(const struct replay_opts *o, const struct buf *stack,
			  const struct err *err)
{
	struct err what = *err;
	struct recabout about;
	struct buf b = BUF_INIT, warned = BUF_INIT;

	what.hint[0] = '\0';
	cli_fail("tracer", &what, 0);
	buf_add(&b, stack->data, stack->len);
	if (err->hint[0])
		buf_addf(&b, "tracer: %s\n", err->hint);
	if (!recabout_read(&about, o->dir) && about.warnings.len)
		buf_addf(&warned, "tracer: warned of when it was recorded: %s",
			 about.warnings.data);
	/* It is of files that others have named. */
	if (warned.len)
		cli_line_text(&b, warned.data);
	io_write_all(STDERR_FILENO, b.data, b.len);
	recabout_release(&about);
	buf_release(&warned);
	buf_release(&b);
}

static int run_again(const struct replay_opts *o, struct replayer_result *res, struct err *err)
{
	struct buf stack = BUF_INIT;
	const struct replayer_opts opts = { .dir = o->dir, .output = true,
					    .diverged = on_diverged, .ctx = &stack };
	int r = replayer_run(&opts, res, err);

	if (r == -EILSEQ) {
		tell_diverged(o, &stack, err);
		r = EXIT_ERROR;
	}
	buf_release(&stack);
	return r;
}

/* Of an event that the recording does not come to. */
static void warn_of_event(const struct replay_opts *o)
{
	struct recabout about;
	struct err why;

	if (!recabout_read(&about, o->dir) && about.ended && about.events < o->event) {
		err_set(&why, ERANGE, "the recording has %" PRIu64 " events: this is its end",
			about.events);
		err_hint(&why, "'tracer dump' lists them");
		cli_fail("tracer", &why, 0);
	}
	recabout_release(&about);
}

static int replay(const struct replay_opts *o, struct err *err)
{
	struct replayer_result res;
	int r;

	warn_of_processor(o->dir);
	warn_of_event(o);
	if (!o->run)
		return replay_gdb(o, err);
	r = run_again(o, &res, err);
	if (r)
		return r;
	return WIFSIGNALED(res.status) ? 128 + WTERMSIG(res.status) : WEXITSTATUS(res.status);
}

static int dump(const struct replay_opts *o, struct err *err)
{
	return recdump(o->dir, STDOUT_FILENO, err);
}

static int print(struct buf *b, struct err *err)
{
	int r = b->failed ? -ENOMEM : io_write_all(STDOUT_FILENO, b->data, b->len);

	buf_release(b);
	return r ? err_sys(err, -r, "cannot write to stdout") : 0;
}

static int ps(const struct replay_opts *o, struct err *err)
{
	struct buf b = BUF_INIT;
	int r = recps(&b, o->dir, err), w = b.len ? print(&b, err) : 0;

	return r ? r : w;
}

static int ls(const struct replay_opts *o, struct err *err)
{
	struct out_stream out;
	struct err late = { 0 };
	int r = out_stream_init(&out, STDOUT_FILENO, "standard output", 0, err), w;

	if (r)
		return r;
	r = recls(&out, o->json, err);
	if (!r && !o->json)
		cli_fail("tracer", err, 0);
	w = out_stream_close(&out, r < 0 ? &late : err);
	return r < 0 ? r : w;
}

static const struct {
	const struct cli_cmd *cmd;
	int (*run)(const struct replay_opts *o, struct err *err);
} commands[] = { { &replay_cmd, replay }, { &dump_cmd, dump }, { &ps_cmd, ps }, { &ls_cmd, ls },
	       { &pack_cmd, replay_pack } };

static int run(int argc, char **argv, struct err *err)
{
	struct buf dir = BUF_INIT;
	struct replay_opts o;
	int r;

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].cmd->name))
			continue;
		r = replay_opts_parse(&o, commands[i].cmd, argc - 1, argv + 1, err);
		/* tracer prints help before it comes to this. */
		if (r == CLI_WANTS_HELP)
			break;
		if (!r && commands[i].run != ls) {
			r = o.dir ? recdir_named(&dir, o.dir, err) : recdir_newest(&dir, err);
			o.dir = dir.data;
		}
		r = r ? r : commands[i].run(&o, err);
		buf_release(&dir);
		return r;
	}
	err_set(err, EINVAL, "this program is run by tracer, not by itself");
	err_hint(err, "as in 'tracer replay -a'");
	return -EINVAL;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	int r;

	io_hold_standard_fds();
	r = run(argc, argv, &err);
	return r < 0 ? cli_fail("tracer", &err, EXIT_ERROR) : r;
}
