/* SPDX-License-Identifier: MIT */
/*
 * DESIGN. The clock is read by the child just before its exec and by us when its end is
 * told, and what the child used before the exec is taken off again, so that a run costs
 * the same with a trace and without.
 */
#include "collect/measure.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/launch.h"
#include "collect/live.h"

/* How long what is still dying may take after the command itself has ended. */
#define GRACE_NS 100000000ull

struct run {
	const struct measure_setup *setup;
	struct launch child;
	struct live *live;	/* NULL: times alone */
	int counter_fd;		/* of instructions; -1: there is none */
	int events;		/* epoll: the child's end, and setup->stop_fd */
	struct rusage used;
	uint64_t end_ns;
};

/* ---- the hardware's counter, where there is one ---- */

static int counter_open(pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1, .inherit = 1,
		.enable_on_exec = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Where it was shared with others it is an estimate, and not told. */
static bool counter_read(int fd, uint64_t *value)
{
	uint64_t v[3];

	if (fd < 0 || read(fd, v, sizeof(v)) != sizeof(v) || !v[2] || v[1] != v[2])
		return false;
	*value = v[0];
	return true;
}

/* ---- the run ---- */

#define LATE_MS 50	/* so long a signal may take that has ended the command already */

/* A ctrl-C goes to the command and to us: which of the two is told of first is chance. */
static int late_signal(const struct run *r)
{
	struct pollfd p = { .fd = r->setup->stop_fd, .events = POLLIN };

	if (p.fd < 0)
		return 0;
	return poll(&p, 1, LATE_MS) > 0 ? r->setup->stop_signal(p.fd) : 0;
}

/* The trace of the run before, where it left one that can go on. */
static bool take_trace(struct run *r)
{
	struct err ignored = { 0 };

	if (!r->setup->trace || !*r->setup->trace)
		return false;
	r->live = *r->setup->trace;
	*r->setup->trace = NULL;
	if (!live_again(r->live, &ignored))
		return true;
	live_free(r->live);
	r->live = NULL;
	return false;
}

static int open_trace(struct run *r, struct err *err)
{
	struct live_setup setup = {
		.mode = r->setup->how == MEASURE_EXACT ? SUM_EXACT : SUM_WAIT,
		.collect = SUM_SYSCALLS | SUM_THREADS | SUM_FUTEX | SUM_PIPES | SUM_SCHED,
		.targets_only = true,
		.stacks = true,
		.again = r->setup->trace != NULL,
		.libexec_dir = r->setup->libexec_dir,
	};

	if (!take_trace(r))
		r->live = live_open(&setup, err);
	if (!r->live || live_target(r->live, r->child.pid, true, err) ||
	    live_start(r->live, err) < 0)
		return -err->code;
	return 0;
}

static int watch(struct run *r, struct err *err)
{
	struct epoll_event end = { .events = EPOLLIN, .data.fd = r->child.pidfd };
	struct epoll_event stop = { .events = EPOLLIN, .data.fd = r->setup->stop_fd };

	r->events = epoll_create1(EPOLL_CLOEXEC);
	if (r->events < 0 || epoll_ctl(r->events, EPOLL_CTL_ADD, end.data.fd, &end) ||
	    (stop.data.fd >= 0 && epoll_ctl(r->events, EPOLL_CTL_ADD, stop.data.fd, &stop)))
		return err_sys(err, errno, "cannot wait for the command");
	return 0;
}

static int start(struct run *r, char **argv, struct err *err)
{
	struct launch_opts lo = { .argv = argv, .user = r->setup->user, .unmeasured = true,
				  .mask = r->setup->mask, .silent = r->setup->silent };

	if (launch_start(&r->child, &lo, err) || watch(r, err))
		return -err->code;
	if (r->setup->how != MEASURE_TIMES && open_trace(r, err))
		return -err->code;
	r->counter_fd = counter_open(r->child.pid);
	if (launch_exec(&r->child, err)) {
		int code = err->code;

		return r->child.refused ?
			err_sys(err, code, "cannot run a command as %s", r->setup->user) :
			err_sys(err, code, "cannot run '%s'", argv[0]);
	}
	return 0;
}

static int wait_event(struct run *r, struct epoll_event *ev)
{
	int n;

	/* The trace's ring is looked after meanwhile. */
	if (r->live)
		n = live_tick(r->live, -1, r->events);
	else
		n = epoll_wait(r->events, ev, 1, -1);
	if (n < 0 && (r->live ? n : -errno) != -EINTR)
		return r->live ? n : -errno;
	return epoll_wait(r->events, ev, 1, 0);
}

static int follow(struct run *r, struct measured *out, struct err *err)
{
	struct epoll_event ev;
	int n, number;

	for (;;) {
		n = wait_event(r, &ev);
		if (n < 0)
			return err_sys(err, -n, "cannot read the event ring");
		if (!n)
			continue;
		if (ev.data.fd == r->child.pidfd) {
			r->end_ns = clock_mono_ns();
			if (wait4(r->child.pid, &out->status, WNOHANG, &r->used) != r->child.pid)
				continue;
			if (!out->stopped && WIFSIGNALED(out->status))
				out->stopped = late_signal(r);
			return 0;
		}
		number = r->setup->stop_signal(r->setup->stop_fd);
		if (!number)
			continue;
		out->stopped = number;
		if (number != SIGINT)
			kill(r->child.pid, number);
	}
}

static uint64_t time_ns(struct timeval now, struct timeval before)
{
	int64_t us = (int64_t)(now.tv_sec - before.tv_sec) * 1000000 + now.tv_usec - before.tv_usec;

	return us > 0 ? (uint64_t)us * 1000 : 0;
}

static uint64_t less(long now, long before)
{
	return now > before ? (uint64_t)(now - before) : 0;
}

#define EXEC_KIB 1024	/* more than the exec itself takes */

static void take_usage(const struct run *r, struct usage *u)
{
	const struct rusage *now = &r->used, *before = &r->child.used;

	u->wall_ns = r->end_ns > r->child.exec_ns ? r->end_ns - r->child.exec_ns : 0;
	u->user_ns = time_ns(now->ru_utime, before->ru_utime);
	u->system_ns = time_ns(now->ru_stime, before->ru_stime);
	/* The kernel keeps the largest since the fork: about as large as ours was, it is ours. */
	u->max_rss_bytes = now->ru_maxrss > before->ru_maxrss + EXEC_KIB ?
		(uint64_t)now->ru_maxrss * 1024 : 0;
	u->page_faults = less(now->ru_minflt + now->ru_majflt,
			      before->ru_minflt + before->ru_majflt);
	u->voluntary = less(now->ru_nvcsw, before->ru_nvcsw);
	u->involuntary = less(now->ru_nivcsw, before->ru_nivcsw);
	u->has_instructions = counter_read(r->counter_fd, &u->instructions);
}

static int summarize(struct run *r, char **argv, struct measured *out, struct err *err)
{
	uint64_t deadline = clock_mono_ns() + GRACE_NS;

	while (live_threads(r->live) && clock_mono_ns() < deadline)
		live_tick(r->live, 1, -1);
	if (live_stop(r->live, err))
		return -err->code;
	summary_init(&out->sum);
	out->has_summary = true;
	out->sum.command = argv;
	out->sum.has_exit = true;
	out->sum.exit_code = WIFEXITED(out->status) ? WEXITSTATUS(out->status) : 0;
	out->sum.exit_signal = WIFSIGNALED(out->status) ? WTERMSIG(out->status) : 0;
	return live_summary(r->live, &out->sum, err);
}

int measure_run(const struct measure_setup *setup, char **argv, struct measured *out,
		struct err *err)
{
	struct run r = { .setup = setup, .counter_fd = -1, .events = -1 };
	int rc;

	memset(out, 0, sizeof(*out));
	r.child.to = r.child.from = r.child.pidfd = -1;
	rc = start(&r, argv, err);
	if (!rc) {
		out->start_ns = clock_real_ns();
		rc = follow(&r, out, err);
	} else if (rc == -EIO) {
		/* Before it was the command it may have been ended by what ends us. */
		out->stopped = late_signal(&r);
		if (out->stopped) {
			*err = (struct err){ 0 };
			rc = 0;
		}
	}
	if (!rc && r.end_ns) {
		take_usage(&r, &out->usage);
		rc = r.live ? summarize(&r, argv, out, err) : 0;
	}
	if (rc)
		measured_release(out);
	if (r.counter_fd >= 0)
		close(r.counter_fd);
	if (r.events >= 0)
		close(r.events);
	if (rc || !setup->trace || !out->has_summary)
		live_free(r.live);
	else
		*setup->trace = r.live;
	launch_release(&r.child);
	/* One that was never told to go on has ended by that. */
	if (r.child.pid > 0 && !r.child.exec_ns)
		waitpid(r.child.pid, NULL, 0);
	return rc;
}

void measured_release(struct measured *m)
{
	if (!m->has_summary)
		return;
	m->sum.command = NULL;	/* the caller's */
	summary_release(&m->sum);
	m->has_summary = false;
}
