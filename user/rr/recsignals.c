/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: whether a signal that a process sent went to the whole group or to the recorder alone
 * cannot be seen from here, and timeout(1), for one, sends both. BPF notes when the program was
 * last sent which signal by others: what it then got at about the same time is not passed on.
 */
#include "rr/recsignals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"

#define MS ((uint64_t)1000000)
#define WAIT (30 * MS)		/* until the program has got its own */
#define BEFORE (100 * MS)	/* as long ago it was the same one */
#define TWICE (2000 * MS)	/* a second Ctrl-C within it is meant for us */

static const int taken[] = { SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGUSR1, SIGUSR2 };

int recsignals_open(struct recsignals *s, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaddset(&set, taken[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	/* What is printed to a pipe without readers, or by a job in the background, is no end; a
	   file that may not grow is an error. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? err_sys(err, errno, "cannot hear of signals") : 0;
}

static void from_terminal(struct recsignals *s, int sig)
{
	const uint64_t now = clock_mono_ns();

	if (sig != SIGINT && sig != SIGQUIT)
		return;
	if (s->interrupted_ns && now - s->interrupted_ns < TWICE)
		s->end_asked = true;
	s->interrupted_ns = now;
}

static void take(struct recsignals *s, const struct signalfd_siginfo *si)
{
	const int sig = (int)si->ssi_signo;

	if (sig == SIGCHLD)
		s->children = true;
	else if (!s->first && (sig == SIGINT || sig == SIGQUIT || sig == SIGTERM || sig == SIGHUP))
		s->end_asked = true;
	/* A terminal that is gone tells the session's leader alone, and that may be us. */
	else if (si->ssi_code == SI_KERNEL && sig != SIGHUP)
		from_terminal(s, sig);
	else if (s->first)
		s->came_ns[sig] = clock_mono_ns();
	if (sig == SIGTSTP)
		s->stop_asked = true;
}

void recsignals_read(struct recsignals *s)
{
	struct signalfd_siginfo si;

	while (read(s->fd, &si, sizeof(si)) == sizeof(si))
		take(s, &si);
}

int recsignals_pass(struct recsignals *s)
{
	const uint64_t now = clock_mono_ns();
	uint64_t next = UINT64_MAX;

	for (int sig = 1; sig < RR_NSIGNALS; sig++) {
		const uint64_t came = s->came_ns[sig];
		const bool has_it = came && s->counts->sent_ns[sig] + BEFORE > came;

		if (!came)
			continue;
		if (!has_it && now < came + WAIT) {
			next = came + WAIT < next ? came + WAIT : next;
			continue;
		}
		s->came_ns[sig] = 0;
		if (!has_it && s->first)
			kill(s->first, sig);
	}
	return next == UINT64_MAX ? -1 : (int)((next - now) / MS) + 1;
}

void recsignals_release(struct recsignals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
