/* SPDX-License-Identifier: MIT */
/*
 * killed_blocked N: N children, each blocked in read of an empty pipe, are
 * killed there: N calls enter and never return.
 */
#include "workload.h"

#include <signal.h>
#include <sys/wait.h>

/* Waits until pid sleeps: state S, third word of its stat line. */
static void wait_asleep(pid_t pid)
{
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (;;) {
		FILE *f = fopen(path, "r");
		char *p = NULL;

		if (f && fgets(line, sizeof(line), f))
			p = strrchr(line, ')');
		if (f)
			fclose(f);
		if (p && p[2] == 'S')
			return;
		wl_sleep_us(200);
	}
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 53), killed = 0;
	int fd[2];

	if (pipe(fd))
		wl_die("pipe");
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();
		int st;

		if (!pid) {
			char c;

			syscall(SYS_getppid);
			syscall(SYS_read, fd[0], &c, 1);
			_exit(1);
		}
		wait_asleep(pid);
		kill(pid, SIGKILL);
		if (waitpid(pid, &st, 0) == pid && WIFSIGNALED(st))
			killed++;
	}
	printf("killed=%ld\n", killed);
	return killed != n;
}
