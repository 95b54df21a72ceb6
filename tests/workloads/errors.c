/* SPDX-License-Identifier: MIT */
/* errors: system calls that fail, a prime number of times for each errno. Takes no arguments. */
#include "workload.h"

#include <fcntl.h>
#include <sys/stat.h>

static long failures(long want, long n, int err)
{
	long got = 0;

	for (long i = 0; i < n; i++) {
		long r;

		switch (want) {
		case SYS_openat:
			r = syscall(SYS_openat, AT_FDCWD,
				    err == ENOENT ? "/nonexistent/file" : "/dev/null/x", O_RDONLY);
			break;
		case SYS_mkdir:
			r = syscall(SYS_mkdir, "/", 0700);
			break;
		case SYS_lseek:
			r = syscall(SYS_lseek, 0, 0L, 99);
			break;
		case SYS_kill:
			r = syscall(SYS_kill, 0x3ffffffe, 0);
			break;
		case SYS_pipe2:
			r = syscall(SYS_pipe2, NULL, 0);
			break;
		default:
			r = syscall(want, -1L, 0L, 0L);
		}
		if (r < 0 && errno == err)
			got++;
	}
	return got;
}

int main(void)
{
	int fd[2];
	long again = 0;

	if (pipe2(fd, O_NONBLOCK))
		wl_die("pipe2");
	for (int i = 0; i < 127; i++) {
		char c;

		if (read(fd[0], &c, 1) < 0 && errno == EAGAIN)
			again++;
	}
	printf("openat:ENOENT=%ld ", failures(SYS_openat, 101, ENOENT));
	printf("openat:ENOTDIR=%ld ", failures(SYS_openat, 131, ENOTDIR));
	printf("close:EBADF=%ld ", failures(SYS_close, 103, EBADF));
	printf("mkdir:EEXIST=%ld ", failures(SYS_mkdir, 107, EEXIST));
	printf("lseek:EINVAL=%ld ", failures(SYS_lseek, 109, EINVAL));
	printf("kill:ESRCH=%ld ", failures(SYS_kill, 113, ESRCH));
	printf("pipe2:EFAULT=%ld ", failures(SYS_pipe2, 137, EFAULT));
	printf("read:EAGAIN=%ld\n", again);
	return 0;
}
