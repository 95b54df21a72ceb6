/* SPDX-License-Identifier: MIT */
/* vfork_exec N [PROGRAM]: vforks and executes PROGRAM (/bin/true) N times. */
#include "workload.h"

#include <sys/wait.h>

/* vfork shares this frame with the child: kept apart so that it holds nothing else. */
static pid_t __attribute__((noinline)) spawn(char **av)
{
	pid_t pid = vfork();

	if (!pid) {
		execv(av[0], av);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 211), ok = 0;
	char *prog = argc > 2 ? argv[2] : (char *)(uintptr_t)"/bin/true";
	char *av[] = { prog, NULL };

	for (long i = 0; i < n; i++) {
		pid_t pid = spawn(av);
		int st;

		if (pid < 0)
			wl_die("vfork");
		if (waitpid(pid, &st, 0) == pid && !st)
			ok++;
	}
	printf("spawned=%ld ok=%ld\n", n, ok);
	return ok != n;
}
