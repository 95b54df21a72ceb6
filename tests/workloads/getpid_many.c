/* SPDX-License-Identifier: MIT */
/* getpid_many PROCS COUNT: PROCS processes at once make COUNT getpid calls each. */
#include "workload.h"

#include <sys/wait.h>

int main(int argc, char **argv)
{
	long procs = wl_arg(argc, argv, 1, 16), count = wl_arg(argc, argv, 2, 62500);
	long failed = 0;

	for (long p = 0; p < procs; p++) {
		pid_t pid = fork();

		if (pid < 0)
			wl_die("fork");
		if (!pid) {
			for (long i = 0; i < count; i++)
				syscall(SYS_getpid);
			_exit(0);
		}
	}
	for (long p = 0; p < procs; p++) {
		int st;

		if (wait(&st) < 0 || st)
			failed++;
	}
	printf("calls=%ld failed=%ld\n", procs * count, failed);
	return failed != 0;
}
