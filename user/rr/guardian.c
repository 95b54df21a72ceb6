/* SPDX-License-Identifier: MIT */
/*
 * DESIGN: its end of a pipe says that the recorder has died, however it did. It is in a session
 * of its own, out of reach of what ends the recorder's process group, and hears no signal.
 */
#include "rr/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "rr/ordinary.h"
#include "rr/recorded.h"

#define KILL_MS 10000
#define LOOK_MS 1000
#define NAME "rec-guard"

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

/*
 * Who kills all that is called as the recorder is, or was started as it, is not to meet us:
 * the arguments that ps shows are in our memory (proc_pid_stat(5), arg_start and arg_end).
 */
static void take_name(void)
{
	char text[1024], *at;
	unsigned long start = 0, end = 0;
	const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	prctl(PR_SET_NAME, NAME);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int field = 2; at && field < 48; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoul(at, &at, 10);
	if (at)
		end = strtoul(at, NULL, 10);
	if (!start || end < start + sizeof(NAME))
		return;
	memset((void *)start, 0, end - start);
	memcpy((void *)start, NAME, sizeof(NAME));
}

/* Whether it has a SIGXCPU that it did not take as yet. */
static bool overran(pid_t pid)
{
	char path[32], text[4096], *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nShdPnd:");
	return at && strtoull(at + 8, NULL, 16) & 1ull << (SIGXCPU - 1);
}

/*
 * A loop in the kernel that waits for a thread of lower priority ends with the priority: a
 * recorder of the kind was seen to run in one for ever. It takes its signal then.
 */
static bool look_after(pid_t recorder, bool seen)
{
	const struct sched_param none = { 0 };
	const bool now = overran(recorder);

	if (now && seen)
		sched_setscheduler(recorder, SCHED_OTHER, &none);
	return now;
}

/* The recorder has other threads: until here system calls alone are safe. */
static void guard(int alive, int link, int first)
{
	const struct sched_param none = { 0 };
	sigset_t every;
	cpu_set_t all;
	struct pollfd fd = { .fd = alive, .events = POLLIN };
	const pid_t recorder = getppid();
	bool seen = false;
	ssize_t n;
	char c;

	sigfillset(&every);
	sigprocmask(SIG_SETMASK, &every, NULL);
	memset(&all, 0xff, sizeof(all));
	sched_setscheduler(0, SCHED_OTHER, &none);
	sched_setaffinity(0, sizeof(all), &all);
	setsid();
	take_name();
	outlive();
	(void)!chdir("/");
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	while (!poll(&fd, 1, LOOK_MS))
		seen = look_after(recorder, seen);
	n = read(alive, &c, 1);
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
	ordinary_reap(g->pid);
	g->pid = 0;
}
