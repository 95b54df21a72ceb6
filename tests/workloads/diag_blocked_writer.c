/* SPDX-License-Identifier: MIT */
/*
 * diag_blocked_writer: 400 chunks of 64 KiB, each a pipe full, to a thread that
 * works 2 ms for each; or sleeps as long, and then it is no bottleneck but
 * itself waits.
 */
#include "diag.h"

#define CHUNKS 400
#define SIZE 65536

static int fd[2];
static bool work;

static void *reader(void *arg)
{
	static char chunk[SIZE];

	(void)arg;
	for (int i = 0; i < CHUNKS; i++) {
		diag_read(fd[0], chunk, SIZE);
		if (work)
			wl_spin_ns(2000000);
		else
			wl_sleep_us(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static char chunk[SIZE];
	pthread_t t;

	work = diag_trigger(argc, argv);
	if (pipe(fd))
		wl_die("pipe");
	t = diag_thread(NULL, reader, NULL);
	for (int i = 0; i < CHUNKS; i++)
		diag_write(fd[1], chunk, SIZE);
	diag_join(t);
	return 0;
}
