/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The store belongs to who called sudo, as do its files: it is opened and written
 * with that user's ids. Each run is a transaction of its own, made before the next run
 * begins.
 */
#include "cmd/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/selfdir.h"
#include "cli/term.h"
#include "cmd/runstore.h"
#include "collect/live.h"
#include "out/escape.h"
#include "out/out.h"
#include "report/values.h"
#include "store/text.h"
#include "tracer/version.h"

void bench_note(const struct bench *b, const char *fmt, ...)
{
	va_list ap;

	if (b->o->quiet)
		return;
	bench_progress(b, NULL, 0, 0);
	va_start(ap, fmt);
	cli_vnote("tracer", fmt, ap);
	va_end(ap);
}

#define CLEAR_LINE "\r\33[K"

void bench_progress(const struct bench *b, const char *what, uint64_t done, uint64_t all)
{
	uint64_t passed = clock_mono_ns() - b->began_ns;
	char line[160];
	int n;

	if (!b->progress)
		return;
	if (!what)
		n = snprintf(line, sizeof(line), CLEAR_LINE);
	else if (!done)
		n = snprintf(line, sizeof(line), CLEAR_LINE "%s 1 of %" PRIu64, what, all);
	else
		n = snprintf(line, sizeof(line), CLEAR_LINE "%s %" PRIu64 " of %" PRIu64
			     ", some %.0f s left", what, done + 1, all,
			     (double)passed / (double)done * (double)(all - done) / 1e9);
	(void)io_write_all(STDERR_FILENO, line, (size_t)n);
}

/* ---- opening ---- */

/* As a JSON array; bytes that are no text become what JSON has for them. */
static int argv_json(struct bench_side *s, struct err *err)
{
	size_t i;

	buf_addc(&s->argv_json, '[');
	for (i = 0; s->argv[i]; i++) {
		buf_adds(&s->argv_json, i ? ", \"" : "\"");
		escape_json(&s->argv_json, s->argv[i], strlen(s->argv[i]));
		buf_addc(&s->argv_json, '"');
	}
	buf_addc(&s->argv_json, ']');
	return s->argv_json.failed ? err_sys(err, ENOMEM, "cannot keep the command line") : 0;
}

static int make_side(struct bench *b, enum store_side which, struct err *err)
{
	struct bench_side *s = &b->side[which];
	const char *label = which == STORE_COMMAND ? b->o->label : b->o->vs_label;

	if (argv_json(s, err))
		return -err->code;
	s->bench = (struct store_bench){
		.side = which,
		.label = label ? label : "",
		.argv = s->argv_json.data,
		.cwd = b->cwd,
		.commit = b->commit,
		.dirty = b->dirty,
		.tracer = TRACER_VERSION,
		.source = "bench",
		.planned = b->o->warmup + b->o->runs,
		.when_ns = clock_real_ns(),
		.load = b->machine.load,
		.steal = b->machine.steal,
		.machine = b->machine.facts,
	};
	return 0;
}

static int watch_signals(struct bench *b, struct err *err)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!sigaction(numbers[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, &b->old_mask);
	b->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return b->signal_fd < 0 ? err_sys(err, errno, "cannot wait for signals") : 0;
}

static int take_signal(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static int check_label(const char *option, const char *label, struct err *err)
{
	if (!label)
		return 0;
	if (!strcmp(label, "-"))
		return err_set(err, EINVAL, "%s: - stands for benches without a label", option);
	return text_check("label", label, err) ? err_prefix(err, "%s", option) : 0;
}

/* Before hours of runs, not after them. */
static int check_output(const struct bench *b, struct err *err)
{
	int raised, r = caller_lower(&b->caller);

	if (r)
		return err_sys(err, -r, "cannot become the user who called");
	if (out_same_file(b->o->output, store_name(b->store)))
		r = err_set(err, EINVAL, "-o %s is the store", b->o->output);
	else if (strcmp(b->o->output, "-"))
		r = out_file_check(b->o->output, err);
	raised = caller_raise(&b->caller);
	return r || !raised ? r : err_sys(err, -raised, "cannot be root again");
}

int bench_open(struct bench *b, const struct bench_opts *o, struct err *err)
{
	char cwd[sizeof(b->cwd)] = "";
	struct buf text = BUF_INIT;
	bool as_root;
	size_t i;

	memset(b, 0, sizeof(*b));
	b->o = o;
	b->signal_fd = -1;
	b->nside = o->vs ? 2 : 1;
	b->side[STORE_COMMAND].argv = o->argv;
	b->how = o->mode == BENCH_TIMES ? MEASURE_TIMES : o->mode == BENCH_WAIT ? MEASURE_WAIT :
		 MEASURE_EXACT;
	b->progress = !o->quiet && isatty(STDERR_FILENO);
	if (check_label("--label", o->label, err) || check_label("--vs-label", o->vs_label, err))
		return -err->code;
	(void)caller_find(&b->caller);
	if (o->vs && cmdline_split(&b->vs, o->vs, err))
		return err_prefix(err, "--vs");
	b->side[STORE_BASELINE].argv = b->vs.word;
	if (getcwd(cwd, sizeof(cwd)))
		escape_term(&text, cwd, strlen(cwd), false);
	snprintf(b->cwd, sizeof(b->cwd), "%s", text.data ? text.data : "");
	buf_release(&text);
	if (selfdir(b->libexec, sizeof(b->libexec), err))
		return -err->code;
	if (machine_look(&b->machine))
		return err_sys(err, ENOMEM, "cannot look at the machine");
	b->store = runstore_open(&b->caller, o->store, STORE_CREATE, &as_root, err);
	b->store_caller = as_root ? (struct caller){ 0 } : b->caller;
	if (!b->store)
		return -err->code;
	if (o->output && check_output(b, err))
		return -err->code;
	machine_commit(b->commit, &b->dirty);
	for (i = 0; i < b->nside; i++)
		if (make_side(b, (enum store_side)i, err))
			return -err->code;
	return watch_signals(b, err);
}

void bench_close(struct bench *b)
{
	size_t i;

	store_close(b->store);
	for (i = 0; i < 2; i++)
		buf_release(&b->side[i].argv_json);
	cmdline_release(&b->vs);
	machine_release(&b->machine);
	live_free(b->trace);
	if (b->signal_fd >= 0)
		close(b->signal_fd);
}

/* ---- a run ---- */

/* What sh was to do around the runs. */
static int run_shell(struct bench *b, const char *option, const char *command, struct err *err)
{
	char *argv[] = { (char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c",
			 (char *)(uintptr_t)command, NULL };
	struct measure_setup setup = {
		.silent = !b->o->show_output, .mask = &b->old_mask, .stop_fd = b->signal_fd,
		.stop_signal = take_signal,
	};
	struct measured m;

	if (!command)
		return 0;
	if (measure_run(&setup, argv, &m, err))
		return -err->code;
	if (m.stopped)
		b->stopped = m.stopped;
	if (m.status && !m.stopped) {
		err_set(err, EIO, "--%s: the command failed (%s %d)", option,
			WIFSIGNALED(m.status) ? "signal" : "exit",
			WIFSIGNALED(m.status) ? WTERMSIG(m.status) : WEXITSTATUS(m.status));
		err_hint(err, "--show-output shows what it said");
		return -EIO;
	}
	return 0;
}

/* The summary as JSON, in memory. */
static int write_detail(const struct summary *s, struct buf *to, struct err *err)
{
	struct out_opts opts = { 0 };
	struct out_stream out;
	int fd = memfd_create("tracer-detail", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_sys(err, errno, "cannot keep the summary");
	r = out_stream_init(&out, fd, "memory", 0, err);
	if (!r) {
		r = out_format_json.summary(s, &opts, &out, err);
		if (out_stream_close(&out, err) && !r)
			r = -err->code;
	}
	if (!r && (lseek(fd, 0, SEEK_SET) || io_read_fd(fd, to, STORE_DETAIL_MAX)))
		r = err_sys(err, ENOMEM, "cannot keep the summary");
	close(fd);
	return r;
}

/* A bench is stored with its first run: one that never ran leaves nothing. */
static int add_run(struct bench *b, struct bench_side *s, struct store_run *run,
		   const struct store_measured *m, struct err *err)
{
	static const char *const modes[] = {
		[MEASURE_TIMES] = "times", [MEASURE_WAIT] = "wait", [MEASURE_EXACT] = "exact",
	};
	int r = 0;

	if (!s->bench.key) {
		s->bench.mode = modes[b->how];
		/* The command's side runs first. */
		if (s->bench.side == STORE_BASELINE)
			memcpy(s->bench.group, b->side[STORE_COMMAND].bench.id,
			       sizeof(s->bench.group));
		r = store_add_bench(b->store, &s->bench, err);
	}
	return r ? r : store_add_run(b->store, &s->bench, run, m, err);
}

static int add_run_lowered(struct bench *b, struct bench_side *s, struct store_run *run,
			   const struct store_measured *m, struct err *err)
{
	int r = caller_lower(&b->store_caller), raised;

	if (r)
		return err_sys(err, -r, "cannot become the user who called");
	r = add_run(b, s, run, m, err);
	raised = caller_raise(&b->store_caller);
	if (!r && raised)
		r = err_sys(err, -raised, "cannot be root again");
	return r;
}

static int keep_run(struct bench *b, struct bench_side *s, const struct measured *m, bool warmup,
		    struct err *err)
{
	struct store_run run = {
		.order = b->order, .start_ns = m->start_ns, .warmup = warmup,
		.exit_code = WIFEXITED(m->status) ? WEXITSTATUS(m->status) : 0,
		.signal = WIFSIGNALED(m->status) ? WTERMSIG(m->status) : 0,
	};
	struct buf detail = BUF_INIT;
	struct values v;
	int r;

	r = values_of(&v, &m->usage, m->has_summary ? &m->sum : NULL);
	if (r)
		err_sys(err, -r, "cannot keep a run");
	if (!r && m->has_summary)
		r = write_detail(&m->sum, &detail, err);
	if (!r)
		r = add_run_lowered(b, s, &run, &(struct store_measured){
			.value = v.value, .values = v.n,
			.detail = detail.data, .detail_len = detail.len }, err);
	if (!r && m->has_summary && m->sum.loss.total)
		bench_note(b, "%" PRIu64 " events were lost in run %" PRIu64
			   ": its counts are too low", m->sum.loss.total, b->order + 1);
	b->order += !r;
	values_release(&v);
	buf_release(&detail);
	return r;
}

static int failed(const struct bench *b, const struct bench_side *s, int status, struct err *err)
{
	if (!status || b->o->ignore_failure)
		return 0;
	err_set(err, EIO, "'%s' failed (%s %d)", s->argv[0],
		WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	err_hint(err, "--show-output shows what it said, -i goes on all the same");
	return -EIO;
}

static int measure(struct bench *b, struct bench_side *s, struct measured *m, struct err *err)
{
	struct measure_setup setup = {
		.how = b->how, .trace = &b->trace, .silent = !b->o->show_output, .user = b->o->user,
		.mask = &b->old_mask, .libexec_dir = b->libexec, .stop_fd = b->signal_fd,
		.stop_signal = take_signal,
	};
	int r = measure_run(&setup, s->argv, m, err);

	/* Nothing has run: what was refused is the tracing. */
	if (r == -EPERM && b->how != MEASURE_TIMES && b->o->mode == BENCH_AUTO && !b->order) {
		bench_note(b, "times alone: %s", err->msg);
		*err = (struct err){ 0 };
		b->how = setup.how = MEASURE_TIMES;
		r = measure_run(&setup, s->argv, m, err);
	}
	return r;
}

static int one_run(struct bench *b, struct bench_side *s, bool warmup, struct err *err)
{
	struct measured m;
	int r = run_shell(b, "prepare", b->o->prepare, err);

	if (r || b->stopped)
		return r;
	r = measure(b, s, &m, err);
	if (r)
		return r;
	b->stopped = m.stopped;
	/* What was broken off is no run. */
	r = b->stopped ? 0 : failed(b, s, m.status, err);
	if (!r && !b->stopped)
		r = keep_run(b, s, &m, warmup, err);
	measured_release(&m);
	return r;
}

/* The sides take turns in who is first, so that a drift meets both alike: ab ba ab ba. */
static int one_turn(struct bench *b, uint64_t turn, bool warmup, struct err *err)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && !b->stopped && i < b->nside; i++)
		r = one_run(b, &b->side[b->nside == 1 ? 0 : (i + turn) % 2], warmup, err);
	return r;
}

int bench_run(struct bench *b, struct err *err)
{
	uint64_t all = b->o->warmup + b->o->runs, turn;
	int r = run_shell(b, "setup", b->o->setup, err);

	b->began_ns = clock_mono_ns();
	for (turn = 0; !r && !b->stopped && turn < all; turn++) {
		bench_progress(b, turn < b->o->warmup ? "warm-up, run" : "run", turn, all);
		r = one_turn(b, turn, turn < b->o->warmup, err);
	}
	bench_progress(b, NULL, 0, 0);
	b->whole = !r && !b->stopped;
	/* What was measured is shown all the same. */
	(void)run_shell(b, "cleanup", b->o->cleanup, &b->cleanup);
	return r;
}
