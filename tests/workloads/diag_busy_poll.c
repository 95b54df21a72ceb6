/* SPDX-License-Identifier: MIT */
/*
 * diag_busy_poll: 50,000 polls of a pipe; it is empty and they do not wait, or
 * each finds a byte, which is read and another written.
 */
#include <poll.h>

#include "diag.h"

#define POLLS 50000

int main(int argc, char **argv)
{
	bool trigger = diag_trigger(argc, argv);
	struct pollfd p = { .events = POLLIN };
	int fd[2];
	char c = 0;

	if (pipe(fd))
		wl_die("pipe");
	p.fd = fd[0];
	for (int i = 0; i < POLLS; i++) {
		if (!trigger)
			diag_write(fd[1], &c, 1);
		if (poll(&p, 1, trigger ? 0 : -1) != !trigger)
			wl_die("poll");
		if (!trigger)
			diag_read(fd[0], &c, 1);
	}
	return 0;
}
