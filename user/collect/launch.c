/* SPDX-License-Identifier: MIT */
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/keepenv.h"
#include "base/user.h"

#define LAUNCH_FAILED 125

/* What the child says before it becomes the command; and once more if it does not. */
struct last_word {
	int error;
	bool refused;
	uint64_t ns;
	struct rusage used;
};

static int read_all(int fd, void *to, size_t len)
{
	char *p = to;
	ssize_t n;

	while (len) {
		n = read(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static int send_all(int fd, const void *from, size_t len)
{
	return write(fd, from, len) == (ssize_t)len ? 0 : -EIO;
}

static int silence(void)
{
	int fd = open("/dev/null", O_RDWR), i;

	for (i = 0; fd >= 0 && i < 3; i++)
		if (dup2(fd, i) < 0)
			return errno;
	if (fd > 2)
		close(fd);
	return fd < 0 ? errno : 0;
}

static bool measure(int from_parent, int to_parent)
{
	struct cost cost;
	char go;

	cost_measure(&cost);
	return !send_all(to_parent, &cost, sizeof(cost)) && !read_all(from_parent, &go, 1);
}

/* The child. It leaves by exec or _exit; a parent that dies closes the pipe. */
static void child(int from_parent, int to_parent, const struct launch_opts *opts,
		  const struct passwd *pw, const struct sigaction *old_chld)
{
	struct last_word f = {};
	char go;

	sigaction(SIGCHLD, old_chld, NULL);
	if (opts->unmeasured ? read_all(from_parent, &go, 1) != 0 :
	    !measure(from_parent, to_parent) || !measure(from_parent, to_parent))
		_exit(LAUNCH_FAILED);
	if (!opts->argv)
		_exit(0);
	/* From root nobody has to be kept; what came by sudo past its own list is not taken. */
	if (getuid())
		keepenv_restore();
	f.error = pw ? -user_become(pw) : 0;
	f.refused = f.error;
	if (opts->mask)
		sigprocmask(SIG_SETMASK, opts->mask, NULL);
	if (!f.error && opts->silent)
		f.error = silence();
	if (!f.error) {
		getrusage(RUSAGE_SELF, &f.used);
		f.ns = clock_mono_ns();
		if (send_all(to_parent, &f, sizeof(f)))
			_exit(LAUNCH_FAILED);
		execvp(opts->argv[0], opts->argv);
		f.error = errno;
	}
	/* Unheard, the parent takes the end of the pipe for the exec and this code for its own. */
	(void)!send_all(to_parent, &f, sizeof(f));
	_exit(LAUNCH_FAILED);
}

static int ended_early(struct err *err)
{
	return err_set(err, EIO, "the process that was to become the command ended early");
}

int launch_user(const char *user, uid_t *uid, struct err *err)
{
	const struct passwd *pw = user_find(user, err);

	if (!pw)
		return -err->code;
	*uid = pw->pw_uid;
	return 0;
}

int launch_start(struct launch *c, const struct launch_opts *opts, struct err *err)
{
	int down[2] = { -1, -1 }, up[2] = { -1, -1 };
	struct sigaction dfl = { .sa_handler = SIG_DFL }, old_chld;
	struct passwd *pw = NULL;

	memset(c, 0, sizeof(*c));
	c->pidfd = c->to = c->from = -1;
	if (opts->user) {
		pw = user_find(opts->user, err);
		if (!pw)
			return -err->code;
	}
	if (pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	/* Where SIGCHLD is ignored, a child's exit code is gone before it is asked for. */
	sigaction(SIGCHLD, &dfl, &old_chld);
	c->pid = fork();
	if (c->pid < 0)
		return err_sys(err, errno, "cannot start a process");
	if (!c->pid) {
		close(down[1]);
		close(up[0]);
		child(down[0], up[1], opts, pw, &old_chld);
	}
	close(down[0]);
	close(up[1]);
	c->to = down[1];
	c->from = up[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pidfd < 0)
		return err_sys(err, errno, "cannot watch process %d", (int)c->pid);
	/* Not while something else is done: two CPUs may be one core, and share its speed. */
	if (!opts->unmeasured && read_all(c->from, &c->bare, sizeof(c->bare)))
		return ended_early(err);
	return 0;
}

int launch_measure(struct launch *c, struct err *err)
{
	if (send_all(c->to, "m", 1) || read_all(c->from, &c->traced, sizeof(c->traced)))
		return ended_early(err);
	return 0;
}

int launch_exec(struct launch *c, struct err *err)
{
	struct last_word f;

	if (send_all(c->to, "x", 1) || read_all(c->from, &f, sizeof(f)))
		return ended_early(err);
	if (!f.error) {
		c->exec_ns = f.ns;
		c->used = f.used;
		/* The pipe is closed by a successful exec, without another word. */
		if (read_all(c->from, &f, sizeof(f)))
			return 0;
	}
	waitpid(c->pid, NULL, 0);
	c->pid = 0;
	c->refused = f.refused;
	return err_sys(err, f.error, f.refused ? "cannot become the user" : "cannot execute it");
}

void launch_release(struct launch *c)
{
	if (c->to >= 0)
		close(c->to);
	if (c->from >= 0)
		close(c->from);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->to = c->from = c->pidfd = -1;
}
