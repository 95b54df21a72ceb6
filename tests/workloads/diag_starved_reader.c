/* SPDX-License-Identifier: MIT */
/*
 * diag_starved_reader: 400 chunks of 1 KiB to a thread that only reads. The
 * writer works 2 ms for each; or sleeps as long, and then it is no bottleneck
 * but itself waits.
 */
#include "diag.h"

#define CHUNKS 400
#define SIZE 1024

static int fd[2];

static void *reader(void *arg)
{
	static char chunk[SIZE];

	(void)arg;
	for (int i = 0; i < CHUNKS; i++)
		diag_read(fd[0], chunk, SIZE);
	return NULL;
}

int main(int argc, char **argv)
{
	bool work = diag_trigger(argc, argv);
	static char chunk[SIZE];
	pthread_t t;

	if (pipe(fd))
		wl_die("pipe");
	t = diag_thread(NULL, reader, NULL);
	for (int i = 0; i < CHUNKS; i++) {
		if (work)
			wl_spin_ns(2000000);
		else
			wl_sleep_us(2000);
		diag_write(fd[1], chunk, SIZE);
	}
	diag_join(t);
	return 0;
}
