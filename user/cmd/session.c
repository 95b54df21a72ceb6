/* SPDX-License-Identifier: MIT */
#include "cmd/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/selfdir.h"
#include "cli/term.h"
#include "collect/launch.h"
#include "out/out.h"
#include "report/diagnose.h"
#include "tracer/version.h"

/* Calls shorter than this are not drawn: a timeline of every call is unreadable. */
#define SLICE_MIN_NS 10000

static int open_output(struct session *s, int default_fd, struct err *err)
{
	const char *name = default_fd == STDERR_FILENO ? "standard error" : "standard output";
	int r;

	if (s->opts->output)
		r = out_stream_open(&s->out, s->opts->output, err);
	else
		r = out_stream_init(&s->out, default_fd, name, 0, err);
	s->out_open = !r;
	return r;
}

static int open_trace(struct session *s, struct err *err)
{
	if (!s->opts->trace)
		return 0;
	s->trace_fd = out_file_open(s->opts->trace, err);
	if (s->trace_fd < 0)
		return -err->code;
	s->trace = trace_out_new(s->trace_fd, err);
	return s->trace ? 0 : -err->code;
}

static int join_calls(struct session *s, struct err *err)
{
	struct buf *list = &s->calls_text;
	size_t i;

	if (!s->opts->calls.n)
		return 0;
	for (i = 0; i < s->opts->calls.n; i++)
		buf_addf(list, "%s%s", i ? "," : "", s->opts->calls.item[i]);
	if (list->failed)
		return err_sys(err, ENOMEM, "cannot read -e");
	return sysnames_parse_set(list->data, &s->calls, err);
}

int session_init(struct session *s, const struct live_opts *opts, int default_fd, struct err *err)
{
	memset(s, 0, sizeof(*s));
	s->opts = opts;
	s->trace_fd = s->signal_fd = s->epoll_fd = -1;
	if (selfdir(s->libexec, sizeof(s->libexec), err) || join_calls(s, err) ||
	    open_output(s, default_fd, err) ||
	    open_trace(s, err))
		return -err->code;
	return 0;
}

/* A trace without names is worth more than none. */
static void warn_of_names(struct session *s)
{
	struct err why = {};

	if (s->warned || !live_trouble(s->live, &why))
		return;
	s->warned = true;
	session_note(s, "%s", why.msg);
}

int session_open(struct session *s, bool targets_only, struct err *err)
{
	const struct live_opts *o = s->opts;
	struct live_setup setup = {
		.mode = o->mode == LIVE_MODE_EXACT ? SUM_EXACT : SUM_WAIT,
		.collect = o->collect,
		.ring_bytes = o->ring_bytes,
		.targets_only = targets_only,
		.comm = o->comm,
		.cgroup = o->cgroup,
		.calls = o->calls.n ? &s->calls : NULL,
		.paths = (const char *const *)o->paths.item,
		.npaths = o->paths.n,
		.stacks = (o->collect & SUM_FUTEX) != 0,
		.kernel_stacks = o->stacks || o->folded || s->watch,
		.watch = s->watch,
		.start_routines = o->start_routine && (o->collect & SUM_THREADS),
		.timeline = s->trace,
		.slice_min_ns = SLICE_MIN_NS,
		.libexec_dir = s->libexec,
		.debuginfod = o->debuginfod,
		.attach_way = secure_getenv("TRACER_ATTACH_WAY"),
	};

	if (s->user && launch_user(s->user, &setup.uid, err))
		return -err->code;
	setup.user = s->user != NULL;
	/*
	 * From here on a closed pipe or a file at its limit is an error to be told: by
	 * now the command's process is there, and has its own way.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	s->live = live_open(&setup, err);
	if (!s->live)
		return -err->code;
	warn_of_names(s);
	return 0;
}

static int watch_fd(struct session *s, int fd, uint32_t what, struct err *err)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = what };

	if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		return err_sys(err, errno, "cannot wait for signals");
	return 0;
}

/* Under nohup a hang-up is nothing; blocked, it would be told although it is ignored. */
static bool is_ignored(int signal_number)
{
	struct sigaction now;

	return !sigaction(signal_number, NULL, &now) && now.sa_handler == SIG_IGN;
}

int session_watch(struct session *s, int fd, struct err *err)
{
	sigemptyset(&s->watched);
	sigaddset(&s->watched, SIGINT);
	sigaddset(&s->watched, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(&s->watched, SIGHUP);
	if (s->resizes) {
		sigaddset(&s->watched, SIGWINCH);
		sigaddset(&s->watched, SIGCONT);
	}
	sigaddset(&s->watched, SIGQUIT);
	sigprocmask(SIG_BLOCK, &s->watched, &s->old_mask);
	s->signal_fd = signalfd(-1, &s->watched, SFD_CLOEXEC | SFD_NONBLOCK);
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->signal_fd < 0 || s->epoll_fd < 0)
		return err_sys(err, errno, "cannot wait for signals");
	if (watch_fd(s, s->signal_fd, 0, err))
		return -err->code;
	return fd >= 0 ? watch_fd(s, fd, SESSION_FD, err) : 0;
}

static int read_signal(struct session *s)
{
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return SESSION_NOTHING;
	if (info.ssi_signo == SIGTERM)
		return SESSION_TERMINATE;
	if (info.ssi_signo == SIGQUIT && !s->watch)
		return SESSION_NOTHING;	/* the command's; it has reached it too */
	if (info.ssi_signo == SIGWINCH)
		return SESSION_RESIZE;
	if (info.ssi_signo == SIGCONT)
		return SESSION_CONTINUE;
	s->interrupts++;
	return SESSION_INTERRUPT;
}

int session_wait(struct session *s, int timeout_ms)
{
	struct epoll_event ev;
	int r = live_tick(s->live, timeout_ms, s->epoll_fd);

	if (r < 0)
		return r;
	if (epoll_wait(s->epoll_fd, &ev, 1, 0) < 1)
		return SESSION_NOTHING;
	return ev.data.u32 ? (int)ev.data.u32 : read_signal(s);
}

/* What a signal means while the summary is made and printed; for the handler. */
static struct {
	pid_t command;			/* not ended yet, and ours to forward to; 0: none */
	volatile sig_atomic_t interrupts;
	uint64_t since_ns;
} printing;

/*
 * What ended the command or the attachment may reach us late, as a signal to a
 * terminal's whole process group does: that is not meant for the printing.
 */
#define LATE_NS 100000000ull

static void while_printing(int number)
{
	int old_errno = errno;

	if (printing.command) {
		if (number == SIGTERM)
			kill(printing.command, SIGTERM);
		else if (number != SIGQUIT && ++printing.interrupts > 1)
			_exit(128 + SIGINT);
	} else if (clock_mono_ns() - printing.since_ns >= LATE_NS) {
		_exit(128 + number);
	}
	errno = old_errno;
}

void session_unwatch(struct session *s, pid_t command)
{
	struct sigaction act = { .sa_handler = while_printing, .sa_flags = SA_RESTART };
	int number;

	printing.command = command;
	printing.interrupts = s->interrupts;
	printing.since_ns = clock_mono_ns();
	act.sa_mask = s->watched;
	for (number = 1; number < NSIG; number++)
		if (sigismember(&s->watched, number) == 1 && !is_ignored(number))
			sigaction(number, &act, NULL);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

void session_rewatch(struct session *s)
{
	sigprocmask(SIG_BLOCK, &s->watched, NULL);
	if (printing.interrupts > s->interrupts)
		s->interrupts = printing.interrupts;
}

static const struct out_format *format_of(const struct live_opts *o)
{
	return o->json ? &out_format_json : o->csv ? &out_format_csv :
	       o->folded ? &out_format_folded : &out_format_table;
}

static int finish_trace(struct session *s, struct err *err)
{
	int r;

	if (!s->trace)
		return 0;
	r = trace_close(s->trace, err);
	s->trace = NULL;
	close(s->trace_fd);
	s->trace_fd = -1;
	return r ? err_prefix(err, "%s", s->opts->trace) : 0;
}

/* The table says so too: not twice in one place. */
static void note_hidden(const struct session *s, const struct summary *sum)
{
	if (sum->hidden &&
	    (s->out.fd != STDERR_FILENO || format_of(s->opts) != &out_format_table))
		session_note(s, "left out %llu program%s with rights that this user has not "
			     "(set-uid, set-gid or capabilities): root sees all",
			     (unsigned long long)sum->hidden, sum->hidden == 1 ? "" : "s");
}

int session_print(struct session *s, struct summary *sum, struct err *err)
{
	const struct live_opts *o = s->opts;
	struct out_opts opts = {
		.rows = o->rows,
		.stacks = o->stacks,
		.threads = o->threads,
		.sort = (enum out_sort)o->sort,
		.color = (enum out_color)o->color,
	};
	int r, closed;

	sum->tracer_version = TRACER_VERSION;
	sum->calls = o->calls.n ? s->calls_text.data : NULL;
	sum->paths = (const char *const *)o->paths.item;
	sum->npaths = o->paths.n;
	if (live_summary(s->live, sum, err) || diagnose(sum, err))
		return -err->code;
	warn_of_names(s);
	note_hidden(s, sum);
	r = format_of(o)->summary(sum, &opts, &s->out, err);
	if (!r) {
		closed = out_stream_close(&s->out, err);
		s->out_open = false;
		r = closed;
	}
	return r ? r : finish_trace(s, err);
}

void session_release(struct session *s)
{
	struct err ignored;

	live_free(s->live);
	buf_release(&s->calls_text);
	if (s->out_open)
		out_stream_close(&s->out, &ignored);
	if (s->trace)
		trace_close(s->trace, &ignored);
	if (s->trace_fd >= 0)
		close(s->trace_fd);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
}

int session_fail(const struct err *err, int code)
{
	return cli_fail("tracer", err, code);
}

/* Help is the small executable's: it has the whole tool as data. */
int session_help(const char *command)
{
	static const char *const places[] = { "../tracer", "../../bin/tracer" };
	struct session s = {};
	char path[sizeof(s.libexec) + 32];
	struct err err = {};
	size_t i;

	for (i = 0; !selfdir(s.libexec, sizeof(s.libexec), &err) && i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", s.libexec, places[i]);
		execl(path, "tracer", "help", command, NULL);
	}
	err_sys(&err, errno, "cannot find the help of '%s'", command);
	return session_fail(&err, 2);
}

void session_note(const struct session *s, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	va_list ap;

	if (s->opts->quiet)
		return;
	va_start(ap, fmt);
	buf_adds(&b, "tracer: ");
	buf_vaddf(&b, fmt, ap);
	buf_addc(&b, '\n');
	va_end(ap);
	if (!b.failed)
		io_write_all(STDERR_FILENO, b.data, b.len);
	buf_release(&b);
}
