/* SPDX-License-Identifier: MIT */
#include "tape/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool sigpipe_ignored;

void child_keep_sigpipe(bool ignored)
{
	sigpipe_ignored = ignored;
}

static int spawn(struct child *c, char *const *argv, int in, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	if (in >= 0)
		posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!sigpipe_ignored) {
		sigemptyset(&set);
		sigaddset(&set, SIGPIPE);
		posix_spawnattr_setsigdefault(&attr, &set);
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	}
	r = posix_spawnp(&c->pid, argv[0], &actions, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (r)
		c->pid = 0;
	return r;
}

int child_start(struct child *c, char *const *argv, bool input, struct err *err)
{
	int in[2] = { -1, -1 }, out[2], r;

	*c = (struct child){ .in = -1, .out = -1 };
	if (pipe2(out, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (input && pipe2(in, O_CLOEXEC)) {
		r = err_sys(err, errno, "cannot make a pipe");
		close(out[0]);
		close(out[1]);
		return r;
	}
	r = spawn(c, argv, in[0], out[1]);
	close(out[1]);
	if (input)
		close(in[0]);
	c->in = in[1];
	c->out = out[0];
	if (r) {
		child_close_in(c);
		child_close_out(c);
		/* In the words that shells and env use, for who looks for them. */
		return err_set(err, r, "cannot start '%s': %s", argv[0], strerrordesc_np(r));
	}
	if (input)
		fcntl(c->in, F_SETFL, O_NONBLOCK);
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	return 0;
}

void child_close_in(struct child *c)
{
	if (c->in >= 0)
		close(c->in);
	c->in = -1;
}

void child_close_out(struct child *c)
{
	if (c->out >= 0)
		close(c->out);
	c->out = -1;
}

int child_wait(struct child *c)
{
	int status = 0;

	if (c->pid <= 0)
		return 0;
	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return status;
}
