/* SPDX-License-Identifier: MIT */
#include "rr/recorded.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 32	/* of the list, read at a time */
#define PAUSE_MS 1

int recorded_each(int link, recorded_fn *fn, void *ctx)
{
	struct rr_recorded at[AT_ONCE];
	const int fd = bpf_iter_create(link);
	bool enough = false;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (!enough && (n = read(fd, (char *)at + have, sizeof(at) - have)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			n = -errno;
			close(fd);
			return (int)n;
		}
		have += (size_t)n;
		for (size_t i = 0; !enough && i < have / sizeof(at[0]); i++)
			enough = fn(&at[i], ctx);
		/* A read may end within one of them. */
		n = (ssize_t)(have % sizeof(at[0]));
		memmove(at, (char *)at + have - (size_t)n, (size_t)n);
		have = (size_t)n;
	}
	close(fd);
	return 0;
}

static bool kill_it(const struct rr_recorded *task, void *ctx)
{
	/* One that has just ended is no harm. */
	kill((pid_t)task->tid, SIGKILL);
	++*(size_t *)ctx;
	return false;
}

bool recorded_kill(int link, int first, unsigned int most_ms)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
	size_t left;

	if (first >= 0)
		syscall(SYS_pidfd_send_signal, first, SIGKILL, NULL, 0);
	for (unsigned int ms = 0; ms <= most_ms; ms += PAUSE_MS) {
		left = 0;
		if (recorded_each(link, kill_it, &left))
			return false;
		if (!left)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}
