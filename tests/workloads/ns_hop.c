/* SPDX-License-Identifier: MIT */
/*
 * ns_hop N: unshares its pid namespace, forks a child that is pid 1 there and
 * makes N getpid calls, then enters the child's uts namespace by setns and
 * makes N getppid calls. Exits with 77 where that is not permitted.
 */
#include "workload.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 1009);
	char path[64];
	int to[2], from[2], st, fd;
	char c = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		return errno == EPERM ? 77 : 1;
	if (pipe(to) || pipe(from))
		wl_die("pipe");
	pid = fork();
	if (pid < 0)
		wl_die("fork");
	if (!pid) {
		long one = syscall(SYS_getpid);

		if (unshare(CLONE_NEWUTS))
			_exit(1);
		for (long i = 1; i < n; i++)
			syscall(SYS_getpid);
		if (write(from[1], &c, 1) != 1 || read(to[0], &c, 1) != 1)
			_exit(1);
		_exit(one == 1 ? 0 : 3);
	}
	if (read(from[0], &c, 1) != 1)
		wl_die("read");
	snprintf(path, sizeof(path), "/proc/%d/ns/uts", pid);
	fd = open(path, O_RDONLY);
	if (fd < 0 || setns(fd, CLONE_NEWUTS))
		wl_die("setns");
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	if (write(to[1], &c, 1) != 1)
		wl_die("write");
	waitpid(pid, &st, 0);
	printf("child_status=%d child=%d getpid=%ld getppid=%ld\n", st, pid, n, n);
	return st != 0;
}
