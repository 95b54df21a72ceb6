/* SPDX-License-Identifier: MIT */
/*
 * diag_futex_per_chunk: 20,000 chunks of 4 KiB through a pipe to a thread; the
 * writer also wakes a futex for each chunk, or for every eighth.
 */
#include "diag.h"

#define CHUNKS 20000
#define SIZE 4096

static int fd[2];
static uint32_t filled;

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
	int each = diag_trigger(argc, argv) ? 1 : 8;
	static char chunk[SIZE];
	pthread_t t;

	if (pipe(fd))
		wl_die("pipe");
	t = diag_thread(NULL, reader, NULL);
	for (int i = 0; i < CHUNKS; i++) {
		diag_write(fd[1], chunk, SIZE);
		if (i % each == 0)
			wl_futex(&filled, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	diag_join(t);
	return 0;
}
