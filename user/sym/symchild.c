/* SPDX-License-Identifier: MIT */
#include "sym/symchild.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"

#define CHILD_FD 3	/* where the child finds its socket */
#define LOOK_AGAIN_NS 10000000

void symchild_init(struct symchild *c)
{
	*c = (struct symchild){ .sock = -1, .pidfd = -1, .nice = getpriority(PRIO_PROCESS, 0) };
	c->in.max = 2 * (size_t)SYMP_BYTES_MAX;
}

/* Between fork and exec of a process that may have threads: system calls only. */
static void run_child(const char *path, char *const argv[], char *const envp[], int sock, int nice)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	(void)setpriority(PRIO_PROCESS, 0, nice);
	sigemptyset(&none);
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/*
	 * Above what is about to be overwritten: the caller may have had 0 to 2
	 * closed, and a descriptor that dup2 finds in place stays close-on-exec.
	 */
	null = fcntl(null, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	sock = fcntl(sock, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	if (null < 0 || sock < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
	    dup2(sock, CHILD_FD) < 0)
		_exit(127);
#ifndef __SANITIZE_ADDRESS__
	dup2(null, 2);
#endif
	execve(path, argv, envp);
	_exit(127);
}

int symchild_start(struct symchild *c, const struct sym_opts *opts)
{
	char path[4096], u[16], g[16];
	char name[] = "tracer-sym", flag_u[] = "-u", flag_g[] = "-g", flag_n[] = "-n";
	char env_lc[] = "LC_ALL=C";
	char *argv[7] = { name };
	int argc = 1;
	char *envp[] = { env_lc, NULL };
	int sv[2], rc;
	pid_t pid;

	rc = snprintf(path, sizeof(path), "%s/tracer-sym", opts->libexec_dir);
	if (rc < 0 || (size_t)rc >= sizeof(path))
		return -ENAMETOOLONG;
	snprintf(u, sizeof(u), "%u", opts->drop_uid);
	snprintf(g, sizeof(g), "%u", opts->drop_gid);
	if (opts->no_lines)
		argv[argc++] = flag_n;
	if (opts->drop) {
		argv[argc++] = flag_u;
		argv[argc++] = u;
		argv[argc++] = flag_g;
		argv[argc++] = g;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return -errno;
	pid = fork();
	if (pid == 0)
		run_child(path, argv, envp, sv[1], c->nice);
	rc = pid < 0 ? -errno : 0;
	close(sv[1]);
	if (rc) {
		close(sv[0]);
		return rc;
	}
	c->pid = pid;
	c->sock = sv[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->taken = 0;
	buf_reset(&c->in);
	return 0;
}

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

uint64_t symchild_cpu_ns(const struct symchild *c)
{
	struct timespec now;
	clockid_t id;

	if (!c->pid || clock_getcpuclockid(c->pid, &id) || clock_gettime(id, &now))
		return c->cpu_ns;
	return c->cpu_ns + (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void symchild_stop(struct symchild *c)
{
	uint64_t cpu_ns = c->cpu_ns;
	struct rusage used = { 0 };
	int nice;

	if (c->pid) {
		/*
		 * By descriptor: were the child reaped by somebody else, its
		 * number could be another process's by now.
		 */
		if (c->pidfd >= 0)
			syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
		else
			kill(c->pid, SIGKILL);
		while (wait4(c->pid, NULL, 0, &used) < 0 && errno == EINTR)
			;
		cpu_ns += time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
	}
	if (c->pidfd >= 0)
		close(c->pidfd);
	if (c->sock >= 0)
		close(c->sock);
	buf_release(&c->in);
	nice = c->nice;
	symchild_init(c);
	c->nice = nice;
	c->cpu_ns = cpu_ns;
}

struct deadline {
	uint64_t at_ns;
	uint64_t last_ns;	/* not put off beyond */
	uint64_t cpu_ns;	/* nor when the child has had so much */
};

static struct deadline deadline_in(const struct symchild *c, int timeout_ms)
{
	uint64_t now_ns = clock_mono_ns(), ns = (uint64_t)timeout_ms * 1000000;
	uint64_t most_ns = (uint64_t)SYM_TIMEOUT_MS * 1000000;

	return (struct deadline){ .at_ns = now_ns + ns,
				  .last_ns = now_ns + (ns < most_ns ? most_ns : ns),
				  .cpu_ns = symchild_cpu_ns(c) + ns };
}

/* Whether the child runs or would if it had a CPU; false where that cannot be read. */
static bool is_ready(const struct symchild *c)
{
	struct buf text = BUF_INIT;
	const char *state = NULL;
	char path[32];
	bool ready;

	snprintf(path, sizeof(path), "/proc/%d/stat", c->pid);
	if (!io_read_file(path, &text, 4096) && text.data)
		state = strrchr(text.data, ')');
	ready = state && !strncmp(state, ") R", 3);
	buf_release(&text);
	return ready;
}

static bool put_off(const struct symchild *c, struct deadline *d)
{
	if (d->at_ns >= d->last_ns || symchild_cpu_ns(c) >= d->cpu_ns || !is_ready(c))
		return false;
	d->at_ns += LOOK_AGAIN_NS;
	return true;
}

/*
 * Waits for @events: 0, -ETIMEDOUT. Errors show at the next send or receive. Where
 * others keep the CPUs busy the child is not at fault: while it is ready to run, only
 * its own CPU time counts.
 */
static int wait_for(const struct symchild *c, short events, struct deadline *d)
{
	struct pollfd p = { .fd = c->sock, .events = events };

	for (;;) {
		uint64_t now = clock_mono_ns();
		int ms = now >= d->at_ns ? 0 : (int)((d->at_ns - now) / 1000000) + 1;
		int n = poll(&p, 1, ms);

		if (n > 0)
			return 0;
		if (n == 0 && !put_off(c, d))
			return -ETIMEDOUT;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static ssize_t send_part(int sock, const char *data, size_t bytes, int fd)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = bytes };
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} ctl = { 0 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *h;

		m.msg_control = ctl.space;
		m.msg_controllen = sizeof(ctl.space);
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	}
	return sendmsg(sock, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int symchild_send(struct symchild *c, const struct buf *b, int fd, int timeout_ms)
{
	struct deadline deadline = deadline_in(c, timeout_ms);
	size_t done = 0;

	while (done < b->len) {
		ssize_t n = send_part(c->sock, b->data + done, b->len - done, done ? -1 : fd);

		if (n > 0) {
			done += (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			int rc = wait_for(c, POLLOUT, &deadline);

			if (rc)
				return rc;
		} else if (n < 0 && errno != EINTR) {
			return errno == ECONNRESET ? -EPIPE : -errno;
		}
	}
	return 0;
}

static int receive_more(struct symchild *c, struct deadline *deadline)
{
	ssize_t n;
	int rc;

	if (c->taken) {
		memmove(c->in.data, c->in.data + c->taken, c->in.len - c->taken);
		c->in.len -= c->taken;
		c->taken = 0;
	}
	rc = wait_for(c, POLLIN, deadline);
	if (rc)
		return rc;
	if (buf_grow(&c->in, 65536))
		return -ENOMEM;
	n = recv(c->sock, c->in.data + c->in.len, 65536, MSG_DONTWAIT);
	if (n > 0)
		c->in.len += (size_t)n;
	else if (n == 0 || errno == ECONNRESET)
		return -EPIPE;
	else if (errno != EAGAIN && errno != EINTR)
		return -errno;
	return 0;
}

int symchild_recv(struct symchild *c, enum symp_type type, uint32_t seq, int timeout_ms,
		  struct symp_msg *out)
{
	struct deadline deadline = deadline_in(c, timeout_ms);

	for (;;) {
		long used = c->in.len == c->taken ? 0 :
			symp_frame(c->in.data + c->taken, c->in.len - c->taken, out);
		int rc;

		if (used < 0)
			return (int)used;
		if (used > 0) {
			c->taken += (size_t)used;
			return out->head.type == type && out->head.seq == seq ? 0 : -EBADMSG;
		}
		rc = receive_more(c, &deadline);
		if (rc)
			return rc;
	}
}
