/* SPDX-License-Identifier: MIT */
#include "collect/probe_record.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"

#define ANSWER_MOST 4096

extern char **environ;

/* What it prints; its exit status, or -errno. */
static int ask(const char *path, struct buf *answer)
{
	char name[] = "tracer-record", probe[] = "__probe";
	char *argv[] = { name, probe, NULL };
	posix_spawn_file_actions_t fds;
	int pipes[2], status = 0, r;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&fds);
	r = posix_spawn_file_actions_adddup2(&fds, pipes[1], STDOUT_FILENO);
	r = r ? -r : -posix_spawn(&pid, path, &fds, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fds);
	close(pipes[1]);
	if (!r) {
		r = io_read_fd(pipes[0], answer, ANSWER_MOST);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	close(pipes[0]);
	return r ? r : status;
}

/* "ERRNO\nwhy\nfix\n" */
static bool read_answer(char *text, struct err *err)
{
	char *why, *fix, *rest;
	const long code = strtol(text, &why, 10);

	if (code <= 0 || code >= 4096 || *why++ != '\n')
		return false;
	fix = strchr(why, '\n');
	if (!fix)
		return false;
	*fix++ = '\0';
	rest = strchr(fix, '\n');
	if (rest)
		*rest = '\0';
	err_set(err, (int)code, "%s", why);
	err_hint(err, "%s", fix);
	return true;
}

int probe_record(const char *libexec_dir, struct err *err)
{
	struct buf answer = BUF_INIT;
	char path[4096 + 16];
	int r;

	snprintf(path, sizeof(path), "%s/tracer-record", libexec_dir);
	r = ask(path, &answer);
	if (r < 0) {
		err_sys(err, -r, "cannot run %s", path);
		if (r == -ENOENT)
			err_hint(err, "the installation is not complete: 'make install' puts it "
				 "there");
	} else if (r && (!answer.data || !read_answer(answer.data, err))) {
		err_set(err, EPROTO, "%s ended without an answer", path);
	}
	buf_release(&answer);
	return r ? -err->code : 0;
}
