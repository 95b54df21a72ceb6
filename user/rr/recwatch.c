/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: the recorder sleeps until the ring wants it, a process execs, stops or ends, or a
 * signal is sent to it; once a second it takes what there is, so that a recorder that is killed
 * leaves all but the last second behind.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "rr/newimage.h"
#include "rr/recorded.h"
#include "rr/recorder_state.h"

#define TICK_NS ((uint64_t)1000000000)
#define KILL_MS 1000
#define STOP_NS ((uint64_t)300000000)	/* in which all will have stopped */
#define STOP_POLL_MS 2

static int hold(struct recorder *rec, pid_t pid)
{
	pid_t *more = realloc(rec->held, (rec->nheld + 1) * sizeof(*more));

	if (!more)
		return err_sys(rec->err, ENOMEM, "cannot record");
	rec->held = more;
	rec->held[rec->nheld++] = pid;
	return 0;
}

/* One that has gone by now was killed. */
int recorder_hold_replaced(struct recorder *rec, pid_t tid)
{
	return replaced_hold(tid) ? 0 : hold(rec, tid);
}

/*
 * Lets an execve go on, held so that it stops behind it: in the new image, or where the old
 * one goes on. Others may run until then.
 */
static int on_notify(struct recorder *rec)
{
	struct seccomp_notif_resp resp = { .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	struct seccomp_notif n;
	pid_t pid;

	memset(&n, 0, sizeof(n));
	if (ioctl(rec->child.notify, SECCOMP_IOCTL_NOTIF_RECV, &n))
		return errno == EINTR || errno == ENOENT ? 0 :
		       err_sys(rec->err, errno, "cannot hear of an execve");
	pid = (pid_t)n.pid;
	resp.id = n.id;
	/* One that has been killed meanwhile will end. */
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) ||
	    ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return ioctl(rec->child.notify, SECCOMP_IOCTL_NOTIF_ID_VALID, &n.id) ? 0 :
		       err_sys(rec->err, errno, "cannot stop process %d at its execve", (int)pid);
	if (ioctl(rec->child.notify, SECCOMP_IOCTL_NOTIF_SEND, &resp) && errno != ENOENT)
		return err_sys(rec->err, errno, "cannot let process %d exec", (int)pid);
	return hold(rec, pid);
}

static bool stop_it(const struct rr_recorded *task, void *ctx)
{
	struct stopped *s = ctx;
	const pid_t pid = (pid_t)task->pid;
	pid_t *more;

	if (task->stopped)
		return false;
	s->runs = true;
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i] == pid)
			return false;
	if (s->n == s->cap) {
		more = realloc(s->at, (s->cap ? 2 * s->cap : 64) * sizeof(*more));
		if (!more)
			return true;
		s->at = more;
		s->cap = s->cap ? 2 * s->cap : 64;
	}
	s->at[s->n++] = pid;
	kill(pid, SIGSTOP);
	return false;
}

/*
 * The program heeded a stop from the terminal, and the shell waits for us to follow. Meanwhile
 * nobody would take events or let an execve go on: those that run on are stopped, too, and
 * waited for. One that waits for the exec of a vfork, whose child was stopped, cannot stop.
 */
static int follow_stop(struct recorder *rec)
{
	struct stopped *s = &rec->stopped;
	int r;

	s->runs = false;
	recorded_each(rec->link, stop_it, s);
	if (s->runs && clock_mono_ns() < s->until_ns)
		return 0;
	r = recorder_drain(rec);
	kill(getpid(), SIGSTOP);
	while (s->n > 0)
		kill(s->at[--s->n], SIGCONT);
	s->until_ns = 0;
	return r;
}

static bool is_from_terminal(const struct recorder *rec, int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU || rec->signals.stop_asked;
}

static void let_go(struct recorder *rec, pid_t pid)
{
	for (size_t i = 0; i < rec->nheld; i++)
		if (rec->held[i] == pid)
			rec->held[i--] = rec->held[--rec->nheld];
}

/* What it stopped for is recorded. As replaced_meet(). */
static int take_stop(struct recorder *rec, pid_t pid, int event)
{
	int r = recorder_drain(rec);

	if (r)
		return r;
	if (event != PTRACE_EVENT_EXEC)
		return replaced_meet(pid, !event, rec->file, rec->err);
	r = newimage_record(pid, rec->file, &rec->files, &rec->replaced, rec->err);
	return r ? -rec->err->code : 0;
}

static int on_stop(struct recorder *rec, pid_t pid, int status)
{
	const int sig = WSTOPSIG(status), event = status >> 16;
	const int r = take_stop(rec, pid, event);

	/* Its process was stopped, by a signal that came before that of its instruction. */
	if (r == -EAGAIN && !ptrace(PTRACE_CONT, pid, 0, 0))
		return 0;
	let_go(rec, pid);
	/* A signal that came first is not to be lost. */
	if (!ptrace(PTRACE_DETACH, pid, 0, event || r > 0 ? 0 : sig) || event)
		return r < 0 ? r : 0;
	/* It is not attached: its parent hears of its stop, as of any child's. */
	if (pid == rec->child.pid && is_from_terminal(rec, sig)) {
		rec->signals.stop_asked = false;
		rec->stopped.until_ns = clock_mono_ns() + STOP_NS;
	}
	return r < 0 ? r : 0;
}

static int reap(void *arg, struct err *err)
{
	pid_t *pid = arg;

	(void)err;
	waitpid(*pid, NULL, __WALL);
	return 0;
}

/*
 * Whether @pid has ended, and its status as wait(2) tells it. To take an ended process, the
 * kernel goes round until nobody holds its directory in /proc: who does may be the recorded
 * program, which would never run again if we went round before it. The queue's thread does it.
 */
static int has_ended(struct recorder *rec, pid_t pid, int *status)
{
	siginfo_t si = { 0 };
	pid_t *copy;
	int r;

	if (waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT | WNOHANG | __WALL) || !si.si_pid)
		return 0;
	/* Stops of what is attached are told, asked for or not. */
	if (si.si_code == CLD_TRAPPED || si.si_code == CLD_STOPPED)
		return 0;
	*status = si.si_code == CLD_KILLED ? si.si_status : si.si_code == CLD_DUMPED ?
		  si.si_status | 0x80 : (si.si_status & 0xff) << 8;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return err_sys(rec->err, ENOMEM, "cannot record");
	*copy = pid;
	r = recqueue_add(rec->queue, reap, free, copy, 0, rec->err);
	if (r)
		free(copy);
	return r ? r : 1;
}

static int on_ends(struct recorder *rec)
{
	int status, r = 0;

	if (!rec->ended)
		r = has_ended(rec, rec->child.pid, &status);
	if (r > 0) {
		rec->result->status = status;
		rec->ended = true;
		rec->signals.first = 0;
	}
	for (size_t i = 0; r >= 0 && i < rec->nheld; i++) {
		r = has_ended(rec, rec->held[i], &status);
		if (r > 0)
			rec->held[i--] = rec->held[--rec->nheld];
	}
	if (r >= 0 && rec->guardian.pid)
		r = has_ended(rec, rec->guardian.pid, &status);
	else
		return r < 0 ? r : 0;
	if (r <= 0)
		return r;
	rec->guardian.pid = 0;
	return err_set(rec->err, ECHILD, "the recorder's guardian was killed");
}

static int on_children(struct recorder *rec)
{
	siginfo_t si = { 0 };
	int r = 0;

	while (!r && !waitid(P_ALL, 0, &si, WSTOPPED | WNOHANG | __WALL) && si.si_pid) {
		r = on_stop(rec, si.si_pid, si.si_status << 8 | 0x7f);
		si.si_pid = 0;
	}
	return r ? r : on_ends(rec);
}

static int on_signals(struct recorder *rec)
{
	struct recsignals *s = &rec->signals;
	int r = 0;

	recsignals_read(s);
	if (s->children) {
		s->children = false;
		r = on_children(rec);
	}
	if (!s->end_asked)
		return r;
	s->end_asked = false;
	recorded_kill(rec->link, rec->child.pidfd, KILL_MS);
	return r;
}

static bool take_first(const struct rr_recorded *task, void *ctx)
{
	*(struct rr_recorded *)ctx = *task;
	return true;
}

static int tick(struct recorder *rec)
{
	struct recorder_progress p = { .ended = rec->ended };
	struct rr_recorded one = { 0 };
	int r = recfile_push(rec->file, rec->err);

	if (r || !rec->opts->progress)
		return r;
	p.events = recfile_events(rec->file);
	p.bytes = recfile_bytes(rec->file);
	p.threads = rec->counts->alive;
	if (rec->ended)
		recorded_each(rec->link, take_first, &one);
	p.pid = (pid_t)one.pid;
	memcpy(p.comm, one.comm, sizeof(p.comm));
	rec->opts->progress(rec->opts->ctx, &p);
	return 0;
}

static int wait_ms(struct recorder *rec, uint64_t *due)
{
	const uint64_t now = clock_mono_ns();
	const int pass = recsignals_pass(&rec->signals);
	const int look = spin_wait_ms(&rec->spin, rec->counts, now);
	int rest = now < *due ? (int)((*due - now) / 1000000) + 1 : 0;

	if (rec->stopped.until_ns)
		return STOP_POLL_MS;
	rest = look >= 0 && look < rest ? look : rest;
	return pass >= 0 && pass < rest ? pass : rest;
}

int recorder_watch(struct recorder *rec)
{
	struct pollfd fd[] = {
		{ .fd = ring_buffer__epoll_fd(rec->ring), .events = POLLIN },
		{ .fd = rec->child.notify, .events = POLLIN },
		{ .fd = rec->signals.fd, .events = POLLIN },
	};
	uint64_t due = clock_mono_ns() + TICK_NS;
	int r = 0, n;

	/* Its children are recorded to their end, too. */
	while (!r && (!rec->ended || rec->counts->alive)) {
		n = poll(fd, 3, wait_ms(rec, &due));
		if (n < 0 && errno != EINTR)
			return err_sys(rec->err, errno, "cannot wait for events");
		spin_look(&rec->spin, rec->counts, clock_mono_ns());
		/* Nobody asked for more than that: the ring may wait. */
		if (!n && !rec->stopped.until_ns && clock_mono_ns() < due)
			continue;
		r = recorder_drain(rec);
		if (!r && fd[2].revents)
			r = on_signals(rec);
		if (!r && fd[1].revents & POLLIN)
			r = on_notify(rec);
		else if (fd[1].revents)
			fd[1].fd = -1;	/* the last process that could exec is ending */
		if (!r && rec->stopped.until_ns)
			r = follow_stop(rec);
		if (r || clock_mono_ns() < due)
			continue;
		r = tick(rec);
		due = clock_mono_ns() + TICK_NS;
	}
	return r ? r : recorder_drain(rec);
}
