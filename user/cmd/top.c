/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/term.h"
#include "cmd/session.h"
#include "cmd/targets.h"
#include "cmd/top_opts.h"
#include "collect/watch.h"
#include "out/now_cols.h"
#include "tui/tui.h"

#define EXIT_FAILED 2
#define LOG_WIDTH 160	/* of a file or a pipe: names whole, and no wider than they are */

struct top {
	const struct top_opts *o;
	struct session s;
	struct watch *w;
	struct tui *screen;	/* NULL: --batch or --json */
	size_t sort;
	struct buf whom;	/* for the screen */
	uint64_t shown;		/* refreshes */
};

_Static_assert((int)TOP_THREADS == (int)NOW_THREADS && (int)TOP_LOCKS == (int)NOW_LOCKS &&
	       (int)TOP_PIPES == (int)NOW_PIPES && (int)TOP_CALLS == (int)NOW_CALLS &&
	       (int)TOP_PROCESSES == (int)NOW_PROCESSES, "tabs are the same in both");

/* ---- whom and what ---- */

static int find_sort(struct top *t, struct err *err)
{
	const struct now_tab_desc *tab = &now_tabs[t->o->tab];
	struct buf heads = BUF_INIT;
	size_t i;

	t->sort = tab->ncol;
	if (!t->o->sort)
		return 0;
	t->sort = now_col_find(tab, t->o->sort);
	if (t->sort < tab->ncol && tab->col[t->sort].exact && t->o->mode == LIVE_MODE_WAIT) {
		err_set(err, EINVAL, "--sort: %s is not known in mode wait", t->o->sort);
		err_hint(err, "--mode exact counts every call");
		return -EINVAL;
	}
	if (t->sort < tab->ncol)
		return 0;
	err_set(err, EINVAL, "--sort: the tab of %s has no column '%s'", tab->name, t->o->sort);
	for (i = 0; i < tab->ncol; i++)
		if (tab->col[i].head[0])
			buf_addf(&heads, "%s%s", heads.len ? ", " : "", tab->col[i].head);
	if (!heads.failed)
		err_hint(err, "it has %s", heads.data);
	buf_release(&heads);
	return -EINVAL;
}

static void whom(const struct top_opts *o, struct buf *b)
{
	size_t i;

	for (i = 0; i < o->pids.n && i < 4; i++)
		buf_addf(b, "%s%d", i ? "," : "pid ", (int)o->pids.pid[i]);
	if (o->pids.n > 4)
		buf_addf(b, " and %zu more", o->pids.n - 4);
	if (!o->pids.n)
		buf_adds(b, getuid() ? "your processes" : "all processes");
	if (o->user)
		buf_addf(b, " of %s", o->user);
	if (o->cgroup)
		buf_addf(b, " in %s", o->cgroup);
	if (o->comm)
		buf_addf(b, " named %s", o->comm);
}

/* ---- the screen ---- */

static void name_lock(void *ctx, struct now_lock *lock)
{
	watch_name(ctx, lock);
}

static int lock_detail(void *ctx, const struct now_lock *lock, struct now_lock_detail *out)
{
	return watch_lock(ctx, lock, out);
}

/* A crash, or a signal that ends it, leaves the terminal usable and is what it is. */
static void crashed(int number)
{
	tui_restore();
	signal(number, SIG_DFL);
	raise(number);
}

static void restore_on_crash(void)
{
	static const int numbers[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGXCPU, SIGUSR1,
		SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
	};
	static char stack[16384];
	struct sigaction act = { .sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER };
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	size_t i;

	sigaltstack(&alternate, NULL);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &act, NULL);
}

static int open_screen(struct top *t, struct err *err)
{
	struct tui_opts to = {
		.tab = (enum now_tab)t->o->tab,
		.sort = t->sort,
		.color = (enum out_color)t->o->color,
		.delay_ns = t->o->delay_ns,
		.source = { t->w, name_lock, lock_detail },
	};

	whom(t->o, &t->whom);
	to.whom = t->whom.failed ? "" : t->whom.data;
	t->screen = tui_new(&to, err);
	if (!t->screen)
		return -err->code;
	restore_on_crash();
	return 0;
}

/* ---- refreshes ---- */

/* Names for what is printed: the rows that stand first by time waited. */
static void name_first(struct top *t, const struct now *n)
{
	const struct now_tab_desc *tab = &now_tabs[NOW_LOCKS];
	struct now_view v = { .now = n };
	size_t want = t->o->rows && t->o->rows < n->nlock ? t->o->rows : n->nlock, i;
	size_t by = t->o->tab == TOP_LOCKS && t->sort < tab->ncol ? t->sort : tab->sort;
	const void **row = malloc((n->nlock + 1) * sizeof(*row));

	for (i = 0; row && i < n->nlock; i++)
		row[i] = &n->lock[i];
	if (row && n->nlock)
		now_sort(&v, tab, by, false, row, n->nlock, want);
	for (i = 0; row && i < want; i++)
		watch_name(t->w, &n->lock[(const struct now_lock *)row[i] - n->lock]);
	free(row);
}

static int print_now(struct top *t, const struct now *n, struct err *err)
{
	struct now_text_opts opts = {
		.tab = (enum now_tab)t->o->tab,
		.sort = t->sort,
		.rows = t->o->rows,
		.color = (enum out_color)t->o->color,
		.width = cli_term_width(t->s.out.fd, LOG_WIDTH),
	};
	int r;

	name_first(t, n);
	r = t->o->json ? now_json(n, t->o->rows, &t->s.out, err) :
			 now_text(n, &opts, &t->s.out, err);
	if (!r)
		out_flush(&t->s.out);
	return r;
}

#define STALLED_US 50000
#define HELD_MS 200	/* from one look whether it can go on to the next */

/*
 * A terminal that was stopped (ctrl-S), or that nobody reads: writing would wait, and no
 * signal could end us.
 */
static bool is_stalled(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 0;
}

/* A stopped terminal goes on, and what nobody reads is dropped, to give back the screen. */
static void unstall(void)
{
	struct termios modes;

	/* Where stopping is off, nothing is stopped; the modes are given back with the screen. */
	if (is_stalled() && !tcgetattr(STDOUT_FILENO, &modes)) {
		modes.c_iflag &= ~(tcflag_t)IXON;
		tcsetattr(STDOUT_FILENO, TCSANOW, &modes);
	}
	if (is_stalled())
		tcflush(STDOUT_FILENO, TCOFLUSH);
}

/* @last: there comes no other after it. */
static int refresh(struct top *t, bool last, struct err *err)
{
	const struct now *n;

	if (watch_refresh(t->w, &n, err))
		return -err->code;
	t->shown++;
	if (t->screen) {
		tui_show(t->screen, n);
		return 0;
	}
	/* The first is where the others count from. */
	return n->tick || last ? print_now(t, n, err) : 0;
}

static bool all_ended(const struct top *t)
{
	return t->o->pids.n && !live_threads(t->s.live);
}

static bool is_enough(const struct top *t)
{
	const struct top_opts *o = t->o;
	uint64_t first = t->screen ? 0 : 1;

	return (o->refreshes && t->shown >= o->refreshes + first) || t->s.out.error;
}

static uint64_t delay(const struct top *t)
{
	return t->screen ? tui_delay_ns(t->screen) : t->o->delay_ns;
}

/* 1: enough; 0; -errno. */
static int take_event(struct top *t, int what, uint64_t *next)
{
	if (what == SESSION_INTERRUPT || what == SESSION_TERMINATE)
		return 1;
	if (!t->screen || what == SESSION_NOTHING)
		return 0;
	if (is_stalled()) {
		usleep(STALLED_US);	/* keys are there, and stay there */
		return 0;
	}
	switch (tui_input(t->screen)) {
	case TUI_QUIT:
		return 1;
	case TUI_REFRESH:
		*next = 0;
		return 0;
	default:
		return 0;
	}
}

static bool is_paused(const struct top *t)
{
	return t->screen && tui_paused(t->screen);
}

static int follow(struct top *t, struct err *err)
{
	uint64_t next = 0, now;
	int what, ms;

	while (!is_enough(t)) {
		/* What they did since the last refresh is told, but not to an empty screen. */
		if (all_ended(t) && !is_paused(t))
			return t->screen || !refresh(t, true, err) ? 0 : -err->code;
		now = clock_mono_ns();
		if (now >= next && !is_paused(t) && !(t->screen && is_stalled())) {
			if (refresh(t, false, err))
				return -err->code;
			/* At a steady pace, but none is made up for. */
			next = next && now - next < delay(t) ? next + delay(t) : now + delay(t);
			continue;
		}
		what = watch_tidy(t->w);
		if (what)
			return err_sys(err, -what, "cannot read what was counted");
		ms = next > now ? (int)((next - now) / 1000000 + 1) : HELD_MS;
		what = session_wait(&t->s, ms);
		if (what < 0)
			return err_sys(err, -what, "cannot read the event ring");
		what = take_event(t, what, &next);
		if (what)
			return what < 0 ? what : 0;
	}
	return 0;
}

static int top(struct top *t, struct err *err)
{
	bool screen = !t->o->batch && !t->o->json;
	int r;

	if (find_sort(t, err) || targets_check(t->s.opts, err))
		return -err->code;
	if (screen && tui_check(err))
		return -err->code;
	t->s.watch = true;
	t->s.resizes = screen;
	t->s.user = t->o->user;
	if (targets_begin(&t->s, screen ? STDIN_FILENO : -1, err) < 0)
		return -err->code;
	t->w = watch_new(t->s.live);
	if (!t->w)
		return err_sys(err, ENOMEM, "cannot set up the view");
	r = screen ? open_screen(t, err) : 0;
	if (!r)
		r = follow(t, err);
	if (t->screen)
		unstall();
	tui_free(t->screen);
	t->screen = NULL;
	return r;
}

static int finish(struct top *t, struct err *err)
{
	int r = out_stream_close(&t->s.out, err);

	t->s.out_open = false;
	/* As `head` does: who reads no further has had enough. */
	return r == -EPIPE ? 0 : r;
}

int top_main(int argc, char **argv)
{
	struct top_opts o;
	struct top t = { .o = &o };
	struct live_opts lo;
	struct err err = {};
	int code = top_opts_parse(&o, argc, argv, &err), r;

	if (code) {
		top_opts_release(&o);
		return code == CLI_WANTS_HELP ? session_help("top") :
						session_fail(&err, EXIT_FAILED);
	}
	lo = (struct live_opts){
		.mode = o.mode,
		.collect = LIVE_COLLECT_ALL,
		.pids = o.pids,
		.cgroup = o.cgroup,
		.comm = o.comm,
		.ring_bytes = o.ring_bytes,
		.output = o.output,
		.quiet = o.quiet || (!o.batch && !o.json),
	};
	r = session_init(&t.s, &lo, STDOUT_FILENO, &err);
	if (!r)
		r = top(&t, &err);
	if (t.s.out_open && finish(&t, r ? &(struct err){} : &err) && !r)
		r = -err.code;
	if (r)
		code = session_fail(&err, EXIT_FAILED);
	watch_free(t.w);
	buf_release(&t.whom);
	session_release(&t.s);
	top_opts_release(&o);
	return code;
}
