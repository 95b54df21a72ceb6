/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: gdb becomes this process, so that a terminal and the shell see nothing but gdb, and the
 * replay is its child, in a process group of its own: Ctrl-C is gdb's. They meet at a socket in a
 * directory of ours that nobody else may enter; a port is for whoever asks for one.
 */
#include "cmd/replay_gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/term.h"
#include "cmd/replay_opts.h"
#include "rr/gdb.h"
#include "rr/gdblibs.h"

#define EXIT_ERROR 2
#define ARGS_OF_OURS 16

/* Commands of ours, some in place of gdb's own. */
static const char commands[] =
	"define when\nmonitor when\nend\n"
	"document when\nPrint the event of the recording that is replayed.\nend\n"
	"define checkpoint\nmonitor checkpoint\nend\n"
	"document checkpoint\nRemember this point of the replay.\nend\n"
	"define restart\nwith confirm off -- run c$arg0\nend\n"
	"document restart\nGo back to a checkpoint: restart N.\nend\n"
	"define info checkpoints\nmonitor checkpoints\nend\n"
	"document info checkpoints\nThe points that 'checkpoint' remembered.\nend\n"
	"define delete checkpoint\nmonitor delete checkpoint $arg0\nend\n"
	"document delete checkpoint\nForget a checkpoint.\nend\n";

struct meeting {
	char dir[64], script[96], commands[96], socket[96];
	const char *sysroot;
	int listener;
};

/* Files of the system GDB reads by itself, unless the replay has others. */
static const char *sysroot_of(const struct replay_opts *o)
{
	return gdblibs_moved(o->dir) ? "target:" : "/";
}

static int serve(const struct replay_opts *o, int fd, struct err *err)
{
	const struct gdb_opts opts = {
		.dir = o->dir, .output = true, .event = o->event, .from_fork = o->fork_pid,
		.pid = (uint32_t)(o->pid ? o->pid : o->fork_pid),
	};

	return gdb_replay(&opts, fd, err);
}

static int bind_to(int fd, const void *addr, socklen_t n, struct err *err, const char *where)
{
	if (fd < 0 || bind(fd, addr, n) || listen(fd, 1))
		return err_sys(err, errno, "cannot wait for gdb at %s", where);
	return 0;
}

static int serve_port(const struct replay_opts *o, struct err *err)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)o->port),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	char where[32];
	int with, r;

	snprintf(where, sizeof(where), "port %u", (unsigned int)o->port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	r = bind_to(fd, &at, sizeof(at), err, where);
	if (!r) {
		dprintf(STDERR_FILENO, "tracer: waiting for gdb: gdb -ex 'set sysroot %s' "
			"-ex 'target extended-remote :%u'\n", sysroot_of(o),
			(unsigned int)o->port);
		with = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		r = with < 0 ? err_sys(err, errno, "cannot wait for gdb") : serve(o, with, err);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static void clean(const struct meeting *m)
{
	unlink(m->script);
	unlink(m->commands);
	unlink(m->socket);
	rmdir(m->dir);
	if (m->listener >= 0)
		close(m->listener);
}

static int write_file(const char *path, const char *text, struct err *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write_all(fd, text, strlen(text));

	if (fd >= 0)
		close(fd);
	return r ? err_sys(err, -r, "cannot write %s", path) : 0;
}

/* What gdb is told to begin with. It asks before it takes a command of its own away. */
static int write_script(const struct meeting *m, struct err *err)
{
	char text[512];
	int r = write_file(m->commands, commands, err);

	snprintf(text, sizeof(text), "with confirm off -- source %s\nset sysroot %s\n"
		 "set tcp connect-timeout 60\ntarget extended-remote %s\n", m->commands,
		 m->sysroot, m->socket);
	return r ? r : write_file(m->script, text, err);
}

static int meet(struct meeting *m, const char *sysroot, struct err *err)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int r;

	*m = (struct meeting){ .dir = "/tmp/tracer-gdb.XXXXXX", .listener = -1,
			       .sysroot = sysroot };
	if (!mkdtemp(m->dir))
		return err_sys(err, errno, "cannot make a directory in /tmp");
	snprintf(m->script, sizeof(m->script), "%s/begin", m->dir);
	snprintf(m->commands, sizeof(m->commands), "%s/commands", m->dir);
	snprintf(m->socket, sizeof(m->socket), "%s/socket", m->dir);
	memcpy(at.sun_path, m->socket, strlen(m->socket));
	m->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = write_script(m, err);
	r = r ? r : bind_to(m->listener, &at, sizeof(at), err, m->socket);
	if (r)
		clean(m);
	return r;
}

/* The connection; -1 when gdb ends before there is one. */
static int wait_for(const struct meeting *m, pid_t gdb)
{
	struct pollfd fds[2] = { { .fd = m->listener, .events = POLLIN },
				 { .fd = (int)syscall(SYS_pidfd_open, gdb, 0),
				   .events = POLLIN } };
	int fd = -1;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[0].revents & POLLIN)
		fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fds[1].fd >= 0)
		close(fds[1].fd);
	return fd;
}

/* Of the child. */
static _Noreturn void serve_gdb(const struct replay_opts *o, const struct meeting *m, pid_t gdb)
{
	struct err err = { 0 };
	int fd, r;

	setpgid(0, 0);
	fd = wait_for(m, gdb);
	clean(m);
	r = fd < 0 ? 0 : serve(o, fd, &err);
	_exit(r ? cli_fail("tracer", &err, EXIT_ERROR) : 0);
}

static int exec_gdb(const struct replay_opts *o, const struct meeting *m, struct err *err)
{
	size_t n = 0, more = 0;
	char **argv;

	while (o->gdb_args && o->gdb_args[more])
		more++;
	argv = calloc(ARGS_OF_OURS + more, sizeof(*argv));
	if (!argv)
		return err_sys(err, ENOMEM, "cannot start gdb");
	argv[n++] = (char *)(uintptr_t)"gdb";
	/* The first answer may be as far away as the event that was asked for. */
	argv[n++] = (char *)(uintptr_t)"-l";
	argv[n++] = (char *)(uintptr_t)"100000";
	argv[n++] = (char *)(uintptr_t)"-x";
	argv[n++] = (char *)(uintptr_t)m->script;
	if (o->commands) {
		argv[n++] = (char *)(uintptr_t)"-x";
		argv[n++] = (char *)(uintptr_t)o->commands;
	}
	for (size_t i = 0; i < more; i++)
		argv[n++] = o->gdb_args[i];
	execvp(argv[0], argv);
	err_sys(err, errno, "cannot start gdb");
	if (err->code == ENOENT)
		err_hint(err, "it is in the package gdb; 'tracer replay -a' needs none");
	free(argv);
	return -err->code;
}

int replay_gdb(const struct replay_opts *o, struct err *err)
{
	struct meeting m;
	pid_t gdb = getpid(), child;
	int r;

	/* That there is a recording is said before gdb says that nobody is there. */
	if (access(o->dir, R_OK | X_OK))
		return err_sys(err, errno, "cannot open %s", o->dir);
	if (o->port)
		return serve_port(o, err);
	r = meet(&m, sysroot_of(o), err);
	if (r)
		return r;
	child = fork();
	if (!child)
		serve_gdb(o, &m, gdb);
	if (child < 0) {
		r = err_sys(err, errno, "cannot fork");
		clean(&m);
		return r;
	}
	close(m.listener);
	return exec_gdb(o, &m, err);
}
