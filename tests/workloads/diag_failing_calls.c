/* SPDX-License-Identifier: MIT */
/*
 * diag_failing_calls: 40,000 non-blocking reads of a pipe that is empty; always,
 * or every other time, as in a loop that reads until EAGAIN.
 */
#include <fcntl.h>

#include "diag.h"

#define READS 40000

int main(int argc, char **argv)
{
	bool trigger = diag_trigger(argc, argv);
	int fd[2];
	char c = 0;

	if (pipe2(fd, O_NONBLOCK))
		wl_die("pipe2");
	for (int i = 0; i < READS; i++) {
		bool fill = !trigger && i % 2 == 0;

		if (fill)
			diag_write(fd[1], &c, 1);
		if (read(fd[0], &c, 1) != (fill ? 1 : -1))
			wl_die("read");
	}
	return 0;
}
