/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: its end of a pipe says that the recorder has died, however it did. It is in a session
 * of its own, out of reach of what ends the recorder's process group, and hears no signal.
 */
#include "rr/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rr/recorded.h"

#define KILL_MS 10000

/* There is nobody who could print it for us. */
static void say(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

/* The last that the kernel ends when memory is short. */
static void outlive(void)
{
	const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!write(fd, "-1000", 5);
	close(fd);
}

/* The recorder has other threads: until here system calls alone are safe. */
static void guard(int alive, int link, int first)
{
	const struct sched_param none = { 0 };
	sigset_t every;
	cpu_set_t all;
	ssize_t n;
	char c;

	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	memset(&all, 0xff, sizeof(all));
	sched_setscheduler(0, SCHED_OTHER, &none);
	sched_setaffinity(0, sizeof(all), &all);
	setsid();
	prctl(PR_SET_NAME, "tracer-guard");
	outlive();
	(void)!chdir("/");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while ((n = read(alive, &c, 1)) < 0 && errno == EINTR)
		;
	if (n > 0)
		_exit(EXIT_SUCCESS);
	say(recorded_kill(link, first, KILL_MS) ?
	    "tracer: the recorder was killed, and with it what it recorded\n" :
	    "tracer: the recorder was killed; not all that it recorded could be ended\n");
	_exit(EXIT_SUCCESS);
}

int guardian_start(struct guardian *g, int link, int first, struct err *err)
{
	int alive[2];

	if (pipe2(alive, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	g->pid = fork();
	if (!g->pid) {
		close(alive[1]);
		guard(alive[0], link, first);
	}
	close(alive[0]);
	g->alive = alive[1];
	if (g->pid > 0)
		return 0;
	g->pid = 0;
	close(alive[1]);
	return err_sys(err, errno, "cannot fork");
}

void guardian_dismiss(const struct guardian *g)
{
	(void)!write(g->alive, "", 1);
}

void guardian_stop(struct guardian *g)
{
	if (!g->pid)
		return;
	guardian_dismiss(g);
	close(g->alive);
	waitpid(g->pid, NULL, 0);
	g->pid = 0;
}
