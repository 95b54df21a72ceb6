/* SPDX-License-Identifier: MIT */
#include "rr/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rr/ordinary.h"

struct ended {
	pid_t pid;
	int status;
};

static int status_of(const siginfo_t *si)
{
	switch (si->si_code) {
	case CLD_KILLED: return si->si_status;
	case CLD_DUMPED: return si->si_status | 0x80;
	default: return (si->si_status & 0xff) << 8;
	}
}

static void *reap(void *arg)
{
	struct reaper *r = arg;
	struct ended e;
	siginfo_t si;

	while (!waitid(P_ALL, 0, &si, WEXITED | __WALL) || errno == EINTR) {
		e = (struct ended){ .pid = si.si_pid, .status = status_of(&si) };
		(void)!write(r->to, &e, sizeof(e));
	}
	return NULL;
}

int reaper_start(struct reaper *r, struct err *err)
{
	int fd[2], error;

	if (pipe2(fd, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	r->fd = fd[0];
	r->to = fd[1];
	error = ordinary_thread(&r->thread, reap, r);
	r->runs = !error;
	if (!error)
		return 0;
	reaper_stop(r);
	return err_sys(err, error, "cannot start a thread");
}

bool reaper_next(const struct reaper *r, pid_t *pid, int *status)
{
	struct pollfd fd = { .fd = r->fd, .events = POLLIN };
	struct ended e;

	if (poll(&fd, 1, 0) <= 0 || read(r->fd, &e, sizeof(e)) != sizeof(e))
		return false;
	*pid = e.pid;
	*status = e.status;
	return true;
}

int reaper_wait(const struct reaper *r, pid_t pid)
{
	struct ended e;

	do {
		if (read(r->fd, &e, sizeof(e)) != sizeof(e))
			return 0;
	} while (e.pid != pid);
	return e.status;
}

void reaper_stop(struct reaper *r)
{
	if (r->runs)
		pthread_join(r->thread, NULL);
	if (r->fd >= 0) {
		close(r->fd);
		close(r->to);
	}
	*r = (struct reaper){ .fd = -1 };
}
