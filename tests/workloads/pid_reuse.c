/* SPDX-License-Identifier: MIT */
/*
 * pid_reuse N: N processes, one after the other, all with the same pid
 * (clone3's set_tid). Each makes its own number of getppid calls. Exits with
 * 77 where set_tid is not permitted.
 */
#include "workload.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

/* The kernel's struct clone_args, as far as set_tid. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size;
};

/* Forks with the given pid; 0 lets the kernel choose. */
static pid_t fork_as(pid_t want)
{
	struct clone3_args a = {
		.exit_signal = SIGCHLD,
		.set_tid = want ? (uintptr_t)&want : 0,
		.set_tid_size = want ? 1 : 0,
	};

	return (pid_t)syscall(SYS_clone3, &a, sizeof(a));
}

int main(int argc, char **argv)
{
	long n = wl_arg(argc, argv, 1, 101), calls = 0;
	pid_t want = fork_as(0);

	if (want < 0)
		wl_die("clone3");
	if (!want)
		_exit(0);
	waitpid(want, NULL, 0);
	for (long i = 0; i < n; i++) {
		pid_t pid = fork_as(want);
		int st;

		if (pid < 0 && (errno == EPERM || errno == EINVAL))
			return 77;
		if (pid < 0)
			wl_die("clone3 with set_tid");
		if (!pid) {
			for (long k = 0; k < i; k++)
				syscall(SYS_getppid);
			_exit(0);
		}
		if (waitpid(pid, &st, 0) != want || st)
			wl_die("child");
		calls += i;
	}
	printf("processes=%ld pid=%d calls=%ld\n", n, want, calls);
	return 0;
}
