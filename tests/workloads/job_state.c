/* SPDX-License-Identifier: MIT */
/*
 * job_state [wait SECONDS]: prints what a program can see of its place: its
 * process group, session, terminal, signal masks and dispositions, open file
 * descriptors, working directory, umask and limits, one KEY=VALUE a line. With
 * wait it then prints each signal it gets (INT, TERM, HUP, USR1, CONT, WINCH)
 * and exits with 40 + their count when SECONDS are over or after SIGUSR2.
 */
#include "workload.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static const int shown[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };

static void print_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int top = -1, n = 0;

	if (!d)
		wl_die("/proc/self/fd");
	while ((e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] == '.' || fd == dirfd(d))
			continue;
		n++;
		top = fd > top ? fd : top;
	}
	closedir(d);
	printf("fds=%d\ntop_fd=%d\n", n, top);
}

static void print_signals(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");

	if (!f)
		wl_die("/proc/self/status");
	while (fgets(line, sizeof(line), f)) {
		char *tab = strchr(line, '\t');

		if (tab && (!strncmp(line, "Sig", 3) || !strncmp(line, "ShdPnd", 6) ||
			    !strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "TracerPid", 9) ||
			    !strncmp(line, "Cap", 3)) && strncmp(line, "SigQ", 4)) {
			*strchr(line, ':') = 0;
			printf("%s=%s", line, tab + 1);
		}
	}
	fclose(f);
}

static void print_place(void)
{
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC);
	struct rlimit nofile, memlock;
	char cwd[4096];
	mode_t mask = umask(0);

	umask(mask);
	getrlimit(RLIMIT_NOFILE, &nofile);
	getrlimit(RLIMIT_MEMLOCK, &memlock);
	printf("pid=%d\nppid=%d\npgrp_is_shells=%d\nleads_group=%d\nleads_session=%d\n", getpid(),
	       getppid(), getpgrp() == getpgid(getppid()), getpgrp() == getpid(),
	       getsid(0) == getpid());
	printf("foreground=%d\ntty=%d%d%d\n", fd >= 0 && tcgetpgrp(fd) == getpgrp(), isatty(0),
	       isatty(1), isatty(2));
	printf("cwd=%s\numask=%o\nnofile=%llu\nmemlock=%llu\nnice=%d\nuid=%d\ngid=%d\npdeathsig=",
	       getcwd(cwd, sizeof(cwd)) ? cwd : "?", mask, (unsigned long long)nofile.rlim_cur,
	       (unsigned long long)memlock.rlim_cur, getpriority(PRIO_PROCESS, 0), getuid(),
	       getgid());
	{
		int sig = -1;

		prctl(PR_GET_PDEATHSIG, &sig);
		printf("%d\n", sig);
	}
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct timespec until = { 0, 0 };
	sigset_t set;
	int got = 0, sig;

	print_place();
	print_signals();
	print_fds();
	if (argc < 3 || strcmp(argv[1], "wait"))
		return 0;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		sigaddset(&set, shown[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	printf("waiting\n");
	fflush(stdout);
	until.tv_sec = wl_arg(argc, argv, 2, 10);
	while ((sig = sigtimedwait(&set, NULL, &until)) > 0 || errno == EINTR) {
		if (sig <= 0)
			continue;
		if (sig == SIGUSR2)
			break;
		got++;
		printf("signal=%d\n", sig);
		fflush(stdout);
	}
	printf("got=%d\n", got);
	return 40 + got;
}
