/* SPDX-License-Identifier: MIT */
/*
 * diag_fd_ping_pong: 12,800 one-byte messages over a socket pair; each is
 * answered before the next is sent, or only the last of 64.
 */
#include <sys/socket.h>

#include "diag.h"

#define MESSAGES 12800

static int fd[2];
static int window;

static void *server(void *arg)
{
	char c = 0;

	(void)arg;
	for (int i = 1; i <= MESSAGES; i++) {
		diag_read(fd[1], &c, 1);
		if (i % window == 0)
			diag_write(fd[1], &c, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;
	char c = 0;

	window = diag_trigger(argc, argv) ? 1 : 64;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		wl_die("socketpair");
	t = diag_thread(NULL, server, NULL);
	for (int i = 1; i <= MESSAGES; i++) {
		diag_write(fd[0], &c, 1);
		if (i % window == 0)
			diag_read(fd[0], &c, 1);
	}
	diag_join(t);
	return 0;
}
